"""What pages of every kind share: the style sheet, the policy, the template that escapes all.

Nothing on a page runs and nothing is fetched: the content security policy allows one style sheet,
by its hash, and no script at all. The figures stand in it once more as JSON, for programs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from clinqa import __version__
from clinqa.core.data_class import is_private
from clinqa.core.figures import PairedTest
from clinqa.core.visible import visible

__all__ = [
    "GENERATOR", "declared", "environment", "inlined_json", "page_of", "policy", "three_digits",
]  # fmt: skip

GENERATOR = "clinqa report"
HOME = "clinqa.present.report"
# what moves a cursor, is no legal HTML or turns the direction of what follows
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_TESTS = 60


def page_of(
    template: str, data_class: str, package: str = HOME, css: str = "", **values: Any
) -> str:
    """The whole page as one string of HTML, from a template of this package.

    `css` names a style sheet of the package that follows the shared one.
    """
    sheets = [(HOME, "style.css"), *([(package, css)] if css else [])]
    style = "\n".join(
        files(home).joinpath(f"templates/{name}").read_text("utf-8") for home, name in sheets
    )
    html = (
        environment(package)
        .get_template(template)
        .render(
            version=__version__,
            generator=GENERATOR,
            policy=policy(style),
            style=Markup(style),  # noqa: S704 (our own files)
            data_class=data_class,
            private=is_private(data_class),
            **values,
        )
    )
    return CONTROLS.sub(lambda found: visible(found[0]), html)


def environment(package: str = HOME) -> jinja2.Environment:
    """The templates of a package, which escape everything."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        breakable=_breakable, unbroken=_unbroken, v3=three_digits, signed=_signed, p=_p
    )
    return made


def declared(tests: Sequence[PairedTest]) -> dict[str, Any]:
    """The declared tests that a page shows, and how many more there are."""
    found = [test for test in tests if test.p_holm is not None]
    return {"tests": found[:_TESTS], "tests_left": max(0, len(found) - _TESTS)}


def policy(style: str) -> str:
    """The content security policy of a page with this style sheet and no script."""
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; script-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def inlined_json(value: Any) -> Markup:
    """JSON that may stand inside a script element: no `<`, `>` or `&` is left in it.

    >>> inlined_json({"a": "</script>"})
    Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 (escaped just above)


def three_digits(value: float | None) -> str:
    """0.123, with a true minus; a dash where there is no value."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value or 0.0:+.3f}".replace("-", "−")


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


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
