"""Pictures of clinical terms: the overlap of train and test, and what models give the terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.core.figures import Figure as Value
from clinqa.present.canvas import Theme, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_overlap"]


def plot_overlap(
    figures: Sequence[Value], path: Path, *, dark: bool = False, private: bool = False
) -> None:
    """The matrix of `term_overlap`: a row a specialty of train, a column one of test."""
    cells = {(f.subset["train"], f.subset["test"]): f for f in figures}
    rows = list(dict.fromkeys(f.subset["train"] for f in figures))
    columns = list(dict.fromkeys(f.subset["test"] for f in figures))
    longest = max(map(len, [*rows, *columns]), default=0)
    aside = 0.075 * longest + 0.35
    width = aside + 0.62 * len(columns) + 0.5
    height = aside * 0.8 + 0.34 * len(rows) + 1.0
    size = max(width, 5.6), max(height, 3.0)
    with canvas(path, *size, dark=dark, private=private, layout="constrained") as (figure, theme):
        axes = figure.subplots()
        _matrix(axes, cells, rows, columns, theme)
        figure.suptitle(
            "Terms of the test questions that stand in the training questions",
            fontsize=10, fontweight="bold", x=0.01, ha="left",
        )  # fmt: skip


def _matrix(
    axes: Axes,
    cells: Mapping[tuple[str, str], Value],
    rows: Sequence[str],
    columns: Sequence[str],
    theme: Theme,
) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    scale = LinearSegmentedColormap.from_list("overlap", [theme.low, theme.high])
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            value = cells[row, column].value
            shade = scale(value or 0.0)
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, lw=0))
            text = "–" if value is None else f"{value:.2f}"
            ink = max((theme.on_high, theme.ink), key=lambda one: _contrast(one, shade))
            axes.text(
                x, y, text, ha="center", va="center", fontsize=8, color=ink,
                fontweight="bold" if row == column else "normal",
            )  # fmt: skip
            if row == column:
                axes.add_patch(
                    Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, edgecolor=theme.mark)
                )
    n = {column: next(c.n for (_, at), c in cells.items() if at == column) for column in columns}
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(
        range(len(columns)), [f"{column} ({n[column]})" for column in columns],
        rotation=40, ha="right", rotation_mode="anchor",
    )  # fmt: skip
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlabel("test (distinct terms, the denominator)")
    axes.set_ylabel("train")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _contrast(one: Any, other: Any) -> float:
    """The ratio of two colours' luminances, from 1 to 21 (WCAG)."""
    from matplotlib.colors import to_rgb

    lights = []
    for colour in (one, other):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return float(max(lights) / min(lights))
