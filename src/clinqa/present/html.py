"""A page as HTML: one template that escapes all, one style sheet, the policy.

Nothing on a page runs and nothing is fetched: the content security policy allows one style sheet,
by its hash, and no script at all. The figures stand in it once more as JSON, for programs.

Charts as inline SVG: drawn without a plotting library, coloured by the style sheet.

Each has a title and a description, and stands beside a table of its numbers.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup, escape

from clinqa import __version__
from clinqa.core.origin import made_up, meaning_of
from clinqa.core.records import is_private
from clinqa.core.visible import visible
from clinqa.kinds.facets.charts import Chart
from clinqa.kinds.facets.pages import Grid, ShownPage
from clinqa.present.drawing import Mark, laid_out

__all__ = [
    "GENERATOR",
    "drawn",
    "html_of",
]

GENERATOR = "clinqa report"
# what moves a cursor, is no legal HTML or turns the direction of what follows
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SYMBOLS = "†‡§¶‖#"


def html_of(page: ShownPage, data_class: str, origin: str = "") -> str:
    """The whole page as one string of HTML."""
    style = files("clinqa.present").joinpath("templates/style.css").read_text("utf-8")
    html = (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            version=__version__,
            generator=GENERATOR,
            policy=_policy(style),
            style=Markup(style),  # noqa: S704 (our own file)
            data_class=data_class,
            origin=origin,
            made_up=made_up(origin),
            made_up_means=meaning_of(origin),
            private=is_private(data_class),
            data=_inlined_json(page.data),
        )
    )
    return CONTROLS.sub(lambda found: visible(found[0]), html)


def _environment() -> jinja2.Environment:
    """The template, which escapes everything."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("clinqa.present", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(breakable=_breakable, unbroken=_unbroken, drawn=drawn, symbols=_symbols)
    made.tests["of"] = lambda block, name: type(block).__name__ == name
    return made


def _symbols(grid: Grid) -> dict[str, str]:
    """A sign for each reason why a figure of a table is missing."""
    reasons = dict.fromkeys(cell.reason for row in grid.rows for cell in row.cells if cell.reason)
    return {
        reason: _SYMBOLS[n] if n < len(_SYMBOLS) else f"*{n}" for n, reason in enumerate(reasons)
    }


def _policy(style: str) -> str:
    """The content security policy of a page with this style sheet and no script."""
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; script-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def _inlined_json(value: Any) -> Markup:
    """JSON that may stand inside a script element: no `<`, `>` or `&` is left in it.

    >>> _inlined_json({"a": "</script>"})
    Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 (escaped just above)


def _breakable(text: str) -> Markup:
    """Where a long name may be broken, and that the shots stay in one piece.

    >>> _breakable("hf:a<b, 3-shot")
    Markup('hf:<wbr>a&lt;b, <span class="nb">3-shot</span>')
    """
    name, comma, shots = text.rpartition(", ")
    if not (comma and shots.endswith("-shot")):
        name, comma, shots = text, "", ""
    joint = Markup("<wbr>")
    broken = joint.join(re.split(r"(?<=[:/_])", name))
    return broken + (Markup(', <span class="nb">{}</span>').format(shots) if comma else "")


def _unbroken(text: str) -> str:
    """`3-shot` on one line: its hyphen is one that does not break."""
    return re.sub(r"(?<=\d)-(?=shot)", "\u2011", text)


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
