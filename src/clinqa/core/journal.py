"""An append-only journal: what was paid for survives a kill at any moment.

One JSON object a line. A line reaches the operating system as soon as it is appended, so that a
killed process loses nothing; it is synced to the disk in groups, so that a power cut loses the
last second at most. Records carry a `key` of content, never a position: a later run reads what
there is, takes over what it can use, and pays only for what is missing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from clinqa.core.closing import Closing
from clinqa.core.errors import ConfigError

__all__ = ["Journal", "read_journal"]

KEY = "key"
_COMPACT = json.JSONEncoder(separators=(",", ":")).encode  # made once: json.dumps makes one a call
_SYNC_LINES = 1000
_SYNC_SECONDS = 1.0


class Journal(Closing):
    """A journal open for writing, and the keys that this run takes over from earlier ones.

    with Journal(path, private=True) as journal:
        for record in read_journal(path):
            journal.keep(record["key"])
        if key not in journal:
            journal.append({"key": key, "output": ...})

    What this run appends is not held in memory: a run knows what it has asked.
    """

    def __init__(self, path: Path, *, private: bool) -> None:
        self.path = path
        self._keys: set[str] = set()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._file = os.open(path, flags, 0o600 if private else 0o644)
        self._cut_torn_line()
        self._unsynced, self._synced_at = 0, time.monotonic()

    def keep(self, key: str) -> None:
        """Take over what an earlier run wrote under this key."""
        self._keys.add(key)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record."""
        _write_all(self._file, f"{_COMPACT(record)}\n".encode("ascii"))
        self._unsynced += 1
        now = time.monotonic()
        if self._unsynced >= _SYNC_LINES or now - self._synced_at >= _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Make everything appended so far durable."""
        if self._unsynced:
            os.fsync(self._file)
        self._unsynced, self._synced_at = 0, time.monotonic()

    def close(self) -> None:
        """Sync and let go of the file."""
        if self._file >= 0:
            try:
                self.sync()
            finally:
                os.close(self._file)
                self._file = -1

    def _cut_torn_line(self) -> None:
        """Take away what a kill left half written, or the next line would be glued to it."""
        size = os.fstat(self._file).st_size
        end = size
        while end:
            start = max(0, end - 65536)
            block = os.pread(self._file, end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end != size:
            os.ftruncate(self._file, end)


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a journal in the order in which they were written.

    Lines that are no record (a torn end, blocks a power cut left empty) are passed over: what
    they held is asked again.
    """
    if path.is_symlink():
        raise ConfigError(f"{path}: a symlink; take it away")
    with suppress(FileNotFoundError), path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict) and isinstance(record.get(KEY), str):
                yield record


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
