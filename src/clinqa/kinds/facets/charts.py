"""Charts as data: what is drawn, not how. `present` draws each as SVG and by matplotlib.

A look is a class of the style sheet that says a colour: `g-general` of a group of models, `e0` to
`e6` of parts of a whole, `band` and `chance` of what chance alone gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Bar",
    "Chart",
    "Dot",
    "Dots",
    "HeatMap",
    "Histogram",
    "Plane",
    "PlanePoint",
    "Plate",
    "StackedBars",
]


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure with its interval; `hollow` is drawn as a ring.

    With `chance`, the interval is the band in which chance alone leaves such figures, and this is
    their mean.
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    look: str = "g-none"
    hollow: bool = False
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Dots:
    """A row a figure, on a scale from `start` to `top`; `room` is what labels take of 360 units."""

    id: str
    title: str
    rows: Sequence[Dot]
    start: float = 0.0
    top: float = 1.0
    room: int = 176
    banded: bool = False  # beside what chance alone gives


@dataclass(frozen=True, slots=True)
class Bar:
    """Parts of a whole, each with its name and look: shares, or counts in a histogram."""

    label: str
    parts: tuple[tuple[str, float, str], ...]


@dataclass(frozen=True, slots=True)
class StackedBars:
    """A bar a row, cut into shares that add up to 1."""

    id: str
    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """A run in a plane: the number it is called by, and that of what it was made from."""

    number: int
    label: str
    look: str
    x: float
    y: float
    front: bool
    hollow: bool = False
    base: int | None = None


@dataclass(frozen=True, slots=True)
class Plane:
    """Points with the frontier joined, and arrows from base to fine-tuned.

    Both axes go from 0 to 1 and have lines of equal `levels`: `j` (sensitivity against 1 −
    specificity), or `f1` (precision against recall). Without them the axes go as far as the points,
    and these are labelled.
    """

    id: str
    title: str
    axes: tuple[str, str]
    points: Sequence[PlanePoint]
    levels: str = ""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values from −1 to 1 in cells; `told` describes it in words.

    Rows that are the columns too leave the diagonal blank. `texts` stand in the cells instead of
    the values, each with a smaller one below; `framed` cells stand out.
    """

    id: str
    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    told: str
    texts: Sequence[Sequence[tuple[str, str]]] = ()
    framed: Sequence[Sequence[bool]] = ()


@dataclass(frozen=True, slots=True)
class Histogram:
    """A column a bar, its parts counts; `axes` name what stands across and what is counted."""

    id: str
    title: str
    bars: Sequence[Bar]
    axes: tuple[str, str]


Chart = Dots | StackedBars | Plane | HeatMap | Histogram


@dataclass(frozen=True, slots=True)
class Plate:
    """Charts of one picture for a paper, so many in a row; `note` stands below."""

    charts: Sequence[Chart]
    across: int = 2
    note: str = ""
