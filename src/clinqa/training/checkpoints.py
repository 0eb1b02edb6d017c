"""Checkpoints and the best state: whole with all their files, or not taken.

A folder is sealed last: `sealed.json` in it holds the hash of every other file, and what a resumed
training must know. What a kill, a full disk or a bad sector left is named, and the checkpoint
before it is taken; two are kept, so that there is one.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clinqa.core.durable import settle, sync_folder, write_durably
from clinqa.core.hashing import sha256_file
from clinqa.core.outfolder import files_under
from clinqa.training.prepare import BEST

__all__ = ["ResumePoint", "drop_old", "keep_best", "resume_point", "saving", "seal", "take_away"]

SEAL = "sealed.json"
_KEPT = 2
_PROBE = 1 << 20


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where a training goes on. `best` is the best state so far as it was sealed, `notes` say what
    could not be taken, `useless` are the folders that this is said of."""

    checkpoint: Path | None = None
    step: int = 0
    best: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    useless: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sealed:
    """What a sealed folder tells, or in `wrong` why it is not whole."""

    told: Mapping[str, Any]
    wrong: str = ""


def seal(folder: Path, told: Mapping[str, Any], *, private: bool) -> None:
    """Make the folder's files durable, then write what it is whole by."""
    names = sorted(files_under(folder) - {SEAL})
    for name in names:
        settle(folder / name, private)
    files = {name: sha256_file(folder / name) for name in names}
    body = json.dumps({"files": files, "told": dict(told)}, sort_keys=True)
    write_durably(folder / SEAL, body.encode("utf-8"), private=private)
    sync_folder(folder.parent)


def drop_old(folder: Path) -> None:
    """Take away the checkpoints before the last two; the seal first, so that none looks whole."""
    for _, old in _checkpoints(folder)[_KEPT:]:
        take_away(old)


def take_away(folder: Path) -> None:
    """A sealed folder goes: first its seal, so that at no time half of it looks whole."""
    with suppress(OSError):
        (folder / SEAL).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def keep_best(folder: Path, fresh: Path) -> None:
    """A sealed state takes the place of the best one; a kill leaves one of the two whole."""
    best, old = folder / BEST, folder / f"{BEST}.old"
    take_away(old)
    if best.is_dir():
        os.replace(best, old)
    os.replace(fresh, best)
    take_away(old)


def resume_point(folder: Path) -> ResumePoint:
    """The latest whole checkpoint whose best state is there too.

    Steps after the checkpoint are trained again, and are the same again: a best state of one of
    them will come back. One of an earlier step would not, so it must be whole.
    """
    best = _best(folder)
    notes: list[str] = []
    useless: list[Path] = []
    for step, path in _checkpoints(folder):
        found = _opened(path)
        wrong = found.wrong
        if not wrong and found.told.get("step") != step:
            wrong = "it is of another step"
        if not wrong and (need := found.told.get("best")) is not None:
            there = best.told.get("step")
            if best.wrong or not isinstance(there, int) or not (there == need or there > step):
                wrong = f"the best state, of step {need}, {best.wrong or 'is another'}"
        if not wrong:
            kept = {} if best.wrong or best.told.get("step", step + 1) > step else best.told
            return ResumePoint(path, step, kept, _told(notes, step), tuple(useless))
        notes.append(f"{path.name} is not taken: {wrong}")
        useless.append(path)
    return ResumePoint(notes=_told(notes, 0), useless=tuple(useless))


def _told(notes: list[str], step: int) -> tuple[str, ...]:
    whence = f"it goes on after step {step}" if step else "it begins again at the first step"
    return tuple(f"{note}; {whence}" for note in notes)


def _checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Step and folder of each checkpoint, the latest first, whole or not."""
    found = []
    for path in folder.glob("checkpoint-*"):
        number = path.name.partition("-")[2]
        if number.isascii() and number.isdecimal():
            found.append((int(number), path))
    return sorted(found, reverse=True)


def _best(folder: Path) -> _Sealed:
    """The best state as it was sealed; one that a kill left aside is put back."""
    best, old = folder / BEST, folder / f"{BEST}.old"
    if old.is_dir() and not best.exists():
        with suppress(OSError):  # another process was first
            os.replace(old, best)
    return _opened(best) if best.is_dir() else _Sealed({}, "is gone")


def _opened(folder: Path) -> _Sealed:
    try:
        sealed = json.loads((folder / SEAL).read_text(encoding="utf-8"))
        files, told = dict(sealed["files"]), dict(sealed["told"])
    except FileNotFoundError:
        return _Sealed({}, "it is not whole (the run ended while it was written)")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _Sealed({}, f"{SEAL} in it cannot be read")
    for name, sha256 in files.items():
        try:
            if sha256_file(folder / name) != sha256:
                return _Sealed({}, f"{name} in it is damaged")
        except OSError:
            return _Sealed({}, f"{name} in it is gone or cannot be read")
    return _Sealed(told)


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Within, what torch, safetensors and tokenizers raise over a file that they cannot write
    becomes what the operating system says of it: that the disk is full, say."""
    own = importlib.import_module("safetensors").SafetensorError
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # tokenizers raises nothing narrower
        if found := re.search(r"os error (\d+)", str(error)):
            number = int(found[1])
        elif isinstance(error, RuntimeError | own):
            number = _refusal(folder)
        else:
            raise
        raise OSError(number, os.strerror(number)) from error


def _refusal(folder: Path) -> int:
    """What the system says when a file is written here now; an input/output error if nothing."""
    probe = folder / "probe.tmp"
    try:
        with probe.open("wb") as file:
            file.write(b"\0" * _PROBE)
    except OSError as error:
        return error.errno or errno.EIO
    finally:
        with suppress(OSError):
            probe.unlink()
    return errno.EIO
