"""A matrix as a paper prints it: what its diagonal says, as far as a printed matrix can say it.

The file is a CSV: its first row names what was tested on, its first column what was trained on.
Rows and columns are brought into one order by name; rows that are no column (all, none) are told
and left out. Numbers may be shares or percentages: the gap has the same unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.core.errors import SourceError
from clinqa.stats.diagonal import FEWEST_PERMUTED, centred_diagonal, gap, permutation_test
from clinqa.studying.cells import read_cells

__all__ = ["Printed", "figures_of", "lines_of", "read_matrix"]

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
    rows = read_cells(path)
    if len(rows) < 3 or len(rows[0]) < 3:
        raise SourceError(f"{path}: a row of names and at least two rows of numbers are expected")
    columns = rows[0][1:]
    found = _numbers(path, rows)
    if len(set(columns)) < len(columns):
        raise SourceError(f"{path}: two columns have one name")
    names = [name for name in columns if name in found]
    if len(names) < 2:
        raise SourceError(f"{path}: fewer than two names stand over a column and before a row")
    places = [columns.index(name) for name in names]
    pairs = np.array([[found[name][place] for place in places] for name in names])
    cells, marked = pairs[..., 0], pairs[..., 1].astype(bool)
    if marked.any() != marked.all():
        raise SourceError(f"{path}: some cells have a % and some do not; write all in one unit")
    if not np.isfinite(cells).all():
        raise SourceError(f"{path}: holds a cell that is no number")
    left_out = [name for name in [*found, *columns] if name not in names]
    return Printed(names, cells, left_out, bool(marked.all()))


def _numbers(path: Path, rows: Sequence[Sequence[str]]) -> dict[str, list[tuple[float, bool]]]:
    """The cells of each row by its name: a number, and whether a % follows it."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise SourceError(f"{path}: row {number} has {len(row)} cells, not {len(rows[0])}")
        if row[0] in found:
            raise SourceError(f"{path}: row {number} is named as one before it")
        try:
            found[row[0]] = [(float(cell.rstrip("%")), cell.endswith("%")) for cell in row[1:]]
        except ValueError as error:
            raise SourceError(f"{path}: row {number} holds a cell that is no number") from error
    return found


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
