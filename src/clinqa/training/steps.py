"""What the trainers of language models and of encoders do alike: their arguments, our order of
items, our loss, our validation.

The head is by far the widest layer of a small model, and nine of ten positions are prompt: a hook
lets it see the learnt positions alone. It sits before the head, so it works the same under LoRA,
quantization and FSDP.

The loss of a step is the sum over its learnt tokens of weight x negative log-likelihood, divided by
the number of learnt tokens of the whole step. The divisor knows no weights: an item of weight w
has w times the gradient it would have had, however the step is cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.training.batches import IGNORED
from clinqa.training.checkpoints import saving
from clinqa.training.order import Order
from clinqa.training.presets import Settings
from clinqa.training.validation import Scores

try:
    import torch
    from datasets import Dataset as Rows
    from torch.utils.data import DataLoader
except ImportError:
    torch = None  # the extra `train` is not installed; lora.py says so to who asks

__all__ = [
    "OwnSteps",
    "StepTally",
    "common_arguments",
    "learnt_logits",
    "numbers_of",
    "token_losses",
]

_SCHEDULERS = {"constant": "constant_with_warmup"}


def common_arguments(settings: Settings, folder: Path, *, seed: int, device: str) -> dict[str, Any]:
    """What TRL's and transformers' configurations have in common."""
    return {
        "output_dir": str(folder),
        "num_train_epochs": settings.epochs,
        "max_steps": -1 if settings.max_steps is None else settings.max_steps,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": _SCHEDULERS.get(settings.scheduler, settings.scheduler),
        "warmup_steps": settings.warmup,
        "optim": "adamw_torch",
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.max_grad_norm,
        "per_device_train_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "bf16": False,
        "fp16": False,
        "use_cpu": device == "cpu",
        "seed": seed,
        "data_seed": seed,
        "logging_steps": 1,
        "logging_first_step": True,
        "logging_nan_inf_filter": False,
        "save_strategy": "no",  # `watch` decides when
        "save_total_limit": None,  # `checkpoints` takes away the old ones
        "eval_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "log_level": "error",
        "remove_unused_columns": False,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": False,
        "push_to_hub": False,
    }


@dataclass(slots=True)
class StepTally:
    """What went through the model since the trainer was made."""

    useful: int = 0  # tokens of the items, each as if it stood alone
    computed: int = 0  # tokens of the rows, padding included
    items: int = 0


class OwnSteps:
    """Before a trainer of transformers or TRL: what is ours of it.

    `_train` holds what is learnt, each with its `item_id`; `tally` counts it.
    """

    _settings: Settings
    _seed: int
    _train: Sequence[Any]
    tally: StepTally
    control: Any
    advice = ""

    def _loader(self: Any, contexts: Sequence[str], **more: Any) -> Any:
        """Batches in the order that seed and epoch decide; items of one context may go together."""
        order = Order(
            [one.item_id for one in self._train],
            contexts,
            seed=self._seed,
            batch_size=self._settings.batch_size,
            accumulation=self._settings.accumulation,
            **more,
        )
        loader = DataLoader(self.train_dataset, batch_sampler=order, collate_fn=self._collate)
        return self.accelerator.prepare(loader)

    def _lost(
        self: Any, losses: Any, inputs: dict[str, Any], count: Any, useful: Any, items: int
    ) -> Any:
        """The step's part of the loss: the sum of weight x loss over `count`, what is learnt in the
        whole step; ModelError where it is no number."""
        loss = (losses * inputs["weights"]).sum() / (len(losses) if count is None else count)
        if not torch.isfinite(loss):
            raise ModelError(self._no_number(inputs))
        self.tally.useful += int(useful)
        self.tally.computed += inputs["input_ids"].numel()
        self.tally.items += items
        if self.args.average_tokens_across_devices and count is not None:
            loss = loss * self.accelerator.num_processes
        return loss

    def _no_number(self: Any, inputs: dict[str, Any]) -> str:
        """Why the loss is none: the weights ran away, or it was none from the start."""
        step = self.state.global_step + 1
        ids = sorted({self._train[n].item_id for n in inputs["numbers"].tolist()})
        said = f"the loss is no finite number at step {step}"
        if step == 1:
            listed = ", ".join(ids)
            return f"{said}; items of the batch: {listed}. Look at them, {self.advice}"
        losses = [row["loss"] for row in self.state.log_history if "loss" in row]
        began = f" from {losses[0]:.3g} at the first step" if losses else ""
        return (
            f"{said}: the training diverged{began} with learning_rate "
            f"{self._settings.learning_rate:g}; nothing was kept but checkpoints. Lower "
            f"learning_rate (--set learning_rate={self._settings.learning_rate / 10:g}) and begin "
            f"again with --fresh; if it does so again, look at the items of the batch: "
            f"{', '.join(ids)}"
        )

    def save_model(self: Any, output_dir: Any = None, **given: Any) -> None:
        """OSError where the files cannot be written."""
        with saving(Path(self.args.output_dir)):
            super().save_model(output_dir, **given)  # type: ignore[misc]  # of the trainer

    def _save_checkpoint(self: Any, model: Any, trial: Any) -> None:
        """OSError where the files cannot be written."""
        with saving(Path(self.args.output_dir)):
            super()._save_checkpoint(model, trial)  # type: ignore[misc]  # of the trainer

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Not counted: the estimate knows nothing of shared tokens."""
        return 0

    def evaluate(
        self: Any, *_: Any, metric_key_prefix: str = "eval", **__: Any
    ) -> dict[str, float]:
        """Loss and shares of the validation items, and of two classes macro-F1."""
        scores: Scores = self.validation_scores()
        found = {f"{metric_key_prefix}_{name}": value for name, value in scores.named().items()}
        self.log(dict(found))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, found)
        return found


def numbers_of(examples: Sequence[Any]) -> Any:
    """The trainer only passes numbers around; tokens stay with the collator."""
    return Rows.from_dict({"number": list(range(len(examples)))})


def learnt_logits(model: Any, head: Any, batch: dict[str, Any]) -> tuple[Any, Any]:
    """Logits [learnt, vocabulary] in float32, and the token to learn at each."""
    learnt = batch["labels"] != IGNORED
    with _only(head, learnt):
        found = model(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            position_ids=batch["position_ids"],
            use_cache=False,
        )
    return found.logits.float(), batch["labels"][learnt]


def token_losses(logits: Any, targets: Any) -> Any:
    """The negative log-likelihood of each learnt token."""
    return torch.nn.functional.cross_entropy(logits, targets, reduction="none")


@contextmanager
def _only(head: Any, learnt: Any) -> Iterator[None]:
    """Within, the head gets hidden states of the learnt positions: [batch, length] to [learnt]."""

    def choose(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (given[0][learnt], *given[1:])

    hook = head.register_forward_pre_hook(choose)
    try:
        yield
    finally:
        hook.remove()
