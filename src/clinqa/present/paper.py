"""Charts as figures for a paper: SVG and PDF, the same bytes for the same descriptions.

They are laid out as on the page and drawn by matplotlib, a unit a hundredth of an inch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinqa.kinds.facets.charts import Chart, Histogram, Plate, StackedBars
from clinqa.present.canvas import LIGHT, letters, saved
from clinqa.present.drawing import Mark, laid_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_plates"]

FORMATS = ("svg", "pdf")
_UNITS = 100.0  # an inch
_GAP = 28.0
_COLOURS = {
    "g-biomedical": "#0072b2", "g-general": "#b34700", "g-closed": "#7a4a92",
    "g-encoder": "#00775a", "g-baseline": "#59636b", "g-none": "#59636b", "e0": "#7cc4a4",
    "e1": "#9fd3ea", "e2": "#f3cf6b", "e3": "#e98e4a", "e4": "#cf9cc4", "e5": "#b3bcc2",
    "e6": "#8d98a1", "band": LIGHT.faint, "grid": LIGHT.faint, "chance": LIGHT.soft,
    "iso": LIGHT.soft, "tick": LIGHT.soft, "cell": LIGHT.high, "below": "#b3261e",
    "self": LIGHT.faint, "on": LIGHT.ink,
}  # fmt: skip
_STYLES: Mapping[str, dict[str, Any]] = {
    "grid": {"lw": 0.7}, "whisker": {"lw": 1.5, "alpha": 0.65}, "chance": {"lw": 1.2},
    "iso": {"lw": 0.7, "ls": ":"}, "front": {"lw": 1.0}, "arrow": {"lw": 0.9},
    "t": {"fontsize": 8.4, "fontweight": "bold"}, "label": {"fontsize": 7},
    "tick": {"fontsize": 6.8}, "in": {"fontsize": 7}, "tiny": {"fontsize": 5.4},
}  # fmt: skip
_SIDES = {"start": "left", "middle": "center", "end": "right"}


def draw_plates(plates: Mapping[str, Plate]) -> dict[str, bytes]:
    """Every picture in every format, by file name."""
    made: dict[str, bytes] = {}
    with letters(size=7):
        for name, plate in plates.items():
            figure = _figure(plate)
            for kind in FORMATS:
                made[f"{name}.{kind}"] = saved(figure, kind, bbox_inches="tight")
    return made


def _figure(plate: Plate) -> Figure:
    """The charts in rows."""
    from matplotlib.figure import Figure

    drawings = [laid_out(chart) for chart in plate.charts]
    across = min(plate.across, len(drawings))
    wide = max(drawing.width for drawing in drawings) + _GAP
    rows = [drawings[at : at + across] for at in range(0, len(drawings), across)]
    heights = [max(drawing.height for drawing in row) + _GAP for row in rows]
    size = across * wide / _UNITS, (sum(heights) + _GAP) / _UNITS
    figure = Figure(figsize=size, facecolor=LIGHT.ground)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, across * wide), ylim=(sum(heights) + _GAP, 0))
    axes.set_axis_off()
    for at, row in enumerate(rows):
        for column, drawing in enumerate(row):
            for mark in drawing.marks:
                _draw(axes, mark, column * wide, sum(heights[:at]))
    for mark in _keys(plate.charts):
        _draw(axes, mark, 0, sum(heights))
    axes.text(0, sum(heights), plate.note, color=LIGHT.soft, va="top")
    return figure


def _keys(charts: Sequence[Chart]) -> Iterator[Mark]:
    """The colours of the parts of bars, and their names."""
    bars = [bar for chart in charts if isinstance(chart, StackedBars | Histogram)
            for bar in chart.bars]  # fmt: skip
    x = 0.0
    for name, look in {name: look for bar in bars for name, _, look in bar.parts}.items():
        yield Mark("rect", [(x, -10), (x + 9, -1)], f"part {look}")
        yield Mark("text", [(x + 13, -2)], "label", name)
        x += 26 + 5.6 * len(name)


def _draw(axes: Axes, mark: Mark, right: float, down: float) -> None:
    from matplotlib.patches import Polygon, Rectangle

    looks = mark.look.split()
    style = {key: value for look in looks for key, value in _STYLES.get(look, {}).items()}
    colour = next((_COLOURS[look] for look in reversed(looks) if look in _COLOURS), LIGHT.ink)
    colour = LIGHT.ink if "in" in looks else colour
    xs, ys = [x + right for x, _ in mark.places], [y + down for _, y in mark.places]
    if mark.shape == "text":
        axes.text(xs[0], ys[0], mark.text, color=colour, ha=_SIDES[mark.anchor], va="baseline",
                  rotation=-mark.turn, rotation_mode="anchor", **style)  # fmt: skip
    elif mark.shape == "circle":
        face = LIGHT.ground if "hollow" in looks else colour
        axes.plot(xs, ys, "o", ms=mark.size * 1.1, mec=colour, mfc=face, mew=1.3, zorder=3)
    elif mark.shape == "rect":
        edge = LIGHT.ground if "part" in looks else "none"
        axes.add_patch(Rectangle((xs[0], ys[0]), xs[1] - xs[0], ys[1] - ys[0], facecolor=colour,
                                 edgecolor=edge, lw=0.6, alpha=mark.shade))  # fmt: skip
    elif mark.shape == "polygon":
        axes.add_patch(Polygon(list(zip(xs, ys, strict=True)), facecolor=colour))
    else:
        axes.plot(xs, ys, color=colour, **style)
