"""Charts as figures for a paper: SVG and PDF, the same bytes for the same descriptions.

They are laid out as on the page and drawn by matplotlib, a unit a hundredth of an inch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.core.cells import write_file
from clinqa.kinds.facets.charts import Chart, Histogram, Plate, StackedBars
from clinqa.present.canvas import DARK, LIGHT, Theme, letters, picture_kind, saved
from clinqa.present.drawing import Mark, laid_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_plate", "draw_plates"]

FORMATS = ("svg", "pdf")
_UNITS = 100.0  # an inch
_GAP = 28.0
#: Of groups of models and parts of a whole: on light ground, on dark.
_COLOURS: Mapping[str, tuple[str, str]] = {
    "g-biomedical": ("#0072b2", "#5fb2e8"), "g-general": ("#b34700", "#f0914e"),
    "g-closed": ("#7a4a92", "#c79be0"), "g-encoder": ("#00775a", "#4fc3a1"),
    "g-baseline": ("#59636b", "#a9b3bb"), "g-none": ("#59636b", "#a9b3bb"),
    **{f"e{at}": (one, one) for at, one in enumerate(("#7cc4a4", "#9fd3ea", "#f3cf6b", "#e98e4a",
                                                      "#cf9cc4", "#b3bcc2", "#8d98a1"))},
}  # fmt: skip
_OF_THEME: Mapping[str, Callable[[Theme], str]] = {
    **dict.fromkeys(("grid", "band", "self"), lambda theme: theme.faint),
    **dict.fromkeys(("chance", "iso", "tick"), lambda theme: theme.soft),
    **dict.fromkeys(("in", "on"), lambda theme: theme.ink),
    "cell": lambda theme: theme.high,
    "below": lambda theme: theme.below,
}
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
            figure = _figure(plate, LIGHT)
            for kind in FORMATS:
                made[f"{name}.{kind}"] = saved(figure, kind, bbox_inches="tight")
    return made


def draw_plate(plate: Plate, path: Path, *, dark: bool = False, private: bool = False) -> None:
    """One picture into its file; the ending says the format (svg, pdf or png)."""
    kind, theme = picture_kind(path), DARK if dark else LIGHT
    with letters(theme, 7):
        figure = _figure(plate, theme)
        body = saved(figure, kind, bbox_inches="tight", dpi=160)
    write_file(path, body, private=private)


def _figure(plate: Plate, theme: Theme) -> Figure:
    """The charts in rows."""
    from matplotlib.figure import Figure

    drawings = [laid_out(chart) for chart in plate.charts]
    across = min(plate.across, len(drawings))
    wide = max(drawing.width for drawing in drawings) + _GAP
    rows = [drawings[at : at + across] for at in range(0, len(drawings), across)]
    heights = [max(drawing.height for drawing in row) + _GAP for row in rows]
    size = across * wide / _UNITS, (sum(heights) + _GAP) / _UNITS
    figure = Figure(figsize=size, facecolor=theme.ground)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, across * wide), ylim=(sum(heights) + _GAP, 0))
    axes.set_axis_off()
    for at, row in enumerate(rows):
        for column, drawing in enumerate(row):
            for mark in drawing.marks:
                _draw(axes, mark, theme, column * wide, sum(heights[:at]))
    for mark in _keys(plate.charts):
        _draw(axes, mark, theme, 0, sum(heights))
    axes.text(0, sum(heights), plate.note, color=theme.soft, va="top")
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


def _draw(axes: Axes, mark: Mark, theme: Theme, right: float, down: float) -> None:
    from matplotlib.patches import Polygon, Rectangle

    looks = mark.look.split()
    style = {key: value for look in looks for key, value in _STYLES.get(look, {}).items()}
    colour = next((found for look in looks[::-1] if (found := _colour(look, theme))), theme.ink)
    xs, ys = [x + right for x, _ in mark.places], [y + down for _, y in mark.places]
    if mark.shape == "text":
        axes.text(xs[0], ys[0], mark.text, color=colour, ha=_SIDES[mark.anchor], va="baseline",
                  rotation=-mark.turn, rotation_mode="anchor", **style)  # fmt: skip
    elif mark.shape == "circle":
        face = theme.ground if "hollow" in looks else colour
        axes.plot(xs, ys, "o", ms=mark.size * 1.1, mec=colour, mfc=face, mew=1.3, zorder=3)
    elif mark.shape == "rect":
        edge = theme.ground if "part" in looks else "none"
        size = xs[1] - xs[0], ys[1] - ys[0]
        fill: dict[str, Any] = {
            "facecolor": colour,
            "edgecolor": edge,
            "lw": 0.6,
            "alpha": mark.shade,
        }
        axes.add_patch(Rectangle((xs[0], ys[0]), *size, clip_on=False, **fill))
    elif mark.shape == "polygon":
        axes.add_patch(Polygon(list(zip(xs, ys, strict=True)), facecolor=colour))
    else:
        axes.plot(xs, ys, color=colour, **style)


def _colour(look: str, theme: Theme) -> str:
    """The colour that a look says, if any."""
    if look in _OF_THEME:
        return _OF_THEME[look](theme)
    return _COLOURS[look][theme is DARK] if look in _COLOURS else ""
