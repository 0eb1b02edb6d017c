"""TRL's trainer for laid-out batches: our order of items, our loss, our validation.

What TRL and transformers give: optimizer, schedule, accumulation, checkpoints, accelerate and with
it several GPUs. What is ours stands in this file and in `steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinqa.training.batches import Collator
from clinqa.training.checkpoints import saving
from clinqa.training.examples import TrainExample
from clinqa.training.presets import Settings
from clinqa.training.steps import (
    OwnSteps,
    StepTally,
    common_arguments,
    learnt_logits,
    numbers_of,
    token_losses,
)
from clinqa.training.validation import Choice, Scores, scores_of

Trainer: Any = object
try:
    import torch
    import trl

    Trainer = trl.SFTTrainer
except ImportError:
    torch = None  # the extra `train` is not installed; lora.py says so to who asks

__all__ = ["AnswerTrainer", "arguments"]


class AnswerTrainer(OwnSteps, Trainer):  # type: ignore[misc]
    """Learns the answers of examples; `choice` says how two classes are told apart,
    `first_decides` whether the first token of an answer says that it is right."""

    advice = "lower learning_rate, or set precision=f32"

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
        return self._loader(
            [example.context for example in self._train],
            together=self._settings.together,
            lengths=None if self._share else [len(example.tokens) for example in self._train],
        )

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The weighted loss of the batch's learnt tokens; ModelError where it is no number."""
        logits, targets = learnt_logits(model, self._head(), inputs)
        losses, items = token_losses(logits, targets), len(inputs["numbers"].unique())
        loss = self._lost(losses, inputs, num_items_in_batch, inputs["useful"], items)
        return (loss, {"logits": logits}) if return_outputs else loss

    def validation_scores(self) -> Scores:
        """How well the model answers the validation items, teacher forced; every process does all
        of them."""
        model, head = self.model_wrapped, self._head()
        was_training = model.training
        model.eval()
        rows: list[tuple[Any, Any, Any, Any]] = []
        with torch.no_grad(), self.compute_loss_context_manager():
            for batch in self._chunks():
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
        return scores_of(self._validation, rows, self._choice, self._first_decides)

    def _chunks(self) -> Any:
        """Batches of validation items: those of one context together, then by length."""
        examples, collate = self._validation, self._collate_validation
        size = max(8, self._settings.batch_size)
        order = sorted(
            range(len(examples)),
            key=lambda n: (len(examples[n].tokens) // 64, examples[n].context, n),
        )
        for start in range(0, len(order), size):
            yield collate([{"number": number} for number in order[start : start + size]])

    def _head(self) -> Any:
        return self.accelerator.unwrap_model(self.model).get_output_embeddings()

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Without the model card that TRL would write: ours is written at the end."""
        with saving(Path(self.args.output_dir)):
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
