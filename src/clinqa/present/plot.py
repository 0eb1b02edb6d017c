"""One picture of a dataset: how it came about, and what it holds.

Left a flow with counts, right a bar a row in parts of a whole. The same description gives the same
bytes of SVG and PDF on one version of matplotlib.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.kinds.facets.describes import BarPicture, FlowPicture, Look
from clinqa.present.canvas import Theme, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_bars",
    "plot_dataset",
]

WIDTH = 12.0  # inches
_STEPS_AT = (94.0, 54.0, 40.5, 27.0, 13.5)
_LEFT_OUT_AT = (86.0, 74.0, 66.0)


def plot_dataset(picture: BarPicture | FlowPicture, path: Path, *, dark: bool = False) -> None:
    """Draw the picture into `path`; its ending says the format."""
    if isinstance(picture, BarPicture):
        draw_bars(picture, path, dark=dark)
        return
    height = max(6.2, 1.9 + 0.25 * len(picture.bars))
    # counts only, no text of a record: the picture may go where the dataset may not
    with canvas(path, WIDTH, height, dark=dark) as (figure, theme):
        _draw(figure, picture, theme, dark)


def _draw(figure: Figure, picture: FlowPicture, theme: Theme, dark: bool) -> None:
    longest = max((len(row.label) for row in picture.bars), default=0)
    start = 0.385 + 0.0053 * min(longest, 48)
    left = figure.add_axes((0.015, 0.17, 0.335, 0.76))
    right = figure.add_axes((start, 0.15, 0.945 - start, 0.78))
    titles = ((0.015, "a", picture.title), (0.39, "b", picture.bars_title))
    for x, letter, title in titles:
        figure.text(x, 0.955, f"{letter}  {title}", fontsize=10.5, fontweight="bold")
    _flow(left, picture, theme)
    _bars(right, picture, theme, dark)
    _legend(figure, picture, theme, dark)


def _flow(axes: Axes, picture: FlowPicture, theme: Theme) -> None:
    """Boxes downwards for what is kept, to the right for what is not."""
    axes.set(xlim=(0, 100), ylim=(0, 100))
    axes.set_axis_off()
    middle, width, side = 24.0, 44.0, 60.0
    for y, (title, value, kept) in zip(_STEPS_AT, picture.steps, strict=True):
        _box(axes, middle, y, width, title, value, theme.kept if kept else theme.box, theme)
    for upper, lower in pairwise(_STEPS_AT):
        _arrow(axes, (middle, upper - 4.7), (middle, lower + 4.9), theme)
    for y, (title, lines) in zip(_LEFT_OUT_AT, picture.left_out, strict=True):
        _arrow(axes, (middle, y), (side, y), theme)
        text = "\n".join(lines)
        axes.text(side + 1.5, y + 0.3, title, va="bottom", fontsize=8.5, color=theme.ink)
        axes.text(side + 1.5, y - 0.4, text, va="top", fontsize=7.2, color=theme.soft)
    _split_boxes(axes, picture, theme)


def _split_boxes(axes: Axes, picture: FlowPicture, theme: Theme) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, gap = 31.0, 2.5
    for at, (name, lines) in enumerate(picture.splits):
        x = at * (width + gap) + 0.5
        style = "round,pad=0,rounding_size=1.2"
        axes.add_patch(
            FancyBboxPatch(
                (x, -9.5), width, 13.5, boxstyle=style, lw=0.8,
                facecolor=theme.box, edgecolor=theme.soft, clip_on=False,
            )
        )  # fmt: skip
        axes.text(
            x + width / 2, 1.7, name, ha="center", va="center", fontsize=8.5,
            fontweight="bold", color=theme.ink,
        )  # fmt: skip
        axes.text(
            x + width / 2, -4.5, "\n".join(lines), ha="center", va="center", fontsize=7.4,
            color=theme.ink, linespacing=1.25,
        )  # fmt: skip
        _arrow(axes, (x + width / 2, 6.4), (x + width / 2, 4.1), theme)
    ends = [width / 2 + 0.5, 2 * (width + gap) + width / 2 + 0.5]
    axes.plot(ends, [6.4, 6.4], color=theme.soft, lw=0.9, zorder=1, clip_on=False)
    axes.plot([24.0, 24.0], [6.4, 8.9], color=theme.soft, lw=0.9, zorder=1)


def _box(
    axes: Axes, x: float, y: float, width: float, title: str, value: str, colour: str, theme: Theme
) -> None:
    from matplotlib.patches import FancyBboxPatch

    height = 9.4
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height, lw=0.8, facecolor=colour,
            edgecolor=theme.soft, boxstyle="round,pad=0,rounding_size=1.2", clip_on=False, zorder=2,
        )
    )  # fmt: skip
    number, _, note = value.partition("\n")
    drop = 1.7 if note else 0.0
    axes.text(
        x, y + drop, f"{title}: {number}", ha="center", va="center",
        fontsize=9.5 if len(title + number) < 20 else 8.2, fontweight="bold", color=theme.ink,
        zorder=3,
    )  # fmt: skip
    axes.text(x, y - 2.2, note, ha="center", va="center", fontsize=7.4, color=theme.soft, zorder=3)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], theme: Theme) -> None:
    arrow = {"arrowstyle": "-|>", "lw": 0.9, "color": theme.soft, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, annotation_clip=False, zorder=1, arrowprops=arrow)


def _bars(axes: Axes, picture: FlowPicture, theme: Theme, dark: bool) -> None:
    rows = picture.bars
    for y, row in enumerate(rows):
        axes.barh(y, 100, height=0.72, color=theme.faint, alpha=0.35, lw=0)
        start = 0.0
        for key, n in row.parts:
            share = 100 * n / picture.whole
            fill = _fill(picture.looks[key], theme, dark)
            axes.barh(y, share, left=start, height=0.72, **fill)
            start += share
        axes.text(101, y, row.note, va="center", fontsize=7.6, color=theme.soft, clip_on=False)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=8.6)
    # few bars stay as thin as many
    axes.set(ylim=(min(-0.6, len(rows) - 10.4), len(rows) - 0.4), xlim=(0, 100))
    axes.set_xticks(range(0, 101, 20), [f"{tick}%" for tick in range(0, 101, 20)], fontsize=8)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if not rows:
        axes.text(50, -5, picture.nothing, ha="center", color=theme.soft)
    axes.text(
        101, len(rows) - 0.35, picture.noted, va="bottom", fontsize=7.6, color=theme.soft,
        clip_on=False,
    )  # fmt: skip


def _fill(look: Look, theme: Theme, dark: bool) -> dict[str, Any]:
    colour = look.dark_colour if dark else look.colour
    return {"facecolor": colour, "edgecolor": theme.ground, "lw": 0.5, "hatch": look.hatch}


def _legend(figure: Figure, picture: FlowPicture, theme: Theme, dark: bool) -> None:
    from matplotlib.patches import Patch

    used = {key for row in picture.bars for key, n in row.parts if n}
    patches = [
        Patch(label=look.words, **_fill(look, theme, dark))
        for key, look in picture.looks.items()
        if key in used
    ]
    patches.append(Patch(label=picture.blank, facecolor=theme.faint, alpha=0.35, lw=0))
    figure.legend(
        handles=patches, loc="lower right", ncols=3, fontsize=8, frameon=False,
        bbox_to_anchor=(0.97, 0.005), handlelength=2.2, handleheight=1.1, columnspacing=1.6,
        labelcolor=theme.ink,
    )  # fmt: skip


#: By split: the darkest is train. Light ground, dark ground.
_SHADES = {
    "train": ("#1f6f9f", "#6fb7de"),
    "validation": ("#8fbfdc", "#3b7ea6"),
    "test": ("#e0a33a", "#e8b65a"),
}
_PLAIN = ("#1f6f9f", "#6fb7de")


def draw_bars(picture: BarPicture, path: Path, *, dark: bool = False) -> None:
    """Draw the rows into `path`; its ending says the format. Equal rows give equal bytes."""
    rows = picture.rows
    height = 1.15 + 0.27 * max(len(rows), 3)
    # counts only, no text of a record: the picture may go where the dataset may not
    with canvas(path, 8.0, height, dark=dark) as (figure, theme):
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_axes((0.36, 0.42 / height, 0.5, 1 - 1.0 / height))
        most = max((sum(n for _, n in row.parts) for row in rows), default=1) or 1
        for y, row in enumerate(rows):
            start = 0
            for key, n in row.parts:
                shade = _SHADES.get(key, _PLAIN)[dark]
                axes.barh(y, n, left=start, height=0.74, color=shade, lw=0)
                start += n
            axes.text(start + most * 0.012, y, row.note, va="center", fontsize=8, color=theme.soft)
        labels = [row.label if len(row.label) < 46 else f"{row.label[:44]}…" for row in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize=8.6)
        axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, most * 1.02))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.tick_params(length=0)
        axes.grid(axis="x")
        axes.spines[:].set_visible(False)
        figure.text(0.02, 1 - 0.28 / height, picture.title, fontsize=10.5, fontweight="bold")
        keys = dict.fromkeys(key for row in rows for key, _ in row.parts if key)
        if keys:
            patches = [Patch(label=key, color=_SHADES.get(key, _PLAIN)[dark], lw=0) for key in keys]
            figure.legend(
                handles=patches, loc="upper right", ncols=len(keys), fontsize=8, frameon=False,
                bbox_to_anchor=(0.99, 1 - 0.06 / height), labelcolor=theme.ink,
            )  # fmt: skip
