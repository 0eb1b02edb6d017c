"""A printed table of counts: do its rows sum to the totals that stand below them?

The file is a CSV: its first row names the columns, its first column the rows. A row named total,
sum, all or overall (or grand total; marks around the word do not matter) is what the table prints
as its totals; every other row counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.builders.banks.specialty.assess import totals
from clinqa.core.errors import SourceError
from clinqa.studying.cells import read_cells

__all__ = ["Summed", "read_totals"]

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
    lines = read_cells(path)
    if len(lines) < 2 or len(lines[0]) < 2:
        raise SourceError(f"{path}: a row of names and rows of counts are expected")
    names = lines[0][1:]
    if len(set(names)) < len(names):
        raise SourceError(f"{path}: two columns have one name")
    rows: list[dict[str, int | str]] = []
    printed: dict[str, int] | None = None
    for number, cells in enumerate(lines[1:], start=2):
        counts = _counts(path, number, names, cells)
        if " ".join(_WORD.findall(cells[0].casefold())) in _TOTAL:
            if printed is not None:
                raise SourceError(f"{path}: row {number} is a second row of totals")
            printed = counts
        else:
            rows.append({"": cells[0], **counts})
    if not rows:
        raise SourceError(f"{path}: holds totals and no rows")
    sums, wrong = totals(rows, printed)
    return Summed(sums, printed or {}, wrong, len(rows))


def _counts(path: Path, number: int, names: Sequence[str], cells: Sequence[str]) -> dict[str, int]:
    if len(cells) != len(names) + 1:
        raise SourceError(f"{path}: row {number} has {len(cells)} cells, not {len(names) + 1}")
    try:
        return {
            name: int(cell.replace(",", "").replace(" ", "").replace("\u202f", ""))
            for name, cell in zip(names, cells[1:], strict=True)
        }
    except ValueError as error:
        raise SourceError(f"{path}: row {number} holds a cell that is no whole number") from error
