"""What happens beside the steps: progress, the loss log, checkpoints, validation, interruption."""

from __future__ import annotations

import ctypes
import importlib
import json
import math
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from clinqa.core.errors import ModelError
from clinqa.core.outfolder import write_durably
from clinqa.core.stage import Progress
from clinqa.training.checkpoints import (
    ResumePoint,
    drop_old,
    keep_best,
    resume_point,
    seal,
    take_away,
)
from clinqa.training.prepare import BEST, LOG
from clinqa.training.presets import Settings
from clinqa.training.ranks import is_first, processes, wait_for_all

try:
    from transformers import TrainerCallback
except ImportError:  # the extra `train` is not installed; lora.py says so to who asks
    TrainerCallback = object

_TRIM: Any = None
with suppress(OSError, AttributeError):
    _TRIM = ctypes.CDLL("libc.so.6").malloc_trim  # glibc alone knows it

__all__ = ["Watch", "drive", "read_log"]

STAGE = "training"
_SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Watch(TrainerCallback):  # type: ignore[misc]
    """The one callback of a training. `folder` is the partial folder it may write to."""

    folder: Path
    settings: Settings
    progress: Progress
    private: bool
    steps_an_epoch: int = 1
    validates: bool = False
    resumed_at: int = 0
    interrupted: bool = False
    trainer: Any = None
    stop_after: int | None = None  # steps of this call; for tests of interruption
    best: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # checkpoints that could not be taken
    _started: float = field(default_factory=time.monotonic)
    _saved: float = field(default_factory=time.monotonic)
    _seconds_before: float = 0.0
    _before: dict[str, int] = field(default_factory=lambda: {"tokens": 0, "computed_tokens": 0})

    def begin(self, found: ResumePoint) -> None:
        """Before training: forget what was logged after the checkpoint that is gone on from."""
        self.resumed_at, self.best = found.step, dict(found.best)
        self.notes = list(found.notes)
        kept = [row for row in read_log(self.folder / LOG) if row["step"] <= self.resumed_at]
        if kept:
            self._seconds_before = float(kept[-1].get("seconds", 0.0))
            self._before = {name: int(kept[-1].get(name, 0)) for name in self._before}
        if is_first():  # two processes would take each other's unfinished file
            body = "".join(json.dumps(row) + "\n" for row in kept)
            write_durably(self.folder / LOG, body.encode("ascii"), private=self.private)
            for left in found.useless:
                take_away(left)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """A line of the log: a step's loss, or a validation."""
        if not state.is_world_process_zero or not logs or "train_runtime" in logs:
            return
        tally = self.trainer.tally
        row = {
            "step": state.global_step,
            "epoch": round(float(state.epoch or 0), 4),
            **{key: float(value) for key, value in logs.items() if _is_number(value)},
            "seconds": round(self._seconds_before + time.monotonic() - self._started, 3),
            "tokens": self._before["tokens"] + tally.useful,
            "computed_tokens": self._before["computed_tokens"] + tally.computed,
        }
        with (self.folder / LOG).open("a", encoding="ascii") as file:
            file.write(json.dumps(row) + "\n")
        if "loss" in logs:
            elapsed = max(time.monotonic() - self._started, 1e-9)
            note = f"loss {logs['loss']:.3f}  {tally.useful / elapsed:,.0f} tokens/s"
            self.progress(STAGE, state.global_step, state.max_steps, note=note)

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any
    ) -> None:
        """Keep the state that did best on the validation items."""
        if metrics:
            self._consider(state.global_step, metrics)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Validate, save or stop where it is time to."""
        self._tidy_memory()
        step, last = state.global_step, state.global_step >= state.max_steps
        if self.validates and (last or self._is_time_to_validate(step)):
            control.should_evaluate = True
        if self.stop_after is not None and step - self.resumed_at >= self.stop_after and not last:
            self.interrupted = True
        if last or ((time.monotonic() - self._saved) / 60) >= self.settings.checkpoint_minutes:
            control.should_save = (
                True  # after the last, so that a kill while finishing costs no step
            )
        if self.interrupted:
            control.should_save = control.should_training_stop = True
        return control

    def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """See `_tidy_memory`."""
        self._tidy_memory()

    def _tidy_memory(self) -> None:
        """On a CPU, give freed memory back: batches of unlike sizes leave it in pieces."""
        if self.trainer.args.device.type == "cpu" and _TRIM is not None:
            _TRIM(0)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The checkpoint is written, by all processes: it is whole from now on."""
        wait_for_all()
        if is_first():
            step = state.global_step
            told = {"step": step, "best": self.best.get("step")}
            seal(self.folder / f"checkpoint-{step}", told, private=self.private)
            drop_old(self.folder)
        self._saved = time.monotonic()

    @contextmanager
    def catching_interrupts(self) -> Iterator[None]:
        """Within, the first Ctrl-C (or TERM) ends the step and saves; a second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}

        def note(number: int, frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(number, before[number])

        for number in before:
            signal.signal(number, note)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _is_time_to_validate(self, step: int) -> bool:
        every = max(1, self.steps_an_epoch // self.settings.validations)
        within = step % self.steps_an_epoch
        return within == 0 or (within % every == 0 and within // every < self.settings.validations)

    def _consider(self, step: int, scores: Mapping[str, Any]) -> None:
        """Keep the weights if this is the best state so far; the earliest of equals stays."""
        name = self.settings.best_by
        value = scores.get(f"eval_{name}")
        if name == "none" or value is None or not math.isfinite(value):
            return
        higher = -value if name == "loss" else value
        if self.best and higher <= self.best["higher"]:
            return
        self.best = {"step": step, "by": name, "value": value, "higher": higher}
        self._save_best()

    def _save_best(self) -> None:
        """The trained weights as they are now, beside the others until they are whole."""
        fresh = self.folder / f"{BEST}.new"
        if self.trainer.is_world_process_zero():
            shutil.rmtree(fresh, ignore_errors=True)
        self.trainer.save_model(str(fresh))
        if self.trainer.is_world_process_zero():
            seal(fresh, self.best, private=self.private)
            keep_best(self.folder, fresh)


def drive(trainer: Any, watch: Watch, items: int) -> None:
    """Train from the last checkpoint to the end; KeyboardInterrupt if it was interrupted."""
    settings = watch.settings
    watch.trainer = trainer
    watch.steps_an_epoch = math.ceil(items / (settings.step_items * processes()))
    watch.validates = trainer.eval_dataset is not None
    found = resume_point(watch.folder)
    wait_for_all()  # each has looked before the first tidies
    watch.begin(found)
    trainer.remove_callback(importlib.import_module("transformers").PrinterCallback)
    torch = importlib.import_module("torch")
    try:
        with watch.catching_interrupts():
            trainer.train(
                resume_from_checkpoint=str(found.checkpoint) if found.checkpoint else None
            )
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


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log; a torn last one is passed over."""
    rows = []
    if path.is_file():
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and isinstance(row.get("step"), int):
                rows.append(row)
    return rows


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
