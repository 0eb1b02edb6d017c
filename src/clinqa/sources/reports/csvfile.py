"""CSV files, plain or gzip, streamed: records cut by quote parity, split into columns by Arrow.

Arrow's own stream neither goes on after an unclosed quote nor reads a record larger than its
block, so the file is cut here into pieces of whole records. One pass over the positions of quotes
says where records end and whether every quote stands where one may; only a piece with a wrong one
is read record by record (`csvrepair`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from clinqa.core.arrays import Bytes, Places
from clinqa.core.records import Reason, Reject
from clinqa.sources.reports.csvrepair import Dialect, Repaired, repair
from clinqa.sources.reports.records import BrokenFile, RawRows, ReportColumns, reject
from clinqa.sources.reports.streams import CHUNK, MAX_RECORD_BYTES, ByteStream

__all__ = ["CsvHeader", "read_csv", "read_header"]

_HEADER_BYTES = 1 << 20
_QUOTE = 34


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """The first record of a CSV file."""

    names: tuple[str, ...]
    delimiter: str
    # bytes up to the end of the header, the byte order mark not counted
    size: int
    newline: bytes


def read_header(stream: ByteStream) -> CsvHeader:
    """The column names of a CSV file and its delimiter: , ; tab or |, whichever divides most."""
    head = stream.read(_HEADER_BYTES)
    if not head.strip():
        raise BrokenFile(stream.broken or "is empty")
    newline = b"\n" if b"\n" in head or b"\r" not in head else b"\r"
    skipped = len(head) - len(head.lstrip(b"\r\n"))
    end = skipped
    while True:
        found = head.find(newline, end)
        end = len(head) if found < 0 else found + 1
        if found < 0 or head.count(b'"', skipped, end) % 2 == 0:
            break
    if found < 0 and len(head) == _HEADER_BYTES:
        raise BrokenFile("has no header: its first line does not end")
    line = head[skipped:end].decode("utf-8", "replace").rstrip("\r\n")
    if "\0" in line:
        # every other byte of English in UTF-16 is 0
        wide = line.count("\0") * 3 > len(line)
        raise BrokenFile("is UTF-16 or UTF-32; save it as UTF-8" if wide else "is no text file")
    rows = {mark: _names(line, mark) for mark in ",;\t|"}
    delimiter = max(rows, key=lambda mark: len(rows[mark]))
    return CsvHeader(tuple(rows[delimiter]), delimiter, end, newline)


def _names(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [""])
    except csv.Error:
        return [""]


def read_csv(path: Path, layout: ReportColumns) -> Iterator[RawRows]:
    """The rows of a CSV file in pieces of some megabytes, each column as bytes."""
    with ByteStream(path) as stream:
        header = read_header(stream)
    with ByteStream(path) as stream:
        stream.read(header.size)
        ids = tuple(layout.roles[role] for role in ("study", "subject") if role in layout.roles)
        dialect = Dialect(header.delimiter.encode(), len(header.names), ids)
        yield from _pieces(stream, path, layout, dialect, header.newline)
        if stream.broken:
            raise BrokenFile(stream.broken)


def _pieces(
    stream: ByteStream, path: Path, layout: ReportColumns, dialect: Dialect, newline: bytes
) -> Iterator[RawRows]:
    rest, rows, want, inside = b"", 0, CHUNK, False
    while True:
        fresh = stream.read(want)
        final = len(fresh) < want
        buffer = rest + fresh
        final_text = final and not stream.broken  # else the last record was cut where it broke
        if not buffer:
            return
        cut, clean = (0, False) if inside else _cut(buffer, dialect.delimiter, newline, final_text)
        raw, used = None, cut
        if clean and (cut or len(buffer) < MAX_RECORD_BYTES):
            raw = _parse(memoryview(buffer)[:cut], layout, dialect, rows)
        if raw is None:
            found = repair(buffer, dialect, final=final_text, inside=inside)
            raw, used = _repaired(buffer, path, layout, dialect, rows, found), found.bytes_used
            if not used and len(buffer) >= MAX_RECORD_BYTES:
                if not inside:
                    raw.rejects.append(_broken(path, rows + 1, "record too large"))
                used, found.inside = len(buffer), True
            inside = found.inside
        count = len(raw.rows) + len(raw.rejects)
        rows += count
        if count:
            raw.share = stream.share
            yield raw
        if final:
            return
        rest = buffer[used:]
        # a record larger than the piece: read twice as much before trying again
        want = CHUNK if used else max(CHUNK, len(buffer))


def _cut(buffer: bytes, delimiter: bytes, newline: bytes, final: bool) -> tuple[int, bool]:
    """Where the last whole record ends, and whether every quote stands where one may."""
    data = np.frombuffer(buffer, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    if not _well_quoted(data, quotes, delimiter[0]):
        return 0, False
    if final:
        return len(buffer), len(quotes) % 2 == 0
    end = len(buffer)
    while True:
        place = buffer.rfind(newline, 0, end)
        if place < 0:
            return 0, True
        before = int(np.searchsorted(quotes, place))
        if before % 2 == 0:
            return place + 1, True
        end = int(quotes[before - 1])


def _well_quoted(data: Bytes, quotes: Places, delimiter: int) -> bool:
    """Does each opening quote follow, and each closing one precede, a delimiter or line end?
    A doubled quote is a closing and an opening one side by side."""
    may = np.zeros(256, dtype=bool)
    may[[delimiter, 10, 13, _QUOTE]] = True
    opening, closing = quotes[0::2], quotes[1::2]
    ahead = opening[opening > 0] - 1
    behind = closing[closing < len(data) - 1] + 1
    return bool(may[data[ahead]].all() and may[data[behind]].all())


def _parse(
    buffer: bytes | memoryview, layout: ReportColumns, dialect: Dialect, before: int
) -> RawRows | None:
    """Columns of strict records; None if a row has the wrong number of fields.

    Arrow's handler of such rows decodes them, and fails at the first one that is no UTF-8, so
    `repair` finds them instead.
    """
    wanted = {role: f"c{place}" for role, place in layout.roles.items()}
    # pieces are megabytes: nothing here copies one that begins with a record
    if not bytes(buffer[:64]).strip(b"\r\n") and not bytes(buffer).strip(b"\r\n"):
        empty = {role: pa.array([], pa.large_binary()) for role in wanted}
        return RawRows(empty, pa.array([], pa.int64()))
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(buffer),
            read_options=arrow_csv.ReadOptions(
                column_names=[f"c{place}" for place in range(dialect.fields)],
                use_threads=False,
                block_size=len(buffer) + 1,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=dialect.delimiter.decode(), newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=sorted(set(wanted.values())),
                column_types={name: pa.large_binary() for name in wanted.values()},
            ),
        )
    except pa.ArrowInvalid:
        return None
    numbers = np.arange(before + 1, before + table.num_rows + 1)
    columns = {role: table[name] for role, name in wanted.items()}
    one = {
        role: column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        for role, column in columns.items()
    }
    return RawRows(one, pa.array(numbers, pa.int64()))


def _repaired(
    buffer: bytes, path: Path, layout: ReportColumns, dialect: Dialect, before: int, found: Repaired
) -> RawRows:
    clean = b"".join(buffer[start:end].rstrip(b"\r\n") + b"\n" for start, end, _ in found.good)
    raw = _parse(clean, layout, dialect, 0)
    if raw is None or len(raw.rows) != len(found.good):
        raise BrokenFile(f"cannot be split into columns after row {before}")
    raw.rows = pa.array([before + row + 1 for _, _, row in found.good], pa.int64())
    raw.rejects += [_broken(path, before + row + 1, why) for row, why in found.bad]
    return raw


def _broken(path: Path, row: int, why: str) -> Reject:
    return reject(Reason.BROKEN_ROW, path, row, why=why)
