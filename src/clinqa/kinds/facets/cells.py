"""A table once, for whoever writes it: into a page, as CSV or as LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clinqa.core.figures import Figure
from clinqa.core.wording import MISSING, decimals, interval

__all__ = ["Grid", "GridCell", "GridColumn", "GridRow", "bracketed", "spanned", "spanned_figure"]


@dataclass(frozen=True, slots=True)
class GridCell:
    """What stands in one place: its text, and for figures the interval, spread and numbers.

    `mark` is `best`, `second`, `tie` or `low`; `reason` says why a dash stands here; `heat` is 0
    to 9.
    """

    text: str
    interval: str = ""
    spread: str = ""
    mark: str = ""
    reason: str = ""
    heat: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column's key in CSV, its heading, what it means, and the letter of its signature."""

    key: str
    title: str
    meaning: str = ""
    footnote: str = ""
    numeric: bool = True
    figures: bool = False  # CSV then adds `_low` and `_high`


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row: its heading, and the group under whose heading it stands."""

    head: str
    cells: tuple[GridCell, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its caption; `notes` stand below it, what columns mean stands in their headings
    where `meanings` says so."""

    id: str
    caption: str
    head: str
    columns: tuple[GridColumn, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...] = ()
    footnotes: tuple[tuple[str, str], ...] = ()
    meanings: bool = False

    def grouped(self) -> list[tuple[str, list[GridRow]]]:
        """The rows under the headings of their groups, in order."""
        groups: dict[str, list[GridRow]] = {}
        for row in self.rows:
            groups.setdefault(row.group, []).append(row)
        return list(groups.items())


def bracketed(figure: Figure, *, spread: str = "", mark: str = "") -> GridCell:
    """A figure that has a value, its interval in brackets."""
    return GridCell(
        decimals(figure.value), interval(figure.low, figure.high), spread, mark,
        value=figure.value, low=figure.low, high=figure.high,
    )  # fmt: skip


def spanned(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    *,
    write: Callable[[float | None], str] = decimals,
    bare: str = "",
) -> GridCell:
    """A number with its interval in words; `bare` stands where it has none.

    >>> spanned(0.5, 0.4, 0.6).interval, spanned(0.5, bare="no interval").interval
    ('0.400 to 0.600', 'no interval')
    """
    if value is None:
        return GridCell(MISSING)
    known = low is not None and high is not None
    words = f"{write(low)} to {write(high)}" if known else bare
    return GridCell(write(value), words, value=value, low=low, high=high)


def spanned_figure(figure: Figure | None) -> GridCell:
    """A figure with its interval in words, or a dash."""
    if figure is None:
        return GridCell(MISSING)
    return spanned(figure.value, figure.low, figure.high, bare="no interval")
