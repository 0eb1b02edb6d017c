"""The records of a bank's file, whatever its format: JSON Lines, JSON, CSV, TSV, Parquet; gzip too.

Every record is a mapping from column to value; a line that is none is `None`. A file can be gone
through more than once.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.sources.reports.parquet import open_parquet
from clinqa.sources.reports.records import BrokenFile
from clinqa.sources.reports.streams import ByteStream, lines

__all__ = ["Record", "records", "suffix_of"]

Record = Mapping[str, Any]
_MAX_JSON_BYTES = 1 << 30
_BATCH_ROWS = 2048
_LETTERS = frozenset("ABCDEFGHIJ")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: Columns of MMLU's files, which have no header.
MMLU_COLUMNS = ("question", "A", "B", "C", "D", "answer")
KNOWN = (".jsonl", ".json", ".csv", ".tsv", ".parquet")


def suffix_of(path: Path) -> str:
    """The format a name tells, `.gz` aside; empty if it is none that can be read."""
    name = path.name.lower().removesuffix(".gz")
    return next((suffix for suffix in KNOWN if name.endswith(suffix)), "")


def records(path: Path) -> Iterator[tuple[int, Record | None]]:
    """(number, record) from 1 on; BrokenFile where the file cannot be read, or not to its end."""
    suffix = suffix_of(path)
    if suffix == ".parquet":
        yield from _parquet(path)
    elif suffix in (".csv", ".tsv"):
        yield from _table(path, "\t" if suffix == ".tsv" else ",")
    elif suffix in (".jsonl", ".json"):
        yield from _json(path)
    else:
        raise BrokenFile(f"is none of {', '.join(KNOWN)}")


def _json(path: Path) -> Iterator[tuple[int, Record | None]]:
    with ByteStream(path) as stream:
        first = stream.read(1 << 16)
        head, newline, _ = first.lstrip().partition(b"\n")
        if head[:1] == b"[" or (newline and head.strip() == b"{"):
            yield from _document(stream, first)
            return
    number = 0
    with ByteStream(path) as stream:
        for line in lines(stream):
            if line is not None and not line.strip():
                continue
            number += 1
            yield number, _object(line)
        if stream.broken:
            raise BrokenFile(stream.broken)


def _document(stream: ByteStream, first: bytes) -> Iterator[tuple[int, Record | None]]:
    """A JSON array, or objects one after the other that go over several lines each."""
    parts, size = [first], len(first)
    while piece := stream.read(1 << 22):
        size += len(piece)
        if size > _MAX_JSON_BYTES:
            raise BrokenFile("is a JSON document of over 1 GB; make it JSON Lines (jq -c '.[]')")
        parts.append(piece)
    if stream.broken:
        raise BrokenFile(stream.broken)
    text = b"".join(parts).decode("utf-8", "replace")
    decoder, place, number = json.JSONDecoder(), 0, 0
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        if place == len(text):
            return
        try:
            found, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            raise BrokenFile("is not valid JSON") from None  # a decoder's error quotes the text
        for record in found if isinstance(found, list) else [found]:
            number += 1
            yield number, _whole(record) if isinstance(record, dict) else None


def _object(line: bytes | None) -> Record | None:
    if line is None:
        return None
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return _whole(record) if isinstance(record, dict) else None


def _whole(value: Any) -> Any:
    """The same, with half a surrogate pair (a lone \\u escape) as U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return value


def _table(path: Path, delimiter: str) -> Iterator[tuple[int, Record | None]]:
    with ByteStream(path) as stream:
        text = io.TextIOWrapper(
            io.BufferedReader(_Raw(stream)), encoding="utf-8", errors="replace", newline=""
        )
        csv.field_size_limit(min(sys.maxsize, 1 << 27))
        rows = csv.reader(text, delimiter=delimiter)
        number = 0
        try:
            head = next(rows, None)
            if head is None:
                raise BrokenFile(stream.broken or "is empty")
            names = [name.strip() for name in head]
            if len(head) == len(MMLU_COLUMNS) and head[-1].strip() in _LETTERS:
                names = list(MMLU_COLUMNS)  # MMLU: the first row is a question already
                number += 1
                yield number, dict(zip(names, head, strict=True))
            elif len(set(names)) != len(names):
                raise BrokenFile("has two columns of one name in its first row")
            for row in rows:
                if not any(cell.strip() for cell in row):
                    continue
                number += 1
                fits = len(row) == len(names)
                yield number, dict(zip(names, row, strict=True)) if fits else None
        except csv.Error:
            raise BrokenFile("is no table that can be read further") from None
        if stream.broken:
            raise BrokenFile(stream.broken)


class _Raw(io.RawIOBase):
    """A ByteStream as a file."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _parquet(path: Path) -> Iterator[tuple[int, Record | None]]:
    with open_parquet(path) as file:
        try:
            batches = file.iter_batches(batch_size=_BATCH_ROWS)
            yield from enumerate((one for batch in batches for one in batch.to_pylist()), 1)
        except (OSError, pa.ArrowException):
            raise BrokenFile("is no whole Parquet file") from None
