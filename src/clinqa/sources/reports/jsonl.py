"""JSON Lines, plain or gzip: one object a line; a bad line is a reject and reading goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from clinqa.core.records import Reason, Reject
from clinqa.sources.reports.records import BrokenFile, RawRows, ReportColumns, reject
from clinqa.sources.reports.streams import CHUNK, MAX_RECORD_BYTES, ByteStream, lines

__all__ = ["read_jsonl", "read_keys"]

_PEEK_BYTES = 1 << 20
_PEEK_LINES = 100
_PIECE_ROWS = 4096
_PIECE_CHARS = 8 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")


_KINDS = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    type(None): "null",
}


class _BadLine(Exception):
    """A line that is no usable record; the message holds no text of it."""


def read_keys(stream: ByteStream) -> tuple[str, ...]:
    """The keys of the first objects, in order of appearance; they stand for a table's header."""
    head = stream.read(_PEEK_BYTES)
    more = len(head) == _PEEK_BYTES
    while more and b"\n" not in head and len(head) < MAX_RECORD_BYTES:
        piece = stream.read(CHUNK)
        head, more = head + piece, len(piece) == CHUNK
    if not head.strip():
        raise BrokenFile(stream.broken or "is empty")
    keys: dict[str, None] = {}
    whole = head.split(b"\n")
    if more and len(whole) > 1:
        whole.pop()
    objects = 0
    for line in whole[:_PEEK_LINES]:
        try:
            keys.update(dict.fromkeys(_object(line.decode("utf-8", "replace"))))
            objects += 1
        except _BadLine:
            continue
    if not objects:
        raise BrokenFile(
            "has no JSON object in its first lines; one object a line is needed "
            "(jq -c '.[]' makes lines of an array)"
        )
    return tuple(keys)


@dataclass(slots=True)
class _Piece:
    """Rows gathered until there are enough to hand on."""

    columns: dict[str, list[str | None]]
    rows: list[int] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    chars: int = 0
    bad_bytes: int = 0
    bad_texts: int = 0

    def full(self) -> bool:
        return len(self.rows) + len(self.rejects) >= _PIECE_ROWS or self.chars >= _PIECE_CHARS

    def raw(self) -> RawRows:
        arrays = {
            role: pa.array(values, pa.large_string() if role == "text" else pa.string())
            for role, values in self.columns.items()
        }
        numbers = pa.array(self.rows, pa.int64())
        return RawRows(arrays, numbers, self.rejects, self.bad_bytes, self.bad_texts)


def read_jsonl(path: Path, layout: ReportColumns) -> Iterator[RawRows]:
    """The rows of a JSON Lines file in pieces of some thousand; blank lines are no rows."""
    names = {role: layout.names[place] for role, place in layout.roles.items()}
    piece = _Piece({role: [] for role in names})
    row = 0
    with ByteStream(path) as stream:
        for line in lines(stream):
            if line is not None and (not line or line.isspace()):
                continue
            row += 1
            try:
                _add(piece, line, names, row)
            except _BadLine as bad:
                piece.rejects.append(reject(Reason.BROKEN_ROW, path, row, why=str(bad)))
            if piece.full():
                raw = piece.raw()
                raw.share = stream.share
                yield raw
                piece = _Piece({role: [] for role in names})
        yield piece.raw()
        if stream.broken:
            raise BrokenFile(stream.broken)


def _add(piece: _Piece, line: bytes | None, names: dict[str, str], row: int) -> None:
    if line is None:
        raise _BadLine("line too long")
    bad = 0
    try:
        decoded = line.decode()
    except UnicodeDecodeError:
        decoded = line.decode("utf-8", "replace")
        bad = decoded.count("\ufffd") - line.count(b"\xef\xbf\xbd")
    record = _object(decoded)
    values: dict[str, str | None] = {}
    for role, name in names.items():
        value = record.get(name)
        if role == "text":
            if value is not None and not isinstance(value, str):
                raise _BadLine(f"the text is {_kind(value)}, not a string")
        else:
            value = _as_id(value)
        if isinstance(value, str) and _SURROGATE.search(value):
            # half a surrogate pair from a \u escape is no character
            value, lone = _SURROGATE.subn("\ufffd", value)
            bad += lone
        values[role] = value
    for role, value in values.items():
        piece.columns[role].append(value)
    piece.rows.append(row)
    piece.chars += len(values["text"] or "")
    piece.bad_bytes += bad
    piece.bad_texts += bad > 0


def _object(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        # "from None": a decoder's error quotes the document
        raise _BadLine("not valid JSON") from None
    if not isinstance(record, dict):
        raise _BadLine(f"{_kind(record)}, not an object")
    return record


def _as_id(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _BadLine(f"an id is {_kind(value)}")
    if isinstance(value, float):
        if value != value:  # a missing number written as NaN
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "an object")
