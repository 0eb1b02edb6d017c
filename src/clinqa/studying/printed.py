"""What a paper prints as a CSV file: a matrix, or a table of counts.

The first row names the columns, the first column the rows. Of a matrix the first row is what was
tested on, the first column what was trained on: what its diagonal says is told, as far as a printed
matrix can say it. Rows and columns are brought into one order by name; rows that are no column
(all, none) are told and left out. Numbers may be shares or percentages: the gap has the same unit.

Of a table of counts: do its rows sum to the totals that stand below them? A row named total, sum,
all or overall (or grand total; marks around the word do not matter) is what the table prints as its
totals; every other row counts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from clinqa.builders.banks.specialty.assess import totals
from clinqa.core.arrays import Floats
from clinqa.core.errors import SourceError
from clinqa.core.small_tables import delimiter_of, text_of
from clinqa.core.yamlfile import read_bytes
from clinqa.stats.crossed import FEWEST_PERMUTED, centred_diagonal, gap, permutation_test

__all__ = [
    "Printed",
    "Summed",
    "figures_of",
    "lines_of",
    "read_cells",
    "read_matrix",
    "read_totals",
]

C = TypeVar("C")
_WHOLE = 1.5  # no share is larger


@dataclass(frozen=True, slots=True)
class Printed:
    """A square matrix with its names."""

    names: Sequence[str]
    cells: Floats
    left_out: Sequence[str]
    percent: bool = False  # every cell says so


def read_matrix(path: Path) -> Printed:
    """The matrix in a CSV file; SourceError where it is none."""
    expected = "a row of names and at least two rows of numbers"
    columns, rows = _read(path, 3, expected, _number, "number")
    found: dict[str, list[tuple[float, bool]]] = {}
    for number, name, cells in rows:
        if name in found:
            raise SourceError(f"{path}: row {number} is named as one before it")
        found[name] = cells
    names = [name for name in columns if name in found]
    if len(names) < 2:
        raise SourceError(f"{path}: fewer than two names stand over a column and before a row")
    places = [columns.index(name) for name in names]
    pairs = np.array([[found[name][place] for place in places] for name in names])
    values, marked = pairs[..., 0], pairs[..., 1].astype(bool)
    if marked.any() != marked.all():
        raise SourceError(f"{path}: some cells have a % and some do not; write all in one unit")
    if not np.isfinite(values).all():
        raise SourceError(f"{path}: holds a cell that is no number")
    left_out = [name for name in [*found, *columns] if name not in names]
    return Printed(names, values, left_out, bool(marked.all()))


def _read(
    path: Path, least: int, expected: str, cell: Callable[[str], C], what: str
) -> tuple[list[str], list[tuple[int, str, list[C]]]]:
    """The names of the columns; of each row its number, name and cells. SourceError otherwise."""
    rows = read_cells(path)
    if len(rows) < least or len(rows[0]) < least:
        raise SourceError(f"{path}: {expected} are expected")
    columns, made = rows[0][1:], []
    if len(set(columns)) < len(columns):
        raise SourceError(f"{path}: two columns have one name")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise SourceError(f"{path}: row {number} has {len(row)} cells, not {len(rows[0])}")
        try:
            made.append((number, row[0], [cell(one) for one in row[1:]]))
        except ValueError as error:
            raise SourceError(f"{path}: row {number} holds a cell that is no {what}") from error
    return columns, made


def _number(cell: str) -> tuple[float, bool]:
    """The number of a cell, and whether a % follows it."""
    return float(cell.rstrip("%")), cell.endswith("%")


def figures_of(printed: Printed) -> dict[str, float | int | None]:
    """The same as numbers, for a program."""
    many = len(printed.names)
    found = permutation_test(printed.cells) if many >= FEWEST_PERMUTED else None
    return {
        "specialties": many,
        "gap": gap(printed.cells),
        "p": None if found is None else found.p,
        "arrangements": None if found is None else found.arrangements,
    }


def lines_of(printed: Printed) -> list[str]:
    """What the matrix says, a line each."""
    k = len(printed.names)
    lines = [f"diagonal minus off-diagonal {gap(printed.cells):+.4g} ({k} specialties)"]
    if k >= FEWEST_PERMUTED:
        found = permutation_test(printed.cells)
        how = f"{found.as_large:,} of {found.arrangements:,} arrangements are as large"
        lines.append(f"one-sided p {found.p:.4f} ({how})")
    else:
        many = int(np.prod(np.arange(1, k + 1)))
        lines.append(
            f"no permutation test: of {many} arrangements none can have a p below 1/{many}; "
            f"{FEWEST_PERMUTED} specialties are needed"
        )
    width = max(map(len, printed.names))
    lines.append("above what its row and its column let one expect:")
    lines += [
        f"  {name:<{width}} {value:+.4g}"
        for name, value in zip(printed.names, centred_diagonal(printed.cells), strict=True)
    ]
    if printed.left_out:
        lines.append(f"left out, no square: {', '.join(printed.left_out)}")
    small = (printed.cells > 0) & (printed.cells < 1)
    if not printed.percent and printed.cells.max() > _WHOLE and small.any():
        lines.append("some cells are below 1 and some are above: shares beside percentages?")
    lines.append("no interval: a printed matrix does not say how many questions it stands on")
    return lines


_MOST = 1 << 20


def read_cells(path: Path) -> list[list[str]]:
    """Rows of cells without blanks around them; rows that hold nothing are left out."""
    # a mark of the byte order is no part of the first cell, and a line may end in any way
    text, _ = text_of(path, read_bytes(path, _MOST))
    try:
        found = csv.reader(io.StringIO(text, None), delimiter=delimiter_of(text))
        rows = [[cell.strip() for cell in row] for row in found]
    except csv.Error as error:
        raise SourceError(f"{path}: cannot be read as CSV") from error
    return [row for row in rows if any(row)]


_WORD = re.compile(r"[^\W_]+")
_TOTAL = frozenset({"total", "totals", "sum", "all", "overall", "grand total", "sum total"})


@dataclass(frozen=True, slots=True)
class Summed:
    """The sums of the rows, and which printed totals they contradict."""

    sums: Mapping[str, int]
    printed: Mapping[str, int]
    wrong: Sequence[str]
    rows: int

    def lines(self) -> list[str]:
        """A line a column."""
        made = []
        for name, value in self.sums.items():
            said = self.printed.get(name)
            told = "no total is printed" if said is None else f"printed {said:,}"
            mark = "  <- differs" if said is not None and said != value else ""
            made.append(f"{name}: {self.rows} rows sum to {value:,}; {told}{mark}")
        return made


def read_totals(path: Path) -> Summed:
    """Sum the table in a CSV file; SourceError where a cell is no whole number."""
    expected = "a row of names and rows of counts"
    names, lines = _read(path, 2, expected, _count, "whole number")
    rows: list[dict[str, int | str]] = []
    printed: dict[str, int] | None = None
    for number, name, cells in lines:
        counts = dict(zip(names, cells, strict=True))
        if " ".join(_WORD.findall(name.casefold())) in _TOTAL:
            if printed is not None:
                raise SourceError(f"{path}: row {number} is a second row of totals")
            printed = counts
        else:
            rows.append({"": name, **counts})
    if not rows:
        raise SourceError(f"{path}: holds totals and no rows")
    sums, wrong = totals(rows, printed)
    return Summed(sums, printed or {}, wrong, len(rows))


def _count(cell: str) -> int:
    return int(cell.replace(",", "").replace(" ", "").replace("\u202f", ""))
