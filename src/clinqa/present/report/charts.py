"""The page's charts as inline SVG: drawn without a plotting library, coloured by the style sheet.

Every panel is 360 units wide, so that its letters keep their size on a telephone; a grid of panels
fills a wide screen. Each has a title and a description, and stands beside a table of its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from clinqa.present.report.words import decimals

__all__ = ["Banded", "Bar", "Dot", "dot_panel", "gap_panel", "stacked_panel", "svg", "tag", "text"]

WIDTH = 360
_ROW = 19
_TOP = 24
_LETTER = 6.1  # units a letter takes in the widest of the usual fonts
_PLOT_RIGHT = WIDTH - 14


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure with its interval; `look` is a class of the style sheet, `hollow` a ring."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    look: str = "c0"
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """Shares that add up to a whole, each with its class of the style sheet."""

    label: str
    parts: tuple[tuple[str, float, str], ...]  # name, share, look


@dataclass(frozen=True, slots=True)
class Banded:
    """A figure beside a band and a mark within it; `sure` fills its dot."""

    label: str
    value: float | None
    mark: float | None = None
    low: float | None = None
    high: float | None = None
    look: str = "c0"
    sure: bool = False


def tag(name: str, content: object = "", **attributes: object) -> Markup:
    """An element; attributes and content are escaped, `class_` is written class."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = content if isinstance(content, Markup) else escape(str(content))
    return Markup(f"<{name}{written}>{inner}</{name}>")  # noqa: S704 (all parts escaped above)


def _plain(value: object) -> object:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value


def svg(
    chart: str,
    title: str,
    description: str,
    height: float,
    parts: Iterable[Markup],
    *,
    width: float = WIDTH,
) -> Markup:
    """A chart with its title and description."""
    inside = Markup("").join(
        [
            tag("title", title, id=f"{chart}-title"),
            tag("desc", description, id=f"{chart}-desc"),
            *parts,
        ]
    )
    return tag(
        "svg",
        inside,
        class_="chart",
        role="img",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        aria_labelledby=f"{chart}-title {chart}-desc",
        xmlns="http://www.w3.org/2000/svg",
    )


def text(x: float, y: float, said: str, look: str = "", anchor: str = "start") -> Markup:
    """Letters at a place."""
    return tag("text", said, x=x, y=y, class_=look or None, text_anchor=anchor)


def _fitted(text: str, room: float) -> str:
    """The text cut to the room it has; the number of shots at its end is kept."""
    most = int(room / _LETTER)
    if len(text) <= most:
        return text
    end = 8 if text.endswith("-shot") else 0
    return f"{text[: most - end - 1].rstrip()}…{text[len(text) - end :]}"


def dot_panel(
    chart: str,
    title: str,
    dots: Sequence[Dot],
    *,
    label_width: int = 176,
    top: float = 1.0,
    start: float = 0.0,
) -> Markup:
    """Dots with their intervals on a scale from `start` (0) to `top`, a row each."""
    left = float(label_width)
    span = _PLOT_RIGHT - left
    height = _TOP + _ROW * len(dots) + 20
    bottom = height - 18.0

    def at(value: float) -> float:
        return left + span * min(max((value - start) / (top - start), 0.0), 1.0)

    parts = [text(0, 13, _fitted(title, WIDTH), "t")]
    for tick in (start + (top - start) * part / 4 for part in range(5)):
        x = at(tick)
        parts.append(tag("line", x1=x, x2=x, y1=_TOP - 2.0, y2=bottom, class_="grid"))
        parts.append(text(x, bottom + 13, f"{tick:.3g}", "tick", "middle"))
    for number, dot in enumerate(dots):
        y = _TOP + _ROW * (number + 0.5)
        parts.append(text(left - 7, y + 4, _fitted(dot.label, left - 8), "label", "end"))
        if dot.value is None:
            parts.append(text(left + 4, y + 4, "no figure", "tick"))
            continue
        if dot.low is not None and dot.high is not None:
            parts.append(
                tag(
                    "line",
                    x1=at(dot.low),
                    x2=at(dot.high),
                    y1=y,
                    y2=y,
                    class_=f"whisker {dot.look}",
                )
            )
        ring = " hollow" if dot.hollow else ""
        parts.append(tag("circle", cx=at(dot.value), cy=y, r=4, class_=f"dot {dot.look}{ring}"))
    return svg(chart, title, _dots_in_words(dots), height, parts)


