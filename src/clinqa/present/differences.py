"""Two builds side by side: which labels moved, as text."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clinqa.core.comparison import AbnormalityChange, Comparison
from clinqa.core.summary import LEVELS
from clinqa.present.levels import LEVEL_STYLES
from clinqa.present.tables import Canvas, count, fitting_counts, percent, visible

__all__ = ["render_comparison"]

_SHORT = {style.level: style.short for style in LEVEL_STYLES}
_ORDER: tuple[int | None, ...] = (*LEVELS, None)


def render_comparison(comparison: Comparison, canvas: Canvas) -> str:
    """The studies, a line an abnormality, and a matrix of each that changed."""
    parts: list[RenderableType] = [_title(comparison), canvas.heading("Studies")]
    parts.append(_studies(comparison))
    if comparison.abnormalities:
        parts += [canvas.heading("Labels"), _changes(comparison, canvas)]
        note = (
            "κ: Cohen's kappa over the shared studies, no label being a level of its own; "
            "κ both: over the studies that both builds label. – where it is undefined"
        )
        parts.append(Text(note, style="dim"))
    for row in comparison.abnormalities:
        if row.changed:
            note = "A down, B across; the diagonal did not move"
            parts += [canvas.heading(visible(row.abnormality), note), _matrix(row, canvas)]
    if not comparison.changed:
        parts.append(Text("\nno label differs"))
    return canvas.render(parts)


def _title(comparison: Comparison) -> Text:
    text = Text()
    for mark, folder, profile in (
        ("A", comparison.a, comparison.profile_a),
        ("B", comparison.b, comparison.profile_b),
    ):
        text.append(f"{mark}  ", style="bold").append(visible(folder))
        text.append(f"  profile {profile}\n" if profile else "\n", style="dim")
    text.rstrip()
    return text


def _studies(comparison: Comparison) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    for name, n in (
        ("in both", comparison.shared),
        ("in A only", comparison.only_a),
        ("in B only", comparison.only_b),
    ):
        table.add_row(name, f"{n:,}")
    return table


def _changes(comparison: Comparison, canvas: Canvas) -> Table:
    shown = ["same", "moved", "added", "removed", "agree", "κ", "κ both"]
    table = canvas.table(["abnormality", *shown])
    for row in comparison.abnormalities:
        style = "" if row.changed else "dim"
        table.add_row(visible(row.abnormality), *_change_cells(row), style=style)
    sums = [
        sum(getattr(row, name) for row in comparison.abnormalities)
        for name in ("same", "moved", "added", "removed")
    ]
    table.add_section()
    table.add_row("all", *map(count, sums), "", "", "", style="bold")
    return table


def _change_cells(row: AbnormalityChange) -> list[str]:
    kappas = ["–" if k is None else f"{k:.3f}" for k in (row.kappa, row.kappa_labelled)]
    counts = [row.same, row.moved, row.added, row.removed]
    return [*map(count, counts), percent(row.agreement), *kappas]


def _matrix(row: AbnormalityChange, canvas: Canvas) -> Table:
    cells = {(before, after): n for before, after, n in row.matrix}
    used = {level for pair in cells for level in pair}
    levels = [level for level in _ORDER if level in used]
    names = ["none" if level is None else f"{_SHORT[level]} {level}" for level in levels]
    heads = ["none" if level is None else f"{_SHORT[level]}\n{level}" for level in levels]
    table = canvas.table(["A \\ B", *heads])
    counts = [[cells.get((before, after), 0) for after in levels] for before in levels]
    written = fitting_counts(counts, 6, canvas.inner - 10)
    for at, (name, line) in enumerate(zip(names, written, strict=True)):
        shown = [Text(cell, style="dim" if at == to else "") for to, cell in enumerate(line)]
        table.add_row(name, *shown)
    return table
