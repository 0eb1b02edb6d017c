"""Run a trainer to its end, or to an interruption that loses nothing."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.core.progress import Progress
from clinqa.training.options import TrainOptions
from clinqa.training.presets import Settings
from clinqa.training.ranks import processes
from clinqa.training.watch import Watch, last_checkpoint

__all__ = ["drive", "make_watch"]


def make_watch(
    folder: Path, settings: Settings, private: bool, progress: Progress, options: TrainOptions
) -> Watch:
    """What happens beside the steps of this training."""
    return Watch(folder, settings, progress, private, stop_after=options.stop_after)


def drive(trainer: Any, watch: Watch, items: int) -> None:
    """Train from the last checkpoint to the end; KeyboardInterrupt if it was interrupted."""
    settings = watch.settings
    watch.trainer = trainer
    watch.steps_an_epoch = math.ceil(items / (settings.step_items * processes()))
    watch.validates = trainer.eval_dataset is not None
    found = last_checkpoint(watch.folder)
    watch.resumed_at = found[1] if found else 0
    watch.begin()
    trainer.remove_callback(importlib.import_module("transformers").PrinterCallback)
    torch = importlib.import_module("torch")
    try:
        with watch.catching_interrupts():
            trainer.train(resume_from_checkpoint=str(found[0]) if found else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(
            "the GPU's memory is too small for this batch; lower batch_size and raise accumulation "
            "by as much, or set gradient_checkpointing=yes or quantization=nf4"
        ) from error
    if watch.interrupted and trainer.state.global_step < trainer.state.max_steps:
        raise KeyboardInterrupt
    weights = (one for one in trainer.model.parameters() if one.requires_grad)
    alone = processes() == 1  # else each holds a part, and the canaries will say it
    if alone and not watch.best and not all(bool(torch.isfinite(one).all()) for one in weights):
        raise ModelError(
            f"the trained weights are no finite numbers after step {trainer.state.global_step}, "
            "the last; lower learning_rate, or set precision=f32"
        )
