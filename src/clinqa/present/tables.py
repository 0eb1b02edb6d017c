"""Text tables for a terminal and for a pipe: one width, one way to write numbers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.visible import visible

__all__ = ["Canvas", "count", "fitting_counts", "percent", "short_count", "visible"]

NARROW, WIDE = 60, 160


@dataclass(frozen=True, slots=True)
class Canvas:
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

    def heading(self, title: str, note: str = "") -> Text:
        """The title of a table, with a remark beside it."""
        text = Text("\n").append(title, style="bold")
        return text.append(f"  {note}", style="dim") if note else text

    def table(self, columns: Sequence[str]) -> Table:
        """A table without frame: the first column left, the others numbers at the right."""
        table = Table(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            # the box sets one blank between columns; a wide page has room for two
            padding=(0, 1 if self.inner >= 100 else 0, 0, 0),
            header_style="bold",
            show_edge=False,
        )
        for number, column in enumerate(columns):
            if number == 0:
                table.add_column(column, justify="left", overflow="fold", min_width=8)
            else:
                table.add_column(column, justify="right", no_wrap=True)
        return table


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


def percent(part: float | None, whole: float | None = 1.0) -> str:
    """A share in percent: one decimal, and never 0 % or 100 % for what is not.

    >>> percent(1, 3), percent(0, 3), percent(3, 3), percent(1, 100000), percent(1, 0)
    ('33.3%', '0%', '100%', '<0.1%', '–')
    """
    if part is None or not whole:
        return "–"
    share = part / whole
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"
