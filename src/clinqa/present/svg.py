"""Charts as inline SVG: drawn without a plotting library, coloured by the style sheet.

Each has a title and a description, and stands beside a table of its numbers.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from clinqa.kinds.facets.charts import Chart
from clinqa.present.drawing import Mark, laid_out

__all__ = ["drawn"]


def drawn(chart: Chart) -> Markup:
    """The chart as an element."""
    made = laid_out(chart)
    title, desc = f"{chart.id}-title", f"{chart.id}-desc"
    inside = [_tag("title", chart.title, id=title), _tag("desc", made.told, id=desc)]
    return _tag(
        "svg",
        Markup("").join([*inside, *map(_element, made.marks)]),
        class_="chart",
        viewBox=f"0 0 {_plain(float(made.width))} {_plain(float(made.height))}",
        role="img",
        aria_labelledby=f"{title} {desc}",
        xmlns="http://www.w3.org/2000/svg",
    )


def _tag(name: str, content: object = "", **attributes: object) -> Markup:
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


def _element(mark: Mark) -> Markup:
    (x, y), (x2, y2) = mark.places[0], mark.places[-1]
    where: dict[str, object] = {"points": " ".join(f"{px:.1f},{py:.1f}" for px, py in mark.places)}
    if mark.shape == "text":
        turn = f"rotate({mark.turn} {x:.1f} {y:.1f})" if mark.turn else None
        where = {"x": x, "y": y, "text_anchor": mark.anchor, "transform": turn}
    elif mark.shape == "line":
        where = {"x1": x, "x2": x2, "y1": y, "y2": y2}
    elif mark.shape == "rect":
        where = {"x": x, "y": y, "width": x2 - x, "height": y2 - y}
        where["fill_opacity"] = None if mark.shade is None else f"{mark.shade:.2f}"
    elif mark.shape == "circle":
        where = {"cx": x, "cy": y, "r": mark.size}
    return _tag(mark.shape, mark.text, class_=mark.look, **where)
