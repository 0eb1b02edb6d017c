"""Charts laid out: lines, boxes, dots and letters at places, for whatever draws them.

Places are units from the upper left corner. Most panels are 360 units wide, so that their letters
keep their size on a telephone; a grid of panels fills a wide screen, and a paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.core.wording import decimals
from clinqa.kinds.facets.charts import (
    Chart,
    Dot,
    Dots,
    HeatMap,
    Histogram,
    Plane,
    PlanePoint,
    StackedBars,
)

__all__ = ["Drawing", "Mark", "laid_out", "round_span"]

WIDTH = 360.0
_ROW, _TOP = 19, 24
_LETTER = 6.1  # units a letter takes in the widest of the usual fonts
_RIGHT = WIDTH - 14
_SIDE, _LEFT, _ABOVE = 290.0, 46.0, 26.0  # of a plane
_STEPS = 60
_CLOSE = 0.06
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A line, polyline, polygon, rect (two corners), circle or text at its places.

    `look` are classes of the style sheet, `size` a radius, `shade` how much of its colour a rect
    has; text has an anchor and may be turned by degrees.
    """

    shape: str
    places: Sequence[Place]
    look: str = ""
    text: str = ""
    anchor: str = "start"
    turn: int = 0
    size: float = 0.0
    shade: float | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart's marks, what it shows in words, and how large it is."""

    marks: Sequence[Mark]
    told: str
    height: float
    width: float = WIDTH


def laid_out(chart: Chart) -> Drawing:
    """The chart, with its title above it."""
    made = _LAYOUTS[type(chart)](chart)
    title = text(0, 13, _fitted(chart.title, made.width), "t")
    return Drawing([title, *made.marks], made.told, made.height, made.width)


def text(x: float, y: float, said: str, look: str, anchor: str = "start", *, turn: int = 0) -> Mark:
    """Letters at a place."""
    return Mark("text", [(x, y)], look, said, anchor, turn)


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> Mark:
    return Mark("line", [(x1, y1), (x2, y2)], look)


def _rect(
    x: float, y: float, wide: float, high: float, look: str, shade: float | None = None
) -> Mark:
    return Mark("rect", [(x, y), (x + wide, y + high)], look, shade=shade)


def _fitted(said: str, room: float) -> str:
    """The text cut to the room it has; the number of shots at its end is kept."""
    most = int(room / _LETTER)
    if len(said) <= most:
        return said
    end = 8 if said.endswith("-shot") else 0
    return f"{said[: most - end - 1].rstrip()}…{said[len(said) - end :]}"


def _dots(chart: Dots) -> Drawing:
    left, height = float(chart.room), _TOP + _ROW * len(chart.rows) + 20
    bottom, span = height - 18.0, chart.top - chart.start

    def at(value: float) -> float:
        return left + (_RIGHT - left) * min(max((value - chart.start) / span, 0.0), 1.0)

    parts = []
    steps = 2 if chart.banded else 4
    for tick in (chart.start + span * part / steps for part in range(steps + 1)):
        parts += [
            _line(at(tick), _TOP - 2.0, at(tick), bottom, "grid"),
            text(at(tick), bottom + 13, f"{tick:.3g}", "tick", "middle"),
        ]
    if chart.start < 0 < chart.top:
        parts.append(_line(at(0), _TOP - 2.0, at(0), bottom, "chance"))
    for number, dot in enumerate(chart.rows):
        y = _TOP + _ROW * (number + 0.5)
        parts.append(text(left - 7, y + 4, _fitted(dot.label, left - 8), "label", "end"))
        if dot.value is None:
            parts.append(text(left + 4, y + 4, "no figure", "tick"))
            continue
        if dot.low is not None and dot.high is not None:
            low, high = at(dot.low), at(dot.high)
            wide = max(high - low, 1.0)
            parts.append(
                _rect(low, y - 6, wide, 12, "band")
                if chart.banded
                else _line(low, y, high, y, f"whisker {dot.look}")
            )
        if dot.chance is not None:
            parts.append(_line(at(dot.chance), y - 6, at(dot.chance), y + 6, "chance"))
        parts.append(_circle(at(dot.value), y, 4, dot))
    told = "; ".join(_told(dot, chart.banded) for dot in chart.rows)
    return Drawing(parts, told, height)


