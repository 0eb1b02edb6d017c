"""What every distinct statement says, as columns: a statement is read once, then looked up.

Memory grows with the number of distinct statements, not of reports.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Integers, Ints, Records
from clinqa.core.records import Method
from clinqa.reading.findings import Reading
from clinqa.reading.labeller import Labeller
from clinqa.reading.pieces import STATEMENTS, Statements
from clinqa.reading.scan_tables import PHASES

__all__ = [
    "CORRECTS",
    "EXPLICIT",
    "HEDGED",
    "METHODS",
    "PHASES",
    "PINNED",
    "PROSTHESIS",
    "NewReadings",
    "Readings",
    "spread",
]

METHODS = (Method.LEXICON, Method.GRAMMAR)
EXPLICIT, HEDGED, PROSTHESIS, CORRECTS, PINNED = 1, 2, 4, 8, 16

_STATEMENT = np.dtype(
    [
        ("first", np.int64),  # of its findings
        ("findings", np.int32),
        ("named", np.int32),  # distinct abnormalities
        ("length", np.int32),  # characters of the unwrapped text
        ("method", np.uint8),
    ]
)
_FINDING = np.dtype(
    [("abnormality", np.int16), ("level", np.int8), ("phase", np.uint8), ("flags", np.uint8)]
)


class _Column:
    """A growing array: room doubles, so that adding is cheap."""

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self._room = np.empty(1024, dtype)
        self.size = 0

    @property
    def rows(self) -> Records:
        return self._room[: self.size]

    def extend(self, rows: Records) -> None:
        needed = self.size + len(rows)
        if needed > len(self._room):
            grown = np.empty(max(needed, 2 * len(self._room)), self._room.dtype)
            grown[: self.size] = self.rows
            self._room = grown
        self._room[self.size : needed] = rows
        self.size = needed


@dataclass(frozen=True, slots=True)
class NewReadings:
    """Readings that one process has made and another enters: rows of both tables, and words."""

    texts: list[str]
    structures: list[str]
    statements: Records
    findings: Records


class Readings:
    """What each of the statements in `words` says, by its number there."""

    def __init__(self, abnormalities: Sequence[str], words: Statements) -> None:
        self.words = words
        self.abnormalities = tuple(abnormalities)
        self._code = {name: code for code, name in enumerate(self.abnormalities)}
        self._phase = {phase: code for code, phase in enumerate(PHASES)}
        self._statements = _Column(_STATEMENT)
        self._findings = _Column(_FINDING)

    def __len__(self) -> int:
        return self._statements.size

    @property
    def statements(self) -> Records:
        """A row a statement: first, findings, named, length, method."""
        return self._statements.rows

    @property
    def findings(self) -> Records:
        """A row a finding: abnormality, level, phase, flags."""
        return self._findings.rows

    def read_new(self, labeller: Labeller) -> None:
        """Read the statements that were met since the last call, each once."""
        known, texts, structures = len(self), self.words.texts, self.words.structures
        with _no_collection():
            self._add(
                (texts[number], labeller.read(texts[number], structures[number]))
                for number in range(known, len(texts))
            )

    def _add(self, read: Iterable[tuple[str, Reading]]) -> None:
        statements: list[tuple[int, int, int, int, int]] = []
        findings: list[tuple[int, int, int, int]] = []
        base = self._findings.size
        for text, reading in read:
            first = base + len(findings)
            for one in reading.findings:
                flags = (
                    EXPLICIT * one.explicit
                    | HEDGED * one.hedged
                    | PROSTHESIS * one.prosthesis
                    | CORRECTS * one.corrects
                    | PINNED * one.pinned
                )
                code = self._code[one.abnormality]
                findings.append((code, one.level, self._phase[one.phase], flags))
            named = len({one.abnormality for one in reading.findings})
            method = METHODS.index(reading.method)
            statements.append((first, len(reading.findings), named, len(text), method))
        self._statements.extend(np.array(statements, _STATEMENT))
        self._findings.extend(np.array(findings, _FINDING))

    def since(self, number: int) -> NewReadings:
        """The statements from `number` on, to be entered elsewhere."""
        statements = self.statements[number:].copy()
        first = int(statements["first"][0]) if len(statements) else 0
        statements["first"] -= first
        return NewReadings(
            self.words.texts[number:],
            self.words.structures[number:],
            statements,
            self.findings[first:].copy(),
        )

    def enter(self, new: NewReadings, chosen: Sequence[int]) -> None:
        """Enter the chosen ones of another process's readings."""
        statements = new.statements[np.array(chosen, np.int64)]
        sizes = statements["findings"].astype(np.int64)
        places = spread(statements["first"], sizes)
        ends = np.cumsum(sizes)
        statements["first"] = self._findings.size + ends - sizes
        self._statements.extend(statements)
        self._findings.extend(new.findings[places])
        self.words.texts += [new.texts[number] for number in chosen]
        self.words.structures += [new.structures[number] for number in chosen]

    def table(self) -> pa.Table:
        """Structure, text, labels, method of every statement, as `DatasetWriter.finish` takes."""
        found, statements = self.findings, self.statements
        ends = np.append(statements["first"], len(found)).astype(np.int32)
        names = pa.DictionaryArray.from_arrays(found["abnormality"].copy(), self.abnormalities)
        phases = pa.DictionaryArray.from_arrays(
            found["phase"].astype(np.int8), [phase.value for phase in PHASES]
        )
        parts = [
            names.cast(pa.string()),
            pa.array(found["level"]),
            pa.array((found["flags"] & EXPLICIT) > 0),
            pa.array((found["flags"] & HEDGED) > 0),
            phases.cast(pa.string()),
        ]
        kind = STATEMENTS.field("labels").type
        labels = pa.ListArray.from_arrays(
            pa.array(ends), pa.StructArray.from_arrays(parts, fields=list(kind.value_type))
        )
        methods = pa.DictionaryArray.from_arrays(
            statements["method"].astype(np.int8), [method.value for method in METHODS]
        )
        return pa.table(
            {
                "structure": pa.array(self.words.structures, pa.string()),
                "text": pa.array(self.words.texts, pa.string()),
                "labels": labels.cast(kind),
                "method": methods.cast(pa.string()),
            }
        )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Reading makes many small objects and no cycles: looking for cycles takes a tenth of it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def spread(first: Integers, sizes: Integers) -> Ints:
    """The numbers first[i], first[i] + 1, … of each run, runs one after the other.

    >>> spread(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    shift = np.asarray(first, np.int64) - (ends - sizes)
    total = int(ends[-1]) if len(ends) else 0
    made: Ints = np.arange(total, dtype=np.int64) + np.repeat(shift, sizes)
    return made
