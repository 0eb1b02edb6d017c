"""A page as data: sections of sentences, facts, tables and charts. `present` writes it.

A table is there once for whoever writes it: into a page, as CSV or as LaTeX.

Words are text, or pieces of text of which some have a look. Text is text: whatever of a record,
a model or a file stands in it is escaped when it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clinqa.core.figures import Figure
from clinqa.core.wording import MISSING, decimals, interval
from clinqa.kinds.facets.charts import Chart, Plate

__all__ = [
    "SIZES",
    "Block",
    "Bullets",
    "Case",
    "FactList",
    "Fold",
    "Grid",
    "GridCell",
    "GridColumn",
    "GridRow",
    "Legend",
    "PageSection",
    "Panels",
    "Prose",
    "ShellLine",
    "ShownPage",
    "Styled",
    "Subheading",
    "Swatch",
    "Warned",
    "Words",
    "bracketed",
    "in_short",
    "sized_row",
    "spanned",
    "spanned_figure",
]


@dataclass(frozen=True, slots=True)
class GridCell:
    """What stands in one place: its text, and for figures the interval, spread and numbers.

    `mark` is `best`, `second`, `tie` or `low`; `reason` says why a dash stands here; `heat` is 0
    to 9; `n` is how many items a figure is of.
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
    n: int | None = None


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column's key in CSV, its heading, what it means, and the letter of its signature."""

    key: str
    title: str
    meaning: str = ""
    footnote: str = ""
    numeric: bool = True
    figures: bool = False  # CSV then adds `_low`, `_high` and, where it is known, `_n`
    sizes: bool = False  # tells of how many items the figures of its row are


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row: its heading, and the group under whose heading it stands."""

    head: str
    cells: tuple[GridCell, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with its caption; `notes` stand below it, what columns mean stands in their headings
    where `meanings` says so.

    Figures of different numbers of items stand in one column only with these numbers: each cell
    tells its own, unless all of the column have the same or the row's column of `sizes` says it.
    """

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

    def told_n(self, row: GridRow, at: int) -> int | None:
        """How many items the figure in a place is of, where it has to be said there."""
        own = row.cells[at].n
        if own is not None and row.cells[at].text.endswith(f" of {own:,}"):
            return None
        among = {one.cells[at].n for one in self.rows if one.cells[at].value is not None}
        if own is None or len(among - {None}) < 2:
            return None
        pairs = zip(self.columns, row.cells, strict=True)
        said = {cell.n for column, cell in pairs if column.sizes}
        return None if own in said else own


def bracketed(figure: Figure, *, spread: str = "", mark: str = "") -> GridCell:
    """A figure that has a value, its interval in brackets."""
    return GridCell(
        decimals(figure.value), interval(figure.low, figure.high), spread, mark,
        value=figure.value, low=figure.low, high=figure.high, n=figure.n,
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
    cell = spanned(figure.value, figure.low, figure.high, bare="no interval")
    return replace(cell, n=figure.n)


SIZES = GridColumn("items", "Items", sizes=True)


def sized_row(head: str, figures: Sequence[Figure | None], group: str = "") -> GridRow:
    """Figures in a row whose first cell, under SIZES, says of how many items they are."""
    sizes = sorted({one.n for one in figures if one is not None and one.value is not None})
    text = "–".join(f"{n:,}" for n in dict.fromkeys((sizes[0], sizes[-1]))) if sizes else MISSING
    one = sizes[0] if len(sizes) == 1 else None
    return GridRow(head, (GridCell(text, n=one), *map(spanned_figure, figures)), group)


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text with a look: strong, code, hash, none, nb or link (to an id)."""

    text: str
    look: str
    to: str = ""


Words = str | Sequence[str | Styled]


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph; its look is lead, notes or warn."""

    words: Words
    look: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; its look is key (what a reader should leave with) or notes."""

    lines: Sequence[Words]
    look: str = ""


@dataclass(frozen=True, slots=True)
class Warned:
    """What to know before a figure is trusted."""

    words: Words
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class FactList:
    """Names and what is so called."""

    facts: Sequence[tuple[str, Words]]


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading inside a section, of level 3 or 4."""

    text: str
    level: int = 3


@dataclass(frozen=True, slots=True)
class Panels:
    """Charts side by side; wide ones are planes."""

    charts: Sequence[Chart]
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Swatch:
    """What a look means: a dot, ring, part, band or chance, or (without a shape) words alone."""

    text: str
    shape: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Legend:
    """Swatches; in columns where they are many."""

    swatches: Sequence[Swatch]
    columns: bool = False


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A command as it is typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One answer beside its question: text of a record. Tags are a text and whether it is grave."""

    title: str
    name: str
    tags: Sequence[tuple[str, bool]]
    facts: Sequence[tuple[str, Words]]


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks under a line that opens them."""

    title: str
    blocks: Sequence[Block]
    open: bool = False


Block = (
    Prose
    | Bullets
    | Warned
    | FactList
    | Subheading
    | Panels
    | Legend
    | ShellLine
    | Case
    | Fold
    | Grid
)


@dataclass(frozen=True, slots=True)
class PageSection:
    """A section; `nav` is what the contents call it where its heading is long."""

    id: str
    title: str
    blocks: Sequence[Block]
    nav: str = ""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page. `figures` are its pictures for a paper by file name; `data` the same for programs.

    `records` says that text of records stands on it, `own_tables` that the tables of the SCORES
    folder go with its own into a folder of figures.
    """

    title: str
    when: str
    sections: Sequence[PageSection]
    figures: Mapping[str, Plate] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    records: bool = False
    own_tables: bool = False

    def tables(self) -> dict[str, Grid]:
        """Every table of the page by its id, in the page's order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return {grid.id: grid for grid in _grids(blocks)}


def _grids(blocks: Iterator[Block]) -> Iterator[Grid]:
    for block in blocks:
        if isinstance(block, Grid):
            yield block
        elif isinstance(block, Fold):
            yield from _grids(iter(block.blocks))


def in_short(
    sentences: Sequence[Words], *rest: Block, warnings: Sequence[str] = (), words: Words = ""
) -> PageSection:
    """The first section: what a reader should leave with, and what to know before."""
    before: Words = words or (Styled("Before you trust a figure", "strong"),)
    warned = [Warned(before, warnings)] if warnings else []
    return PageSection("summary", "In short", [Bullets(sentences, "key"), *rest, *warned])
