"""Trainings that kill themselves at a chosen file operation; a program of its own.

    python -m training.killing METHOD FOLDER COUNT

Every file that is created, renamed or removed below the output folder is an operation. Files that
libraries write outside Python are two: before they are written, and half written. The program
trains once undisturbed, noting operations; then COUNT times it trains with a kill -9 at one of
them, goes on, and compares. It prints a line of JSON a kill.

Each training is a fork of this process, so that libraries are imported once.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

WEIGHTS = {"lora": "adapter_model.safetensors", "encoder": "model.safetensors"}
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}


class Operations:
    """Counts operations below a folder; `kill_at` ends the process at one of them."""

    def __init__(self, out: Path, trace: Path, kill_at: int | None) -> None:
        self._out, self._kill_at, self._number = str(out), kill_at, 0
        self._trace = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, *told: object) -> None:
        os.write(self._trace, (json.dumps(told) + "\n").encode())

    def operation(self, what: str, path: object, torn: Callable[[], object] | None = None) -> None:
        """One operation is about to be done; `torn` leaves it half done."""
        name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        if not name.startswith(self._out):
            return
        self._number += 1
        if self._number == self._kill_at:
            if torn is not None:
                torn()
            os.kill(os.getpid(), signal.SIGKILL)
        if self._kill_at is None:
            self.note("operation", self._number, what, name.removeprefix(self._out))

    def audit(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR):
            self.operation("open", given[0])
        elif event in CHANGES:
            self.operation(event, given[0])

    def around(self, module: Any, name: str, place: int) -> None:
        """Count what a function of a library writes to its argument number `place`."""
        write = getattr(module, name)

        def counted(*given: Any, **named: Any) -> Any:
            path = given[place]
            self.operation(f"{name} begins", path)
            done = write(*given, **named)
            half = Path(os.fsdecode(path)).stat().st_size // 2 if os.path.exists(path) else 0
            self.operation(f"{name} torn", path, lambda: os.truncate(path, half))
            return done

        setattr(module, name, counted)


def train_once(method: str, folder: Path, out: Path, trace: Path, kill_at: int | None) -> int:
    """The exit status of a training in a fork of this process."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        _train(method, folder, out, Operations(out, trace, kill_at))
        status = 0
    finally:
        os._exit(status)


def _train(method: str, folder: Path, out: Path, operations: Operations) -> None:
    import pyarrow.parquet as pq
    import safetensors.torch as safe
    import torch

    from clinqa.training.watch import Watch
    from training.made_training import trained
    from training.test_encoder import trained as trained_encoder

    end, save = Watch.on_step_end, Watch.on_save

    def on_step_end(self: Watch, args: Any, state: Any, control: Any, **given: Any) -> Any:
        operations.note("step", state.global_step)
        return end(self, args, state, control, **given)

    def on_save(self: Watch, args: Any, state: Any, control: Any, **given: Any) -> None:
        save(self, args, state, control, **given)
        operations.note("saved", state.global_step)

    Watch.on_step_end, Watch.on_save = on_step_end, on_save  # type: ignore[method-assign]
    operations.around(torch, "save", 1)
    operations.around(safe, "serialize_file", 1)
    operations.around(pq, "write_table", 1)
    sys.addaudithook(operations.audit)
    told = ("max_steps=4", "validations=4", "best_by=loss", "checkpoint_minutes=1e-9")
    if method == "lora":
        told = (*told, "lora_dropout=0.1", "learning_rate=1e-3")
        trained(folder / "dataset", folder / "base", out, *told, preset="ecgquest")
    else:
        trained_encoder(folder / "dataset", folder / "base", out, *told)


def make(method: str, folder: Path) -> None:
    """Dataset and base, in a fork: this process starts no threads of torch."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        return
    from tiny_model import make_tiny
    from training.made_training import write
    from training.test_encoder import make_bert

    write(folder / "dataset", "true_false")
    (make_tiny if method == "lora" else make_bert)(folder / "base")
    os._exit(0)


def noted(trace: Path) -> list[list[Any]]:
    return [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []


def chosen(operations: list[list[Any]], count: int) -> Iterator[list[Any]]:
    """Operations of every kind before any kind has a second: a kind is what is done to a name."""
    kinds: dict[str, list[list[Any]]] = {}
    for one in operations:
        kinds.setdefault(f"{one[2]} {re.sub('[0-9]+', 'N', one[3])}", []).append(one)
    for place, members in enumerate(kinds.values()):
        members.sort(key=lambda one, place=place: (one[1] * 7 + place * 3) % 11)  # type: ignore[misc]
    groups = list(kinds.values())
    if count < len(groups):  # from the first to the last, evenly
        groups = [groups[place * (len(groups) - 1) // (count - 1)] for place in range(count)]
    turns = (members[turn] for turn in range(99) for members in groups if turn < len(members))
    yield from islice(turns, count)


def files_of(out: Path) -> dict[str, str]:
    """The hash of each file but the manifest, which says when it was made."""
    files = (path for path in out.rglob("*") if path.is_file() and path.name != "manifest.json")
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def main(method: str, folder: Path, count: int) -> None:
    for name in ("classify", "encoder", "finish", "language", "train", "trainer", "watch"):
        importlib.import_module(f"clinqa.training.{name}")  # once, and not in each fork
    for name in ("matplotlib.pyplot", "peft", "torch", "trl", "transformers"):
        importlib.import_module(name)

    make(method, folder)
    assert train_once(method, folder, folder / "whole", folder / "whole.trace", None) == 0
    wanted = files_of(folder / "whole")
    assert WEIGHTS[method] in wanted
    notes = noted(folder / "whole.trace")
    operations = [one for one in notes if one[0] == "operation"]
    print(json.dumps({"operations": len(operations)}), flush=True)
    for one in chosen(operations, count):
        out = folder / f"out{one[1]}"
        killed, again = folder / f"killed{one[1]}", folder / f"again{one[1]}"
        status = train_once(method, folder, out, killed, one[1])
        before = noted(killed)
        ended = train_once(method, folder, out, again, None)
        steps = [told[1] for told in noted(again) if told[0] == "step"]
        saved = max((told[1] for told in before if told[0] == "saved"), default=0)
        found = files_of(out)
        answer = {
            "at": one[1:],
            "killed": os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL,
            "ended": ended == 0 and (out / "manifest.json").is_file(),
            "same": found == wanted,
            "other": sorted(n for n in {*found, *wanted} if found.get(n) != wanted.get(n)),
            "saved": saved,
            "steps": steps,
            "repeated": [step for step in steps if step <= saved],
            "all_steps": steps == list(range(min([*steps, 5]), 5)),
        }
        print(json.dumps(answer), flush=True)
        shutil.rmtree(out)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
