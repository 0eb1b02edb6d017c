"""TRL's trainer for laid-out batches: our order of items, our loss, our validation.

What TRL and transformers give: optimizer, schedule, accumulation, checkpoints, accelerate and with
it several GPUs. What is ours stands in this file and in `loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.training.batches import Collator
from clinqa.training.examples import TrainExample
from clinqa.training.loss import learnt_logits, token_losses
from clinqa.training.order import Order
from clinqa.training.presets import Settings
from clinqa.training.settings import common_arguments
from clinqa.training.validation import Choice, Scores, scores_of

Trainer: Any = object
try:
    import torch
    import trl
    from datasets import Dataset as Rows
    from torch.utils.data import DataLoader

    Trainer = trl.SFTTrainer
except ImportError:
    torch = None  # the extra `train` is not installed; lora.py says so to who asks

__all__ = ["AnswerTrainer", "StepTally", "arguments", "numbers_of"]


@dataclass(slots=True)
class StepTally:
    """What went through the model since the trainer was made."""

    useful: int = 0  # tokens of the items, each as if it stood alone
    computed: int = 0  # tokens of the rows, padding included
    items: int = 0


class AnswerTrainer(Trainer):  # type: ignore[misc]
    """Learns the answers of examples; `choice` says how two classes are told apart,
    `first_decides` whether the first token of an answer says that it is right."""

    control: Any

    def __init__(
        self,
        *,
        model: Any,
        tokenizer: Any,
        settings: Settings,
        train: Sequence[TrainExample],
        validation: Sequence[TrainExample],
        args: Any,
        config: Any,
        seed: int,
        pad: int,
        choice: Choice | None,
        first_decides: bool,
        share: bool,
        callbacks: Sequence[Any],
    ) -> None:
        self._settings, self._seed, self._choice = settings, seed, choice
        self._first_decides, self._share = first_decides, share
        self._train, self._validation = train, validation
        self._collate = Collator(train, pad=pad, row_tokens=settings.row_tokens, share=share)
        self._collate_validation = Collator(
            validation, pad=pad, row_tokens=settings.row_tokens, share=share
        )
        self.tally = StepTally()
        super().__init__(
            model=model,
            args=args,
            data_collator=self._collate,
            train_dataset=numbers_of(train),
            eval_dataset=numbers_of(validation) if validation else None,
            processing_class=tokenizer,
            peft_config=config,
            callbacks=list(callbacks),
        )
        self.model_accepts_loss_kwargs = True  # the loss is divided by `num_items_in_batch`
        self._loss_shifts_labels = False  # labels stand where they are predicted

    def _send_telemetry(self) -> None:
        """No telemetry."""

    def get_train_dataloader(self) -> Any:
        """Batches in the order that seed and epoch decide."""
        order = Order(
            [example.item_id for example in self._train],
            [example.context for example in self._train],
            seed=self._seed,
            batch_size=self._settings.batch_size,
            accumulation=self._settings.accumulation,
            together=self._settings.together,
            lengths=None if self._share else [len(example.tokens) for example in self._train],
        )
        loader = DataLoader(self.train_dataset, batch_sampler=order, collate_fn=self._collate)
        return self.accelerator.prepare(loader)

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The weighted loss of the batch's learnt tokens; ModelError where it is no number."""
        logits, targets = learnt_logits(model, self._head(), inputs)
        count = len(targets) if num_items_in_batch is None else num_items_in_batch
        loss = (token_losses(logits, targets) * inputs["weights"]).sum() / count
        if not torch.isfinite(loss):
            raise ModelError(self._not_finite(inputs))
        self.tally.useful += int(inputs["useful"])
        self.tally.computed += inputs["input_ids"].numel()
        self.tally.items += len(inputs["numbers"].unique())
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes
        return (loss, {"logits": logits}) if return_outputs else loss

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Not counted: the estimate knows nothing of shared tokens."""
        return 0

    def evaluate(self, *_: Any, metric_key_prefix: str = "eval", **__: Any) -> dict[str, float]:
        """Loss, exact share and accuracy, and of two classes macro-F1, of the validation items."""
        scores = self.scores(self._collate_validation, self._validation)
        found = {f"{metric_key_prefix}_{name}": value for name, value in scores.named().items()}
        self.log(dict(found))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
        return found

    def scores(self, collate: Collator, examples: Sequence[TrainExample]) -> Scores:
        """How well the model answers these, teacher forced; every process does all of them."""
        model, head = self.model_wrapped, self._head()
        was_training = model.training
        model.eval()
        rows: list[tuple[Any, Any, Any, Any]] = []
        with torch.no_grad(), self.compute_loss_context_manager():
            for batch in self._chunks(collate, examples):
                batch = self._prepare_inputs(batch)
                logits, targets = learnt_logits(model, head, batch)
                pair = None if self._choice is None else logits[:, list(self._choice.tokens)]
                rows.append(
                    (
                        batch["numbers"].tolist(),
                        token_losses(logits, targets).tolist(),
                        (logits.argmax(dim=-1) == targets).tolist(),
                        None if pair is None else (pair[:, 0] > pair[:, 1]).tolist(),
                    )
                )
        if was_training:
            model.train()
        return scores_of(examples, rows, self._choice, self._first_decides)

    def _chunks(self, collate: Collator, examples: Sequence[TrainExample]) -> Any:
        """Batches of validation items: those of one context together, then by length."""
        size = max(8, self._settings.batch_size)
        order = sorted(
            range(len(examples)),
            key=lambda n: (len(examples[n].tokens) // 64, examples[n].context, n),
        )
        for start in range(0, len(order), size):
            yield collate([{"number": number} for number in order[start : start + size]])

    def _head(self) -> Any:
        return self.accelerator.unwrap_model(self.model).get_output_embeddings()

    def _not_finite(self, inputs: dict[str, Any]) -> str:
        ids = sorted({self._train[number].item_id for number in inputs["numbers"].tolist()})
        return (
            f"the loss is no finite number at step {self.state.global_step + 1}; items of the "
            f"batch: {', '.join(ids)}. Look at them, lower learning_rate, or set precision=f32"
        )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Without the model card that TRL would write: ours is written at the end."""
        super(trl.SFTTrainer, self)._save_checkpoint(model, trial)


def arguments(
    settings: Settings,
    folder: Path,
    *,
    seed: int,
    device: str,
    dtype: str,
    gradient_checkpointing: bool,
) -> Any:
    """TRL's configuration from ours."""
    given = common_arguments(settings, folder, seed=seed, device=device)
    given |= {
        "bf16": dtype == "bfloat16",
        "gradient_checkpointing": gradient_checkpointing,
        "ddp_find_unused_parameters": False,  # each trained weight has its part in every step
        "max_length": None,
        "dataset_kwargs": {"skip_prepare_dataset": True},
    }
    return trl.SFTConfig(**given)


def numbers_of(examples: Sequence[Any]) -> Any:
    """The trainer only passes numbers around; tokens stay with the collator."""
    return Rows.from_dict({"number": list(range(len(examples)))})
