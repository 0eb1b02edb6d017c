"""One picture of a dataset: how it came about, and what it holds.

Left the flow of EchoQA's Figure 1 with counts, right a bar an abnormality: the share of studies at
each level. The blank rest of a bar is studies that do not mention it, which is not "normal". The
same summary gives the same bytes of SVG and PDF on one version of matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.core.summary import AbnormalityRow, Flow, Summary
from clinqa.present.canvas import Theme, canvas
from clinqa.present.levels import LEVEL_STYLES, LevelStyle, plain_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_summary"]

WIDTH = 12.0  # inches


def plot_summary(
    summary: Summary, path: Path, *, dark: bool = False, names: Mapping[str, str] | None = None
) -> None:
    """Draw the picture into `path`; its ending says the format. `names` are the pack's."""
    height = max(6.2, 1.9 + 0.25 * len(summary.abnormalities))
    # counts only, no text of a record: the picture may go where the dataset may not
    with canvas(path, WIDTH, height, dark=dark) as (figure, theme):
        _draw(figure, summary, theme, dark, names or {})


def _draw(
    figure: Figure, summary: Summary, theme: Theme, dark: bool, names: Mapping[str, str]
) -> None:
    longest = max((len(_name(row, summary, names)) for row in summary.abnormalities), default=0)
    start = 0.385 + 0.0053 * min(longest, 48)
    left = figure.add_axes((0.015, 0.17, 0.335, 0.76))
    right = figure.add_axes((start, 0.15, 0.945 - start, 0.78))
    titles = ((0.015, "a", "From notes to items"), (0.39, "b", _bars_title(summary)))
    for x, letter, title in titles:
        figure.text(x, 0.955, f"{letter}  {title}", fontsize=10.5, fontweight="bold")
    _flow(left, summary, theme)
    _bars(right, summary, theme, dark, names)
    _legend(figure, summary, theme, dark)


def _flow(axes: Axes, summary: Summary, theme: Theme) -> None:
    """Boxes downwards for what is kept, to the right for what is not."""
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 100)
    axes.set_axis_off()
    flow = summary.flow
    middle, width, side = 24.0, 44.0, 60.0
    stops = [
        (94.0, "Notes read", _many(flow.read), theme.box),
        (54.0, "Studies kept", _many(flow.kept), theme.kept),
        (40.5, "Statements", f"{flow.occurrences:,}\n{flow.statements:,} distinct", theme.box),
        (27.0, "Labels", f"{flow.labels:,}\n{_by_method(summary)}", theme.box),
        (13.5, "Items", f"{flow.items:,}", theme.kept),
    ]
    for y, title, value, colour in stops:
        _box(axes, middle, y, width, title, value, colour, theme)
    for (upper, *_), (lower, *_) in pairwise(stops):
        _arrow(axes, (middle, upper - 4.7), (middle, lower + 4.9), theme)
    for y, title, lines in _left_out(flow):
        _arrow(axes, (middle, y), (side, y), theme)
        text = "\n".join(lines)
        axes.text(side + 1.5, y + 0.3, title, va="bottom", fontsize=8.5, color=theme.ink)
        axes.text(side + 1.5, y - 0.4, text, va="top", fontsize=7.2, color=theme.soft)
    _split_boxes(axes, summary, theme)


def _left_out(flow: Flow) -> list[tuple[float, str, list[str]]]:
    places: tuple[tuple[float, str, int | None, Mapping[str, int]], ...] = (
        (86.0, "Out of scope", flow.out_of_scope, flow.out_of_scope_by_reason),
        (74.0, "Duplicates", flow.duplicates, {}),
        (66.0, "Rejected", flow.rejected, flow.rejected_by_reason),
    )
    return [(y, f"{title}: {_many(n)}", _reasons(reasons)) for y, title, n, reasons in places]


def _reasons(reasons: Mapping[str, int]) -> list[str]:
    shown = [f"{plain_name(name)} {n:,}" for name, n in list(reasons.items())[:2] if n]
    rest = sum(list(reasons.values())[2:])
    return [*shown, f"other {rest:,}"] if rest else shown


