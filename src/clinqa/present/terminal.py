"""Descriptions as text, for a terminal and for a pipe: one width, one way to write numbers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.visible import visible
from clinqa.kinds.facets.describes import Cell, Listed, Steps, Titled, Worded

__all__ = ["TextPage", "count", "fitting_counts", "rendered", "short_count"]

NARROW, WIDE = 60, 160


@dataclass(frozen=True, slots=True)
class TextPage:
    """What is written on: its width, whether it takes colours and characters beyond ASCII."""

    width: int = 100
    colour: bool = False
    unicode: bool = True

    def console(self) -> Console:
        """A console that writes into memory, at this width."""
        return Console(
            file=io.StringIO(),
            width=min(max(self.width, NARROW), WIDE),
            force_terminal=self.colour,
            no_color=not self.colour,
            color_system="standard" if self.colour else None,
            legacy_windows=False,
            highlight=False,
            emoji=False,
            markup=False,
        )

    @property
    def inner(self) -> int:
        """Columns there are."""
        return min(max(self.width, NARROW), WIDE)

    def render(self, parts: Iterable[RenderableType]) -> str:
        """The parts below each other, as text; no line ends in blanks."""
        console = self.console()
        for part in parts:
            console.print(part)
        file = console.file
        text = file.getvalue() if isinstance(file, io.StringIO) else ""
        if not self.unicode:
            text = text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
        return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def rendered(pieces: Iterable[Titled | Worded | Listed | Steps], page: TextPage) -> str:
    """The pieces of a description below each other."""
    return page.render(map(partial(_drawn, page=page), pieces))


def _drawn(piece: Titled | Worded | Listed | Steps, page: TextPage) -> RenderableType:
    match piece:
        case Titled(title, note):
            text = Text("\n").append(visible(title), style="bold")
            return text.append(f"  {note}", style="dim") if note else text
        case Worded(parts):
            return Text().join(Text(visible(part), style=look) for part, look in parts)
        case Listed():
            return _table(piece, page)
        case Steps():
            return _steps(piece, page)


def _steps(flow: Steps, page: TextPage) -> Table:
    """A name, a number, and a remark or a bar."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    most = max((step.bar or 0 for step in flow.steps), default=0)
    room = max(10, min(40, page.inner - 45))
    for step in flow.steps:
        look = "bold" if step.strong else ""
        number = "–" if step.number is None else f"{step.number:,}"
        beside = Text(step.note, "dim")
        if step.bar is not None and most:
            beside = Text("█" * max(bool(step.bar), round(room * step.bar / most)), "cyan")
        table.add_row(Text(step.name, look), Text(number, look), beside)
    return table


def _table(listed: Listed, page: TextPage) -> Table:
    """A table without frame."""
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        # the box sets one blank between columns; a wide page has room for two
        padding=(0, 1 if page.inner >= 100 else 0, 0, 0),
        header_style="bold",
        show_edge=False,
    )
    first, *others = listed.columns
    table.add_column(first, justify="left", overflow="fold", min_width=8)
    for column in others:
        table.add_column(column, justify="right", no_wrap=True)
    if listed.prose:
        last = table.columns[-1]
        last.justify, last.no_wrap, last.overflow = "left", False, "fold"
    bars = None if listed.wide and page.inner < 100 else listed.bars
    if bars is not None:
        table.add_column("", justify="left", no_wrap=True)
    *rows, total = _written(listed, page)
    most = max(bars or (), default=0)
    for at, row in enumerate(rows):
        cells = [Text(cell, listed.looks.get((at, to), "")) for to, cell in enumerate(row)]
        if bars is not None:
            cells.append(Text("█" * round(20 * bars[at] / most) if most else "", "cyan"))
        table.add_row(*cells, style=listed.looks.get((at, -1), ""))
    if listed.total is not None:
        table.add_section()
        table.add_row(*map(Text, total), style="bold")
    return table


def _written(listed: Listed, page: TextPage) -> list[list[str]]:
    """The cells of all rows as text, those of the total last."""
    rows = [*listed.rows, listed.total or ()]
    if listed.fit is None:
        return [[_cell(cell) for cell in row] for row in rows]
    longest = max((len(str(row[0])) for row in listed.rows), default=0)
    counts = [[n for n in row[1:] if isinstance(n, int)] for row in rows if row]
    fitted = fitting_counts(counts, 6, page.inner - max(longest, listed.fit))
    return [
        [_cell(row[0]), *cells] if row else []
        for row, cells in zip(rows, [*fitted, []], strict=False)
    ]


def _cell(cell: Cell) -> str:
    if isinstance(cell, tuple):
        return "\n".join(map(visible, cell))
    return visible(cell) if isinstance(cell, str) else count(cell)


_ASCII = str.maketrans({
    "─": "-", "│": "|", "├": "+", "└": "`", "→": ">", "·": ".", "–": "-", "−": "-",
    "≥": ">", "█": "#", "…": ".", "κ": "k", "×": "x", "━": "-", "▏": "|",
})  # fmt: skip


def count(n: int | None) -> str:
    """A count with its thousands apart; a dash where it is not known, a dot for none.

    >>> count(12345), count(0), count(None)
    ('12,345', '·', '–')
    """
    if n is None:
        return "–"
    return f"{n:,}" if n else "·"


def short_count(n: int) -> str:
    """A count in five characters at most, for narrow tables.

    >>> short_count(9999), short_count(45794), short_count(1234567)
    ('9999', '45.8k', '1.23M')
    """
    if n < 10_000:
        return str(n) if n else "·"
    value, suffix = (n / 1e3, "k") if n < 999_500 else (n / 1e6, "M")
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}{suffix}"


def fitting_counts(rows: Sequence[Sequence[int]], least: int, room: int) -> list[list[str]]:
    """The counts of a table, as fully as `room` allows; a heading takes `least`.

    >>> fitting_counts([[12345, 0]], 3, 20), fitting_counts([[12345678, 0]], 3, 9)
    ([['12,345', '·']], [['12.3M', '·']])
    """
    for write in (count, lambda n: str(n or "·"), short_count):
        cells = [[write(n) for n in row] for row in rows]
        widths = [max(least, *map(len, column)) + 1 for column in zip(*cells, strict=True)]
        if sum(widths) <= room:
            break
    return cells
