"""The SHA-256 of files: each file is read for it once a process, as long as it stays as it is.

What a file is, is told by its `Stamp`: device, inode, size and the times of its last changes, which
every write and every file put into its place moves. A file that changed a moment ago is hashed
again when it is asked for again: a clock may be too coarse to tell two writes apart.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

__all__ = ["Stamp", "sha256_file", "sha256_open"]

_SETTLED = 100_000_000
"""Nanoseconds after which no clock takes a new write for the old one."""


class Stamp(NamedTuple):
    """What tells a file, and a state of it, from every other."""

    device: int
    inode: int
    size: int
    written: int
    changed: int

    @classmethod
    def of(cls, file: BinaryIO) -> Self:
        """That of an open file as it is now."""
        found = os.fstat(file.fileno())
        times = (found.st_mtime_ns, found.st_ctime_ns)
        return cls(found.st_dev, found.st_ino, found.st_size, *times)

    @property
    def settled(self) -> bool:
        """Was it last changed so long ago that another change would show?"""
        return time.time_ns() - max(self.written, self.changed) > _SETTLED


_known: dict[Stamp, str] = {}


def sha256_open(file: BinaryIO) -> tuple[str, Stamp]:
    """The SHA-256 of an open file, in hex, and of which state of it; it is at its start again.

    Where it is written meanwhile, the state is the one before: the file no longer has it.
    """
    stamp = Stamp.of(file)
    if (known := _known.get(stamp)) is not None:
        return known, stamp
    settled = stamp.settled  # before it is read: a write meanwhile has a time of its own
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    if settled and Stamp.of(file) == stamp:
        _known[stamp] = digest
    return digest, stamp


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return sha256_open(file)[0]