def _split_boxes(axes: Axes, summary: Summary, theme: Theme) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, gap = 31.0, 2.5
    for at, split in enumerate(summary.splits):
        x = at * (width + gap) + 0.5
        style = "round,pad=0,rounding_size=1.2"
        axes.add_patch(
            FancyBboxPatch(
                (x, -9.5), width, 13.5, boxstyle=style, lw=0.8,
                facecolor=theme.box, edgecolor=theme.soft, clip_on=False,
            )
        )  # fmt: skip
        axes.text(
            x + width / 2, 1.7, split.name, ha="center", va="center", fontsize=8.5,
            fontweight="bold", color=theme.ink,
        )  # fmt: skip
        lines = f"{split.patients:,} patients\n{split.studies:,} studies\n{split.items:,} items"
        axes.text(
            x + width / 2, -4.5, lines, ha="center", va="center", fontsize=7.4, color=theme.ink,
            linespacing=1.25,
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


def _many(n: int | None) -> str:
    return "not stated" if n is None else f"{n:,}"


def _by_method(summary: Summary) -> str:
    total = summary.flow.labels
    return (
        ", ".join(f"{name} {n / total:.0%}" for name, n in summary.methods.items()) if total else ""
    )


def _bars_title(summary: Summary) -> str:
    kept = summary.flow.kept
    return f"Level by abnormality, share of {kept:,} studies" if kept else "Level by abnormality"


def _bars(axes: Axes, summary: Summary, theme: Theme, dark: bool, names: Mapping[str, str]) -> None:
    rows = sorted(summary.abnormalities, key=lambda row: (row.studies, row.abnormality))
    whole = summary.flow.kept or max((row.studies for row in rows), default=1) or 1
    for y, row in enumerate(rows):
        axes.barh(y, 100, height=0.72, color=theme.faint, alpha=0.35, lw=0)
        start = 0.0
        for style in LEVEL_STYLES:
            share = 100 * row.levels.get(style.level, 0) / whole
            axes.barh(y, share, left=start, height=0.72, **_fill(style, theme, dark))
            start += share
        axes.text(
            101, y, f"{row.studies:,}", va="center", fontsize=7.6, color=theme.soft, clip_on=False
        )
    axes.set_yticks(range(len(rows)), [_name(row, summary, names) for row in rows], fontsize=8.6)
    # few bars stay as thin as many
    axes.set_ylim(min(-0.6, len(rows) - 10.4), len(rows) - 0.4)
    axes.set_xlim(0, 100)
    axes.set_xticks(range(0, 101, 20), [f"{tick}%" for tick in range(0, 101, 20)], fontsize=8)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if not rows:
        axes.text(50, -5, "no labels", ha="center", color=theme.soft)
    axes.text(
        101, len(rows) - 0.35, "labelled", va="bottom", fontsize=7.6, color=theme.soft,
        clip_on=False,
    )  # fmt: skip


def _name(row: AbnormalityRow, summary: Summary, names: Mapping[str, str]) -> str:
    name = names.get(row.abnormality) or plain_name(row.abnormality)
    return f"{name}*" if row.abnormality in summary.two_valued else name


def _fill(style: LevelStyle, theme: Theme, dark: bool) -> dict[str, Any]:
    colour = style.dark_colour if dark else style.colour
    return {"facecolor": colour, "edgecolor": theme.ground, "lw": 0.5, "hatch": style.hatch}


def _legend(figure: Figure, summary: Summary, theme: Theme, dark: bool) -> None:
    from matplotlib.patches import Patch

    used = {level for row in summary.abnormalities for level, n in row.levels.items() if n}
    marked = any(row.abnormality in summary.two_valued for row in summary.abnormalities)
    patches = [
        Patch(
            label=f"{style.words}, * present" if style.level == 1 and marked else style.words,
            **_fill(style, theme, dark),
        )
        for style in LEVEL_STYLES
        if style.level in used
    ]
    patches.append(Patch(label="not mentioned", facecolor=theme.faint, alpha=0.35, lw=0))
    figure.legend(
        handles=patches, loc="lower right", ncols=3, fontsize=8, frameon=False,
        bbox_to_anchor=(0.97, 0.005), handlelength=2.2, handleheight=1.1, columnspacing=1.6,
        labelcolor=theme.ink,
    )  # fmt: skip
