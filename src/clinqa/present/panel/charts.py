"""Planes, heat map and histogram as inline SVG, coloured by the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from clinqa.present.report.charts import svg, tag, text

__all__ = ["Point", "heat_map", "histogram", "plane"]

_SIDE, _LEFT, _TOP = 290.0, 46.0, 26.0
_STEPS = 60
_CLOSE = 0.06


@dataclass(frozen=True, slots=True)
class Point:
    """A run in a plane."""

    number: int
    label: str
    look: str
    x: float
    y: float
    front: bool
    hollow: bool
    base: int | None = None


def plane(
    chart: str, title: str, axes: tuple[str, str], points: Sequence[Point], kind: str
) -> Markup:
    """Points with the frontier joined, arrows from base to fine-tuned, and iso lines.

    `kind` is roc (lines of equal J) or pr (lines of equal F1).
    """
    parts = [text(0, 13, title, "t"), *_grid(axes), *(_iso_j() if kind == "roc" else _iso_f1())]
    front = sorted({(p.x, p.y) for p in points if p.front})
    if len(front) > 1:
        line = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in front)
        parts.append(tag("polyline", points=line, class_="front"))
    by_number = {point.number: point for point in points}
    for point in points:
        start = by_number.get(point.base or -1)
        if start is not None and (start.x, start.y) != (point.x, point.y):
            parts += _arrow(start, point)
    for point in points:
        look = f"dot hollow {point.look}" if point.hollow else f"dot {point.look}"
        parts.append(tag("circle", cx=_x(point.x), cy=_y(point.y), r=4.5, class_=look))
    for x, y, numbers in _together(points):
        said = ", ".join(map(str, numbers))
        right = x > 0.85
        parts.append(
            text(_x(x) + (-8 if right else 8), _y(y) + (-7 if y < 0.95 else 14), said, "label",
                 "end" if right else "start")
        )  # fmt: skip
    told = "; ".join(f"{p.number} {p.label}: {p.x:.2f}, {p.y:.2f}" for p in points)
    return svg(chart, title, f"{axes[0]}, {axes[1]}. {told}", _TOP + _SIDE + 38, parts)


def _together(points: Sequence[Point]) -> list[tuple[float, float, list[int]]]:
    """Where the numbers of points stand: those too close for labels of their own share one."""
    found: list[list[Point]] = []
    for point in points:
        for group in found:
            if abs(group[0].x - point.x) <= _CLOSE and abs(group[0].y - point.y) <= _CLOSE:
                group.append(point)
                break
        else:
            found.append([point])
    return [
        (max(p.x for p in group), max(p.y for p in group), [p.number for p in group])
        for group in found
    ]


def _x(value: float) -> float:
    return _LEFT + _SIDE * value


def _y(value: float) -> float:
    return _TOP + _SIDE * (1 - value)


def _grid(axes: tuple[str, str]) -> list[Markup]:
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [
            tag("line", x1=_x(tick), x2=_x(tick), y1=_y(0), y2=_y(1), class_="grid"),
            tag("line", x1=_x(0), x2=_x(1), y1=_y(tick), y2=_y(tick), class_="grid"),
            text(_x(tick), _y(0) + 14, f"{tick:g}", "tick", "middle"),
            text(_x(0) - 6, _y(tick) + 4, f"{tick:g}", "tick", "end"),
        ]
    parts.append(text(_x(0.5), _y(0) + 30, axes[0], "tick", "middle"))
    parts.append(
        tag("text", axes[1], x=10.0, y=_y(0.5), class_="tick", text_anchor="middle",
            transform=f"rotate(-90 10 {_y(0.5):.1f})")
    )  # fmt: skip
    return parts


def _iso_j() -> list[Markup]:
    parts = []
    for j in (0.0, 0.25, 0.5, 0.75):
        parts.append(tag("line", x1=_x(0), y1=_y(j), x2=_x(1 - j), y2=_y(1), class_="iso"))
        parts.append(text(_x(0.9 - j), _y(0.915), f"J {j:g}", "tick", "end"))
    return parts


def _iso_f1() -> list[Markup]:
    parts = []
    for f1 in (0.2, 0.4, 0.6, 0.8):
        found = []
        for step in range(1, _STEPS + 1):
            recall = step / _STEPS
            if 2 * recall > f1 and (exact := f1 * recall / (2 * recall - f1)) <= 1:
                found.append(f"{_x(recall):.1f},{_y(exact):.1f}")
        parts.append(tag("polyline", points=" ".join(found), class_="iso"))
        parts.append(text(_x(0.99), _y(f1 / (2 - f1)) - 3, f"F1 {f1:g}", "tick", "end"))
    return parts


def _arrow(start: Point, end: Point) -> list[Markup]:
    """A line that stops before its dot, with a head."""
    x1, y1, x2, y2 = _x(start.x), _y(start.y), _x(end.x), _y(end.y)
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if length < 14:
        return []
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    tip = (x2 - 6 * ux, y2 - 6 * uy)
    back = (tip[0] - 7 * ux, tip[1] - 7 * uy)
    head = (tip, (back[0] - 3.5 * uy, back[1] + 3.5 * ux), (back[0] + 3.5 * uy, back[1] - 3.5 * ux))
    return [
        tag("line", x1=x1 + 6 * ux, y1=y1 + 6 * uy, x2=back[0], y2=back[1], class_="arrow"),
        tag("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in head), class_="head"),
    ]


def heat_map(
    chart: str, title: str, names: Sequence[str], values: Sequence[Sequence[float | None]]
) -> Markup:
    """Kappa of every two judges, those that agree beside each other."""
    room, cell = 128.0, max(22.0, min(44.0, 222.0 / max(1, len(names))))
    top = 24.0 + 88.0
    width = room + cell * len(names) + 10
    parts = [text(0, 13, title, "t")]
    for row, name in enumerate(names):
        y = top + cell * row
        parts.append(text(room - 6, y + cell / 2 + 4, _short(name, 19), "label", "end"))
        x = room + cell * (row + 0.5)
        parts.append(
            tag("text", _short(name, 14), x=x, y=top - 6, class_="label",
                transform=f"rotate(-48 {x:.1f} {top - 6:.1f})")
        )  # fmt: skip
        for column, value in enumerate(values[row]):
            left = room + cell * column
            if row == column:
                parts.append(
                    tag("rect", x=left, y=y, width=cell - 1, height=cell - 1, class_="cell self")
                )
                continue
            look = "cell" if value is None or value >= 0 else "cell below"
            strength = 0.0 if value is None else min(1.0, abs(value))
            parts.append(
                tag("rect", x=left, y=y, width=cell - 1, height=cell - 1, class_=look,
                    fill_opacity=f"{0.08 + 0.62 * strength:.2f}")
            )  # fmt: skip
            said = "–" if value is None else f"{value:.2f}".replace("-", "−")
            look = "tick on" if cell >= 30 else "tick on tiny"
            parts.append(text(left + cell / 2 - 0.5, y + cell / 2 + 3.5, said, look, "middle"))
    told = "Kappa of every two judges; the numbers stand in the cells and in tables/kappa.csv."
    return svg(chart, title, told, top + cell * len(names) + 4, parts, width=width)


def histogram(chart: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Markup:
    """How many statements so many models judged right, True and False apart."""
    most = max((int(row["items"]) for row in rows), default=1) or 1
    left, width, step = 34.0, 300.0, 300.0 / max(1, len(rows))
    bottom = 150.0
    parts = [text(0, 13, title, "t")]
    for part in (0.0, 0.5, 1.0):
        y = bottom - 110 * part
        parts.append(tag("line", x1=left, x2=left + width, y1=y, y2=y, class_="grid"))
        parts.append(text(left - 5, y + 4, f"{most * part:.0f}", "tick", "end"))
    for at, row in enumerate(rows):
        x, y = left + step * at + step * 0.14, bottom
        for key, look in (("true", "part e1"), ("false", "part e3")):
            high = 110 * int(row[key]) / most
            y -= high
            parts.append(tag("rect", x=x, y=y, width=step * 0.72, height=high, class_=look))
        if int(row["items"]):
            parts.append(text(x + step * 0.36, y - 4, str(row["items"]), "tick", "middle"))
        parts.append(text(x + step * 0.36, bottom + 14, str(row["right"]), "tick", "middle"))
    parts.append(text(left + width / 2, bottom + 29, "models that are right", "tick", "middle"))
    told = "; ".join(f"{row['right']} models right: {row['items']}" for row in rows)
    return svg(chart, title, told, bottom + 34, parts)


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
