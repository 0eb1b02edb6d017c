"""Answers that were paid for once: a cache of replies keyed by what was asked, and of whom.

The key covers model, address, options of the request, the exact messages, sampling, seed and
repeat, so that a repeat is never another's copy. The file holds answers and hashes, no prompts;
since answers may quote a report, it is private like the run. For phi it stays off unless asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.models.protocol import Output, Prompt, Sampling, messages_sha256

__all__ = ["ResponseCache", "open_cache"]

FILE = "responses.sqlite"
_VERSION = 1
_TABLE = """
create table if not exists responses (
    key blob primary key,
    text text not null,
    finish_reason text not null,
    input_tokens integer,
    output_tokens integer
) without rowid
"""


class ResponseCache:
    """Replies of one model at one address. Only what is an answer is kept, never an error."""

    def __init__(self, folder: Path, identity: Sequence[object]) -> None:
        self._path = folder / FILE
        self._identity = json.dumps([_VERSION, *identity], sort_keys=True, default=str)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create_private(self._path)
            self._base = sqlite3.connect(self._path, isolation_level=None, timeout=10.0)
            # Kept through a kill of the process; after a power cut the last answers may be asked
            # for again, which is no harm.
            self._base.execute("pragma journal_mode=wal")
            self._base.execute("pragma synchronous=off")
            self._base.execute(_TABLE)
        except OSError as error:
            raise ConfigError(f"{self._path}: no cache there: {error.strerror}") from error
        except sqlite3.Error as error:
            raise self._damaged() from error

    def key(self, prompt: Prompt, sampling: Sampling, left_out: Sequence[str] = ()) -> bytes:
        """The identity of one question to this model, as it is sent."""
        asked = (
            self._identity,
            messages_sha256(prompt.messages),
            (sampling.temperature, sampling.top_p, sampling.max_tokens, sampling.stop),
            prompt.seed,
            prompt.repeat,
            *([sorted(left_out)] if left_out else []),
        )
        return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).digest()

    def get(self, key: bytes) -> Output | None:
        """What was answered then; its `seconds` are 0."""
        try:
            row = self._base.execute(
                "select text, finish_reason, input_tokens, output_tokens from responses"
                " where key = ?",
                (key,),
            ).fetchone()
        except sqlite3.Error as error:
            raise self._damaged() from error
        return Output(row[0], row[1], row[2], row[3], 0.0, cached=True) if row else None

    def put(self, key: bytes, output: Output) -> None:
        """Keep an answer."""
        if output.error or output.finish_reason == "error":
            return
        row = (key, output.text, output.finish_reason, output.input_tokens, output.output_tokens)
        try:
            self._base.execute("insert or ignore into responses values (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise self._damaged() from error

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def _damaged(self) -> ConfigError:
        return ConfigError(f"{self._path}: the cache cannot be used (damaged or full?); delete it")


def open_cache(
    folder: Path | None,
    data_class: DataClass,
    identity: Sequence[object],
    *,
    phi_allowed: bool = False,
) -> ResponseCache | None:
    """The cache in a folder; None without one, and for phi unless that was asked for."""
    if folder is None or (data_class is DataClass.PHI and not phi_allowed):
        return None
    return ResponseCache(folder, identity)


def _create_private(path: Path) -> None:
    """0600 from the first byte on (SQLite gives its side files the same); never through a link."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.fchmod(file, 0o600)
    finally:
        os.close(file)
