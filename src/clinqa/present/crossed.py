"""The picture of a cross-specialty study: who was trained on what, tested on what, and how well.

A block an arm: left the matrix, right what each specialty's own models are above what their row
and column let one expect. Colour is the distance from the mean of the column, for test sets differ
in how hard they are; the number is the accuracy, with its interval below. A frame marks the own
specialty, a star the best of the column.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clinqa.present.canvas import Theme, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap

__all__ = ["Block", "Line", "Square", "plot_crossed"]

_LEAST_SPAN = 0.05  # of the colours: five points, so that noise is not drawn as contrast


@dataclass(frozen=True, slots=True)
class Square:
    """One cell: accuracy with its interval."""

    value: float | None
    low: float | None
    high: float | None
    best: bool
    own: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the right side."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """One arm. `rows` are labels, the first `trained` of them of models that were trained."""

    title: str
    rows: Sequence[str]
    trained: int
    columns: Sequence[str]
    cells: Sequence[Sequence[Square]]
    lines: Sequence[Line]
    note: str


def plot_crossed(
    blocks: Sequence[Block], path: Path, *, model: str, dark: bool = False, private: bool = False
) -> None:
    """Draw the arms below each other into `path`; its ending says the format."""
    wide = max(len(block.columns) for block in blocks)
    heights = [0.44 * len(block.rows) + 2.1 for block in blocks]
    size = 0.86 * wide + 8.0, sum(heights) + 0.5
    with canvas(path, *size, dark=dark, private=private, layout="constrained") as (figure, theme):
        grid = figure.subplots(
            len(blocks), 2, squeeze=False, height_ratios=heights, width_ratios=[0.86 * wide + 3.2,
                                                                                4.2],
        )  # fmt: skip
        span = max(_LEAST_SPAN, *(_span(block) for block in blocks))
        reach = _reach(blocks)
        for (left, right), block in zip(grid, blocks, strict=True):
            _matrix(left, block, theme, span)
            _lines(right, block, theme, reach)
        figure.suptitle(
            f"Trained on one specialty, tested on all: {model}",
            fontsize=11, fontweight="bold", x=0.01, ha="left",
        )  # fmt: skip
        figure.supxlabel(
            f"Colour: up to {100 * span:.0f} points below (orange) or above (blue) the mean of the "
            "column's trained models. Frame: own specialty. ★: best of the column. Small: 95 %. "
            "(items of train) × trainings.",
            fontsize=7.5, color=theme.soft, x=0.01, ha="left",
        )  # fmt: skip


def _reach(blocks: Sequence[Block]) -> tuple[float, float]:
    """One axis for all arms, in points, zero on it."""
    ends = [0.0]
    for line in (line for block in blocks for line in block.lines):
        ends += [100 * one for one in (line.value, line.low, line.high) if one is not None]
    room = 0.04 * max(max(ends) - min(ends), 1.0)
    return min(ends) - room, max(ends) + room


def _apart(block: Block) -> list[list[float | None]]:
    """Each cell's distance from the mean of its column's trained models."""
    made: list[list[float | None]] = [[None] * len(block.columns) for _ in block.rows]
    for column in range(len(block.columns)):
        values = [row[column].value for row in block.cells]
        known = [value for value in values[: block.trained] if value is not None]
        known = known or [value for value in values if value is not None]
        for at, value in enumerate(values):
            if value is not None:
                made[at][column] = value - sum(known) / len(known)
    return made


def _span(block: Block) -> float:
    trained = _apart(block)[: block.trained]
    return max((abs(one) for row in trained for one in row if one is not None), default=0.0)


def _matrix(axes: Axes, block: Block, theme: Theme, span: float) -> None:
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    colours = _colours(theme)
    scale = Normalize(-span, span, clip=True)
    for at, (row, apart) in enumerate(zip(block.cells, _apart(block), strict=True)):
        for column, (cell, distance) in enumerate(zip(row, apart, strict=True)):
            face = theme.ground if distance is None else colours(scale(distance))
            axes.add_patch(
                Rectangle((column, at), 1, 1, facecolor=face, edgecolor=theme.ground, lw=1.5)
            )
            _cell(axes, cell, column + 0.5, at + 0.5, theme)
    for at, row in enumerate(block.cells):
        for column, cell in enumerate(row):
            if cell.own:
                axes.add_patch(
                    Rectangle(
                        (column + 0.04, at + 0.05), 0.92, 0.9, fill=False, edgecolor=theme.ink,
                        lw=1.6, zorder=3,
                    )
                )  # fmt: skip
    axes.set_xlim(0, len(block.columns))
    axes.set_ylim(len(block.rows), 0)
    names = [textwrap.fill(name, 15, break_long_words=False) for name in block.columns]
    turned = len(block.columns) > 6
    axes.set_xticks(
        [at + 0.5 for at in range(len(names))], names,
        rotation=40 if turned else 0, ha="left" if turned else "center", fontsize=7.2,
    )  # fmt: skip
    axes.xaxis.tick_top()
    axes.set_yticks([at + 0.5 for at in range(len(block.rows))], block.rows, fontsize=8)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if block.trained < len(block.rows):
        axes.axhline(block.trained, color=theme.soft, lw=1)
    axes.set_title(block.title, loc="left", fontsize=9.5, fontweight="bold", pad=10)


def _cell(axes: Axes, cell: Square, x: float, y: float, theme: Theme) -> None:
    if cell.value is None:
        axes.text(x, y, "–", ha="center", va="center", color=theme.soft)
        return
    star = " ★" if cell.best else ""
    known = cell.low is not None and cell.high is not None
    axes.text(
        x, y - (0.14 if known else 0), f"{100 * cell.value:.1f}{star}", ha="center", va="center",
        fontsize=8.5, fontweight="bold" if cell.best else "normal",
    )  # fmt: skip
    if cell.low is not None and cell.high is not None:
        axes.text(
            x, y + 0.24, f"{100 * cell.low:.0f}–{100 * cell.high:.0f}", ha="center", va="center",
            fontsize=6.5,
        )  # fmt: skip


def _colours(theme: Theme) -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "crossed", [theme.below, theme.middle, theme.above], N=255
    )


def _lines(axes: Axes, block: Block, theme: Theme, reach: tuple[float, float]) -> None:
    """What is above the expectation, with its interval, in points; below it, words."""
    axes.set_title(
        "Own specialty above expectation, points", loc="left", fontsize=8.5, color=theme.soft
    )
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.annotate(
        textwrap.fill(block.note, 60), (0, 0), (0, -20 if block.lines else 0), va="top",
        fontsize=7, color=theme.soft, xycoords="axes fraction", textcoords="offset points",
    )  # fmt: skip
    if not block.lines:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axvline(0, color=theme.faint, lw=1, zorder=0)
    for at, line in enumerate(block.lines):
        if line.value is None:
            continue
        if line.low is not None and line.high is not None:
            axes.plot([100 * line.low, 100 * line.high], [at, at], color=theme.above, lw=1.6)
        size = 6 if line.bold else 4
        axes.plot(100 * line.value, at, "D" if line.bold else "o", color=theme.above, ms=size)
    axes.set_yticks(range(len(block.lines)), [line.label for line in block.lines], fontsize=7.5)
    for line, label in zip(block.lines, axes.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if line.bold else "normal")
    axes.set_ylim(len(block.lines) - 0.4, -0.6)
    axes.set_xlim(*reach)
    axes.tick_params(length=0, labelsize=7.5)
    axes.spines["bottom"].set_visible(True)