def _circle(x: float, y: float, r: float, dot: Dot | PlanePoint) -> Mark:
    look = f"dot {dot.look}{' hollow' if dot.hollow else ''}"
    return Mark("circle", [(x, y)], look, size=r)


def _told(dot: Dot, banded: bool) -> str:
    bounds = f" ({decimals(dot.low)} to {decimals(dot.high)})"
    if banded:
        bounds = f", by chance {decimals(dot.chance)}{bounds}"
    known = banded or (dot.low is not None and dot.high is not None)
    return f"{dot.label}: {decimals(dot.value)}{bounds if known else ''}"


def _bars(chart: StackedBars) -> Drawing:
    """A bar for each run, its label above it; wide parts carry their per cent."""
    pitch, thick = 38, 17
    parts = []
    for number, bar in enumerate(chart.bars):
        x, y = 0.0, 37.0 + pitch * number
        parts.append(text(0, y - 4, _fitted(bar.label, WIDTH), "label"))
        for _, share, look in bar.parts:
            wide = WIDTH * share
            if wide > 0:
                parts.append(_rect(x, y, wide, thick, f"part {look}"))
            if wide >= 26:
                said = f"{100 * share:.0f}"
                parts.append(text(x + wide / 2, y + thick - 5, said, f"in {look}", "middle"))
            x += wide
    told = "; ".join(
        f"{bar.label}: "
        + ", ".join(f"{name} {100 * share:.1f} per cent" for name, share, _ in bar.parts)
        for bar in chart.bars
    )
    return Drawing(parts, told, 22.0 + pitch * len(chart.bars))


def _plane(chart: Plane) -> Drawing:
    points, axes = chart.points, chart.axes
    spans = (
        [(0.0, 1.0)] * 2
        if chart.levels
        else [round_span([0.0, *(p.x for p in points)]), round_span(p.y for p in points)]
    )

    def at(x: float, y: float) -> Place:
        parts = [(v - low) / (high - low) for v, (low, high) in zip((x, y), spans, strict=True)]
        return _LEFT + _SIDE * parts[0], _ABOVE + _SIDE * (1 - parts[1])

    marks = [*_grid(axes, spans), *_iso(chart.levels, at)]
    front = sorted({(p.x, p.y) for p in points if p.front})
    if len(front) > 1:
        marks.append(Mark("polyline", [at(*place) for place in front], "front"))
    by_number = {point.number: point for point in points}
    for point in points:
        start = by_number.get(point.base or -1)
        if start is not None and (start.x, start.y) != (point.x, point.y):
            marks += _arrow(at(start.x, start.y), at(point.x, point.y))
    marks += [_circle(*at(point.x, point.y), 4.5, point) for point in points]
    marks += _labels(chart, at)
    told = "; ".join(f"{p.number} {p.label}: {p.x:.2f}, {p.y:.2f}" for p in points)
    return Drawing(marks, f"{axes[0]}, {axes[1]}. {told}", _ABOVE + _SIDE + 38)