def gap_panel(
    chart: str, title: str, rows: Sequence[Banded], *, label_width: int = 176, top: float = 1.0
) -> Markup:
    """Figures from 0 to `top`, each beside the band in which chance alone leaves them."""
    left, height = float(label_width), _TOP + _ROW * len(rows) + 20
    bottom = height - 18.0

    def at(value: float) -> float:
        return left + (_PLOT_RIGHT - left) * min(max(value / top, 0.0), 1.0)

    parts = [text(0, 13, _fitted(title, WIDTH), "t")]
    for tick in (0.0, top / 2, top):
        parts.append(tag("line", x1=at(tick), x2=at(tick), y1=_TOP - 2.0, y2=bottom, class_="grid"))
        parts.append(text(at(tick), bottom + 13, f"{tick:.3g}", "tick", "middle"))
    for number, row in enumerate(rows):
        y = _TOP + _ROW * (number + 0.5)
        parts.append(text(left - 7, y + 4, _fitted(row.label, left - 8), "label", "end"))
        if row.value is None:
            parts.append(text(left + 4, y + 4, "no figure", "tick"))
            continue
        if row.low is not None and row.high is not None:
            wide = max(at(row.high) - at(row.low), 1.0)
            band = tag("rect", x=at(row.low), y=y - 6, width=wide, height=12, class_="band")
            parts.append(band)
        if row.mark is not None:
            x = at(row.mark)
            parts.append(tag("line", x1=x, x2=x, y1=y - 6, y2=y + 6, class_="chance"))
        look = row.look if row.sure else f"{row.look} hollow"
        parts.append(tag("circle", cx=at(row.value), cy=y, r=4, class_=f"dot {look}"))
    return svg(chart, title, _banded_in_words(rows), height, parts)


def _banded_in_words(rows: Sequence[Banded]) -> str:
    return "; ".join(
        f"{row.label}: {decimals(row.value)}, by chance {decimals(row.mark)}"
        f" ({decimals(row.low)} to {decimals(row.high)})"
        for row in rows
    )


def _dots_in_words(dots: Sequence[Dot]) -> str:
    said = []
    for dot in dots:
        bounds = ""
        if dot.low is not None and dot.high is not None:
            bounds = f" ({decimals(dot.low)} to {decimals(dot.high)})"
        said.append(f"{dot.label}: {decimals(dot.value)}{bounds}")
    return "; ".join(said)


def stacked_panel(chart: str, title: str, bars: Sequence[Bar]) -> Markup:
    """A bar for each run, its label above it, cut into shares; wide parts carry their per cent."""
    pitch, thick = 38, 17
    height = 22 + pitch * len(bars)
    span = float(WIDTH)
    parts = [text(0, 13, _fitted(title, WIDTH), "t")]
    for number, bar in enumerate(bars):
        y = 24.0 + pitch * number
        parts.append(text(0, y + 9, _fitted(bar.label, WIDTH), "label"))
        x = 0.0
        for _, share, look in bar.parts:
            wide = span * share
            if wide <= 0:
                continue
            parts.append(
                tag("rect", x=x, y=y + 13, width=wide, height=thick, class_=f"part {look}")
            )
            if wide >= 26:
                middle = x + wide / 2
                parts.append(
                    text(middle, y + 13 + thick - 5, f"{100 * share:.0f}", f"in {look}", "middle")
                )
            x += wide
    return svg(chart, title, _bars_in_words(bars), height, parts)


def _bars_in_words(bars: Sequence[Bar]) -> str:
    return "; ".join(
        f"{bar.label}: "
        + ", ".join(f"{name} {100 * share:.1f} per cent" for name, share, _ in bar.parts)
        for bar in bars
    )
