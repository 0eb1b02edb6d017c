"""What a person reads on a page: its text, a line a block, a line a row of a table."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

__all__ = ["NUMBER", "lines_of_page"]

_LINES = frozenset(
    {
        "p", "div", "section", "article", "header", "footer", "h1", "h2", "h3", "h4", "h5", "li",
        "ul", "ol", "dl", "dt", "dd", "table", "caption", "tr", "figure", "figcaption", "summary",
        "details", "pre", "br", "svg", "text", "title", "main", "nav", "blockquote",
    }
)  # fmt: skip
_CELLS = frozenset({"td", "th"})
_CLOCKS = ("Wall clock", "Per answer", "a second")
NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w.])|–")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line: list[str] = []
        self._inside = ""
        self._table: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"style", "script"}:
            told = dict(attrs)
            self._inside = "json" if "json" in (told.get("type") or "") else "hidden"
        elif tag in _CELLS:
            self._line.append(" | ")
        elif tag in _LINES:
            self._end()
        if tag == "table":
            self._table = len(self.lines)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"style", "script"}:
            self._inside = ""
        elif tag in _LINES:
            self._end()
        if tag == "table" and self._table is not None:
            self._without_clocks(self._table)
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._inside == "json":
            self.lines.append(f"[data: {_shape(data)}]")
        elif not self._inside:
            self._line.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        line = " ".join("".join(self._line).split())
        if line:
            self.lines.append(line)
        self._line = []

    def _without_clocks(self, start: int) -> None:
        """Of a table of times, the numbers are taken out."""
        rows = self.lines[start:]
        if any(word in row for row in rows for word in _CLOCKS):
            self.lines[start:] = [NUMBER.sub("#", row) for row in rows]


def _shape(text: str) -> str:
    found = json.loads(text)
    if not isinstance(found, dict):
        return f"{type(found).__name__} of {len(found)}"
    sizes = {k: len(v) if isinstance(v, list | dict) else 1 for k, v in sorted(found.items())}
    return ", ".join(f"{key} {size}" for key, size in sizes.items())


def lines_of_page(text: str) -> list[str]:
    """The visible lines."""
    page = _Page()
    page.feed(text)
    page.close()
    return page.lines
