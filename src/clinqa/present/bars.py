"""Pictures of datasets that are told by bars: the funnel of pairs, questions by specialty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.choice_summary import ChoiceSummary
from clinqa.core.pair_summary import PairSummary
from clinqa.present.canvas import canvas
from clinqa.present.pairs import STEPS

__all__ = ["Row", "draw_bars", "plot_choices", "plot_pairs"]

#: By split: the darkest is train. Light ground, dark ground.
_SHADES = {
    "train": ("#1f6f9f", "#6fb7de"),
    "validation": ("#8fbfdc", "#3b7ea6"),
    "test": ("#e0a33a", "#e8b65a"),
}
_PLAIN = ("#1f6f9f", "#6fb7de")


@dataclass(frozen=True, slots=True)
class Row:
    """A bar in parts, each with its key (empty: no legend)."""

    label: str
    parts: tuple[tuple[str, int], ...]
    note: str = ""


def plot_pairs(summary: PairSummary, path: Path, *, dark: bool = False) -> None:
    """The funnel from pages to pairs: what each step leaves; of a bank's pairs their topics."""
    pages = summary.funnel.get("pages")
    rows, before = [], 0
    for name, n in summary.funnel.items():
        if name in STEPS and name != "pages":
            rows.append(Row(STEPS[name], (("", n),), f"{n:,}" + _lost(before - n)))
            before = n
    if not rows:  # of a bank's questions, which go through no steps
        rows = [Row(topic, (("", n),), f"{n:,}") for topic, n in summary.topics.items()]
        draw_bars(rows, "Pairs by topic", path, dark=dark)
        return
    title = "What each step leaves" if not pages else f"From {pages:,} pages to {before:,} pairs"
    draw_bars(rows, title, path, dark=dark)


def _lost(n: int) -> str:
    return f"  −{n:,}" if n > 0 else ""


def plot_choices(summary: ChoiceSummary, path: Path, *, dark: bool = False) -> None:
    """Questions by specialty and split."""
    rows = [
        Row(name, tuple((split, own.get(split, 0)) for split in summary.splits),
            f"{sum(own.values()):,}")
        for name, own in summary.categories.items()
    ]  # fmt: skip
    draw_bars(rows, f"{summary.items:,} questions by specialty and split", path, dark=dark)


def draw_bars(rows: Sequence[Row], title: str, path: Path, *, dark: bool = False) -> None:
    """Draw the rows into `path`; its ending says the format. Equal rows give equal bytes."""
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
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, most * 1.02)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.tick_params(length=0)
        axes.grid(axis="x")
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.text(0.02, 1 - 0.28 / height, title, fontsize=10.5, fontweight="bold")
        keys = dict.fromkeys(key for row in rows for key, _ in row.parts if key)
        if keys:
            patches = [Patch(label=key, color=_SHADES.get(key, _PLAIN)[dark], lw=0) for key in keys]
            figure.legend(
                handles=patches, loc="upper right", ncols=len(keys), fontsize=8, frameon=False,
                bbox_to_anchor=(0.99, 1 - 0.06 / height), labelcolor=theme.ink,
            )  # fmt: skip