def round_span(values: Iterable[float]) -> Place:
    """An axis of four round steps that holds the values.

    >>> round_span([0.0, 0.013, 0.08]), round_span([-5.2, -3.1])
    ((0.0, 0.08), (-6.0, -2.0))
    """
    known = list(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    least = (high - low or abs(high) or 1.0) / 4
    ten = 10.0 ** math.floor(math.log10(least))
    for step in (ten, 2 * ten, 2.5 * ten, 5 * ten, 10 * ten, 20 * ten):
        start = step * math.floor(low / step)
        if start + 4 * step >= high:
            break
    return start, start + 4 * step


def _labels(chart: Plane, at: Callable[[float, float], Place]) -> Iterator[Mark]:
    """What points are called: by numbers beside lines of equal levels, else by their labels."""
    for group in _together(chart.points, _CLOSE if chart.levels else 0.0):
        x, y = max(p.x for p in group), max(p.y for p in group)
        said, (px, py), right = ", ".join(str(p.number) for p in group), at(x, y), x > 0.85
        if not chart.levels:
            said, right = group[0].label, px > _LEFT + _SIDE / 2
        px, py = px + (-8 if right else 8), py + (-7 if y < 0.95 else 14)
        yield text(px, py, said, "label", "end" if right else "start")


def _together(points: Sequence[PlanePoint], close: float) -> list[list[PlanePoint]]:
    """Those too close for labels of their own share one."""
    found: list[list[PlanePoint]] = []
    for point in points:
        for group in found:
            if max(abs(group[0].x - point.x), abs(group[0].y - point.y)) <= close:
                group.append(point)
                break
        else:
            found.append([point])
    return found


def _grid(axes: tuple[str, str], spans: Sequence[Place]) -> list[Mark]:
    marks = []
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _LEFT + _SIDE * part, _ABOVE + _SIDE * (1 - part)
        across, up = (f"{low + (high - low) * part:.2g}" for low, high in spans)
        marks += [
            _line(x, _ABOVE + _SIDE, x, _ABOVE, "grid"),
            _line(_LEFT, y, _LEFT + _SIDE, y, "grid"),
            text(x, _ABOVE + _SIDE + 14, across, "tick", "middle"),
            text(_LEFT - 6, y + 4, up, "tick", "end"),
        ]
    marks.append(text(_LEFT + _SIDE / 2, _ABOVE + _SIDE + 30, axes[0], "tick", "middle"))
    return [*marks, text(10, _ABOVE + _SIDE / 2, axes[1], "tick", "middle", turn=-90)]


def _iso_lines(levels: str) -> list[tuple[str, list[Place]]]:
    """The lines of equal J or F1 of a plane, each with its name.

    >>> [name for name, _ in _iso_lines("f1")]
    ['F1 0.2', 'F1 0.4', 'F1 0.6', 'F1 0.8']
    """
    if levels == "j":
        return [(f"J {j:g}", [(0.0, j), (1 - j, 1.0)]) for j in (0.0, 0.25, 0.5, 0.75)]
    made = []
    for f1 in (0.2, 0.4, 0.6, 0.8) if levels == "f1" else ():
        recalls = (f1 / 2 + (1 - f1 / 2) * step / _STEPS for step in range(1, _STEPS + 1))
        points = [(x, f1 * x / (2 * x - f1)) for x in recalls]
        made.append((f"F1 {f1:g}", [(x, y) for x, y in points if y <= 1]))
    return made


def _iso(levels: str, at: Callable[[float, float], Place]) -> Iterable[Mark]:
    for name, points in _iso_lines(levels):
        yield Mark("polyline", [at(*place) for place in points], "iso")
        x, y = points[-1]
        place = (x - 0.1, 0.915) if levels == "j" else (0.99, y + 3 / _SIDE)
        yield text(*at(*place), name, "tick", "end")


def _arrow(start: Place, end: Place) -> list[Mark]:
    """A line that stops before its dot, with a head."""
    (x1, y1), (x2, y2) = start, end
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if length < 14:
        return []
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    tip = (x2 - 6 * ux, y2 - 6 * uy)
    x, y = tip[0] - 7 * ux, tip[1] - 7 * uy
    head = [tip, (x - 3.5 * uy, y + 3.5 * ux), (x + 3.5 * uy, y - 3.5 * ux)]
    return [_line(x1 + 6 * ux, y1 + 6 * uy, x, y, "arrow"), Mark("polygon", head, "head")]


def _heat_map(chart: HeatMap) -> Drawing:
    own = chart.rows == chart.columns
    room, cell = 128.0 if own else 236.0, max(22.0, min(44.0, 222.0 / max(1, len(chart.columns))))
    top, most = (112.0, 14.5 * _LETTER) if own else (142.0, 26 * _LETTER)
    heads = [
        text(room + cell * (at + 0.5), top - 6, _fitted(name, most), "label", turn=-48)
        for at, name in enumerate(chart.columns)
    ]
    marks = heads[len(chart.rows) :]
    for row, name in enumerate(chart.rows):
        y, said = top + cell * row, _fitted(name, room - 9)
        marks += [text(room - 6, y + cell / 2 + 4, said, "label", "end"), *heads[row : row + 1]]
        for column, value in enumerate(chart.values[row]):
            x = room + cell * column
            if own and row == column:
                marks.append(_rect(x, y, cell - 1, cell - 1, "cell self"))
                continue
            texts = chart.texts[row][column] if chart.texts else (decimals(value, 2), "")
            marks += _cell(x, y, cell, value, *texts)
            if chart.framed and chart.framed[row][column]:
                right, down = x + cell - 2, y + cell - 2
                frame = [
                    (x + 1, y + 1),
                    (right, y + 1),
                    (right, down),
                    (x + 1, down),
                    (x + 1, y + 1),
                ]
                marks.append(Mark("polyline", frame, "front"))
    height, width = top + cell * len(chart.rows) + 4, room + cell * len(chart.columns) + 10
    return Drawing(marks, chart.told, height, width)


def _cell(
    x: float, y: float, side: float, value: float | None, said: str, small: str
) -> list[Mark]:
    look = "cell" if value is None or value >= 0 else "cell below"
    shade = round(0.08 + 0.62 * min(1.0, abs(value or 0.0)), 2)
    letters = "tick on" if side >= 30 else "tick on tiny"
    return [
        _rect(x, y, side - 1, side - 1, look, shade),
        text(x + side / 2 - 0.5, y + side / 2 + (3.5 if not small else 0), said, letters, "middle"),
        *([text(x + side / 2, y + side - 8, small, "tick on tiny", "middle")] if small else []),
    ]


def _histogram(chart: Histogram) -> Drawing:
    sums = [round(sum(n for _, n, _ in bar.parts)) for bar in chart.bars]
    most = max(sums, default=1) or 1
    left, width, bottom = 34.0, 300.0, 150.0
    step = width / max(1, len(sums))
    parts = []
    for part in (0.0, 0.5, 1.0):
        y = bottom - 110 * part
        parts += [
            _line(left, y, left + width, y, "grid"),
            text(left - 5, y + 4, f"{most * part:.0f}", "tick", "end"),
        ]
    for at, (bar, whole) in enumerate(zip(chart.bars, sums, strict=True)):
        x, y = left + step * at + step * 0.14, bottom
        for _, n, look in bar.parts:
            high = 110 * n / most
            y -= high
            parts.append(_rect(x, y, step * 0.72, high, f"part {look}"))
        if whole:
            parts.append(text(x + step * 0.36, y - 4, str(whole), "tick", "middle"))
        parts.append(text(x + step * 0.36, bottom + 14, bar.label, "tick", "middle"))
    parts.append(text(left + width / 2, bottom + 29, chart.axes[0], "tick", "middle"))
    what = chart.axes[0].replace("that are ", "")
    told = "; ".join(f"{bar.label} {what}: {n}" for bar, n in zip(chart.bars, sums, strict=True))
    return Drawing(parts, told, bottom + 34)


_LAYOUTS: Mapping[type, Callable[[Any], Drawing]] = {
    Dots: _dots,
    StackedBars: _bars,
    Plane: _plane,
    HeatMap: _heat_map,
    Histogram: _histogram,
}
