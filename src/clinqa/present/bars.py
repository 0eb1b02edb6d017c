"""Pictures of datasets that are told by bars: what each step of a funnel leaves, items by topic."""

from __future__ import annotations

from pathlib import Path

from clinqa.kinds.facets.describes import BarPicture
from clinqa.present.canvas import canvas

__all__ = ["draw_bars"]

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
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, most * 1.02)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.tick_params(length=0)
        axes.grid(axis="x")
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.text(0.02, 1 - 0.28 / height, picture.title, fontsize=10.5, fontweight="bold")
        keys = dict.fromkeys(key for row in rows for key, _ in row.parts if key)
        if keys:
            patches = [Patch(label=key, color=_SHADES.get(key, _PLAIN)[dark], lw=0) for key in keys]
            figure.legend(
                handles=patches, loc="upper right", ncols=len(keys), fontsize=8, frameon=False,
                bbox_to_anchor=(0.99, 1 - 0.06 / height), labelcolor=theme.ink,
            )  # fmt: skip
