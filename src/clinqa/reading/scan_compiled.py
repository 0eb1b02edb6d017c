"""The compiled engine's side in Python: room for its rows, and the dictionary of statements."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Bytes, Int32s, Ints, UInt64s
from clinqa.reading.pieces import Bounds, Pieces, Statements
from clinqa.reading.scan_dictionary import fill_slots, look_up, unwrap_new
from clinqa.reading.scan_kernel import ScanRows, scan_texts
from clinqa.reading.scan_tables import make_tables, structures_of
from clinqa.reading.sections import SectionTable

__all__ = ["CompiledRuns"]

_BYTES_A_STATEMENT = 48  # a first guess at how many rows a batch needs


class CompiledRuns:
    """One pack's look-ups, and the statements met so far."""

    def __init__(self, table: SectionTable, statements: Statements) -> None:
        self._tables = make_tables(table)
        self._structures = structures_of(table)
        self._statements = statements
        self._slots: Int32s = np.full(1 << 16, -1, np.int32)
        self._hashes: UInt64s = np.empty((1 << 14, 2), np.uint64)

    def scan(self, texts: pa.LargeStringArray, bounds: Bounds | None) -> Pieces:
        if texts.null_count:
            texts = texts.fill_null("")
        data, offsets = _buffers(texts)
        parts: list[ScanRows] = []
        none = np.empty(0, np.int64)
        starts, stops = (
            (none, none)
            if bounds is None
            else tuple(np.ascontiguousarray(side, np.int64) for side in bounds)
        )
        statement: list[Int32s] = []
        at, total = 0, len(offsets) - 1
        while at < total:
            span = int(offsets[total] - offsets[at])
            least = int(offsets[at + 1] - offsets[at]) // 2 + 1
            found = _room(max(least, span // _BYTES_A_STATEMENT + 1024))
            at, count = scan_texts(data, offsets, starts, stops, at, self._tables, found)
            found = ScanRows._make(column[:count] for column in found)
            statement.append(self._number(data, found))
            parts.append(found)
        if len(parts) == 1:
            found, numbers = parts[0], statement[0]
        else:
            parts.append(_room(0))
            found = ScanRows._make(np.concatenate(column) for column in zip(*parts, strict=True))
            numbers = np.concatenate([*statement, np.empty(0, np.int32)])
        return Pieces(
            study=found.study,
            statement=numbers,
            start=found.start,
            end=found.end,
            role=found.role,
            phase=found.phase,
            section=found.section,
            head=found.head,
        )

    def _number(self, data: Bytes, found: ScanRows) -> Int32s:
        """The numbers of a batch's statements; texts of new ones are added to the statements."""
        rows = len(found.study)
        ids = np.empty(rows, np.int32)
        at = 0
        while True:
            count = len(self._statements)
            new = np.empty(rows - at, np.int64)
            at, known = look_up(found.hashes, at, self._slots, self._hashes, count, ids, new)
            self._add(data, found, new[: known - count])
            if at == rows:
                return ids
            self._grow(known)

    def _add(self, data: Bytes, found: ScanRows, new: Ints) -> None:
        if not len(new):
            return
        ends = np.zeros(len(new) + 1, np.int64)
        text = np.empty(int(found.size[new].sum()), np.uint8)
        unwrap_new(data, new, found.at, found.size, self._tables.flags, text, ends)
        column = pa.LargeStringArray.from_buffers(len(new), pa.py_buffer(ends), pa.py_buffer(text))
        names = self._structures
        # texts last: a statement counts as met once its text is there (`Readings.read_new`)
        self._statements.structures.extend(names[code] for code in found.structure[new].tolist())
        self._statements.texts.extend(column.to_pylist())

    def _grow(self, count: int) -> None:
        hashes = np.empty((2 * len(self._hashes), 2), np.uint64)
        hashes[:count] = self._hashes[:count]
        self._hashes = hashes
        self._slots = np.full(4 * len(hashes), -1, np.int32)
        fill_slots(self._slots, hashes, count)


def _buffers(texts: pa.LargeStringArray) -> tuple[Bytes, Ints]:
    """The column's bytes and its offsets, as they lie in memory."""
    _, offsets, data = texts.buffers()
    if not len(texts):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    view = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data is None or not data.size:
        return np.frombuffer(b"\0", np.uint8), view
    return np.frombuffer(data, np.uint8), view


def _room(rows: int) -> ScanRows:
    return ScanRows(
        study=np.empty(rows, np.int32),
        start=np.empty(rows, np.int64),
        end=np.empty(rows, np.int64),
        head=np.empty(rows, np.int64),
        section=np.empty(rows, np.int32),
        structure=np.empty(rows, np.int32),
        role=np.empty(rows, np.uint8),
        phase=np.empty(rows, np.uint8),
        at=np.empty(rows, np.int64),
        size=np.empty(rows, np.int64),
        hashes=np.empty((rows, 2), np.uint64),
    )
