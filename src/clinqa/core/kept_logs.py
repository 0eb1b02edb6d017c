"""Logs of what left the machine, of runs whose results were taken away: no run deletes them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from clinqa.core.durable import sync_folder

__all__ = ["is_kept_log", "set_aside"]

_NAME = re.compile(r"egress\.\d{8}T\d{6}Z(?:-\d+)?\.jsonl")


def is_kept_log(name: str) -> bool:
    """Is this what `set_aside` called a log?

    >>> is_kept_log("egress.20270131T120000Z-2.jsonl"), is_kept_log("egress.jsonl")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def set_aside(folder: Path, logs: Iterable[Path]) -> None:
    """Move logs into the folder, each under the time of its last line; empty ones go."""
    for log in logs:
        if not log.is_file() or log.is_symlink():
            continue
        found = log.stat()
        if not found.st_size:  # nothing left
            log.unlink()
            continue
        last = datetime.fromtimestamp(found.st_mtime, UTC).strftime("%Y%m%dT%H%M%SZ")
        number, aside = 1, folder / f"egress.{last}.jsonl"
        while aside.exists() or aside.is_symlink():
            number += 1
            aside = folder / f"egress.{last}-{number}.jsonl"
        os.replace(log, aside)
        sync_folder(folder)
