"""egress.jsonl: one line for each request, written before it leaves. Never a text, never a key."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from clinqa.core.errors import ConfigError

__all__ = ["EgressLog"]

_LONGEST_LINE = 1 << 20
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class EgressLog:
    """Appends lines to a file only its owner may read; opened at the first line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def add(
        self, moment: float, host: str, address: str, model: str, items: Sequence[str], size: int
    ) -> None:
        """The request of `size` bytes that goes to `address` now, for these items."""
        if self._file is None:
            self._file = self._open()
        line = {
            "time": datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds"),
            "host": host,
            "address": address,
            "model": model,
            "items": list(items),
            "bytes": size,
        }
        # One write a line: a kill leaves whole lines, and two runs do not mix theirs.
        os.write(self._file, _ENCODER.encode(line).encode("ascii") + b"\n")

    def close(self) -> None:
        """Let go of the file; a later line opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            file = os.open(self._path, flags, 0o600)
            os.fchmod(file, 0o600)
            _end_line(file)
        except OSError as error:
            raise ConfigError(
                f"{self._path}: the egress log cannot be written: {error.strerror}"
            ) from error
        return file


def _end_line(file: int) -> None:
    """Close a line that a power cut or a full disk left half written: its request never left.

    What there is of it stays, as a line that can be read; the next one begins on its own.
    """
    size = os.fstat(file).st_size
    tail = os.pread(file, _LONGEST_LINE, max(0, size - _LONGEST_LINE))
    torn = tail.rpartition(b"\n")[2]
    if torn:
        os.ftruncate(file, size - len(torn))
        line = {"torn": torn.decode("utf-8", "replace")}
        os.write(file, _ENCODER.encode(line).encode("ascii") + b"\n")
