"""From a column of report texts to statement occurrences; each distinct statement is kept once.

Two engines give equal rows. `python` calls `segment` for each text. `compiled` does the same over
the UTF-8 bytes of the Arrow column (`scan_kernel`, numba) and lets only statements never met
before reach Python.

>>> from clinqa.reading.sections import SectionTable
>>> from clinqa.packs.loader import builtin_pack
>>> scanner = Scanner(SectionTable(builtin_pack("echo")), "python")
>>> pieces = scanner.scan(pa.array(["MITRAL VALVE: Mild  MR. No MS."], pa.large_string()))
>>> [(scanner.statements.structures[i], scanner.statements.texts[i]) for i in pieces.statement]
[('MV', 'Mild MR.'), ('MV', 'No MS.')]
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from clinqa.core.errors import MissingExtra
from clinqa.reading.pieces import Bounds, Pieces, Scans, Statements
from clinqa.reading.scan_tables import PHASES
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.segment import segment, unwrap

__all__ = ["ScanEngine", "Scanner"]

ScanEngine = Literal["auto", "compiled", "python"]

# of the columns of `Pieces`
_TYPES = (np.int32, np.int32, np.int64, np.int64, np.uint8, np.uint8, np.int32, np.int64)
FEW = 1000  # reports up to which loading the compiled engine takes longer than it saves


class Scanner:
    """Scans batches one after another, numbering statements as they come.

    `size_hint`: how many texts will come in all, if known; `auto` takes the python engine for
    few, and where the extra `fast` is not installed.
    """

    def __init__(
        self, table: SectionTable, engine: ScanEngine = "auto", *, size_hint: int | None = None
    ) -> None:
        self.statements = Statements()
        present = importlib.util.find_spec("numba") is not None
        if engine == "compiled" and not present:
            raise MissingExtra("fast", "numba, for the compiled engine,")
        if engine == "auto":
            few = size_hint is not None and size_hint <= FEW
            engine = "compiled" if present and not few else "python"
        self.engine: ScanEngine = engine
        self._runs: Scans
        if engine == "compiled":
            from clinqa.reading.scan_compiled import CompiledRuns

            self._runs = CompiledRuns(table, self.statements)
        else:
            self._runs = _PythonRuns(table, self.statements)

    def scan(
        self, texts: pa.LargeStringArray | pa.ChunkedArray, bounds: Bounds | None = None
    ) -> Pieces:
        """The statements of `texts`; a null has none.

        `bounds`: where each text begins and ends to count, in code points (one block of a note).
        """
        if bounds is not None and not len(bounds[0]) == len(bounds[1]) == len(texts):
            raise ValueError("bounds: one start and one end are needed for each text")
        chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
        parts: list[Pieces] = []
        at = 0
        for chunk in chunks:
            if not pa.types.is_large_string(chunk.type):
                chunk = chunk.cast(pa.large_string())
            rows = slice(at, at + len(chunk))
            part = self._runs.scan(
                chunk, None if bounds is None else (bounds[0][rows], bounds[1][rows])
            )
            if at:
                part.study[:] += at
            parts.append(part)
            at = rows.stop
        return parts[0] if len(parts) == 1 else _join(parts)


def _join(parts: list[Pieces]) -> Pieces:
    columns: list[Any] = [
        np.concatenate([getattr(part, column.name) for part in parts] or [np.empty(0, kind)])
        for column, kind in zip(fields(Pieces), _TYPES, strict=True)
    ]
    return Pieces(*columns)


class _PythonRuns:
    """`segment` for each text."""

    def __init__(self, table: SectionTable, statements: Statements) -> None:
        self._table, self._statements = table, statements
        self._numbers: dict[tuple[str, str], int] = {}

    def scan(self, texts: pa.LargeStringArray, bounds: Bounds | None) -> Pieces:
        rows = list(self._rows(texts, bounds))
        columns = zip(*rows, strict=True) if rows else ((),) * 8
        made: list[Any] = [
            np.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)
        ]
        return Pieces(*made)

    def _rows(
        self, texts: pa.LargeStringArray, bounds: Bounds | None
    ) -> Iterator[tuple[int, int, int, int, int, int, int, int]]:
        phases = {phase: number for number, phase in enumerate(PHASES)}
        for study, text in enumerate(texts.to_pylist()):
            if not text:
                continue
            start, stop = 0, len(text)
            if bounds is not None:
                start = min(max(int(bounds[0][study]), 0), stop)
                stop = min(max(int(bounds[1][study]), 0), stop)
            for piece in segment(text, self._table, start, stop):
                if piece.role is Role.IGNORE:
                    continue
                statement = self._number(piece.structure, unwrap(text[piece.start : piece.end]))
                yield (
                    study, statement, piece.start, piece.end, int(piece.role),
                    phases[piece.phase], piece.section, piece.head,
                )  # fmt: skip

    def _number(self, structure: str, text: str) -> int:
        number = self._numbers.setdefault((structure, text), len(self._numbers))
        if number == len(self._statements):
            self._statements.structures.append(structure)
            self._statements.texts.append(text)
        return number
