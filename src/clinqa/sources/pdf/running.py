"""Running headers, footers and page numbers: lines at the edge that come back page after page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from clinqa.sources.pdf.order import PageLine

__all__ = ["Sheet", "is_page_label", "running_lines"]

_EDGE = 0.12  # of the page's height
_NEAR = 0.02  # two lines at the same height
_PER_EDGE = 3  # lines looked at above and below
_DIGITS = re.compile(r"\d+")
_LABEL = re.compile(
    r"(?:(?:page|p\.|seite)\s*)?[-–—|(\[]?\s*(?:\d{1,5}|[ivxlc]{1,7})\s*[-–—|)\]]?"
    r"(?:\s*(?:/|of|von)\s*\d{1,5})?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The lines of one page and its height."""

    lines: Sequence[PageLine]
    height: float


def is_page_label(text: str) -> bool:
    """Is this a page's number and nothing else?

    >>> is_page_label("Page 4 of 12"), is_page_label("- 7 -"), is_page_label("V4 to V6")
    (True, True, False)
    """
    return _LABEL.fullmatch(text.strip()) is not None


def running_lines(sheets: Sequence[Sheet]) -> list[frozenset[int]]:
    """For each page the numbers of its lines that are running headers, footers or page numbers.

    A line at the edge is one where the same words (digits aside) stand at the same height on two
    pages at least, and on a quarter of all: left and right pages may differ. A page's number by
    itself needs no second page, for it is no sentence; it must stand farthest out.
    """
    places: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    found: list[set[int]] = [set() for _ in sheets]
    for page, sheet in enumerate(sheets):
        for number in _edge(sheet):
            line = sheet.lines[number]
            key = _DIGITS.sub("#", line.text).casefold()
            places[key].append((page, number, line.top / max(sheet.height, 1.0)))
    for seen in places.values():
        for page, number, height in seen:
            alike = {other for other, _, at in seen if abs(at - height) <= _NEAR}
            if len(alike) >= 2 and 4 * len(alike) >= len(sheets):
                found[page].add(number)
    for page, sheet in enumerate(sheets):
        for number in _outermost(sheet):
            if is_page_label(sheet.lines[number].text):
                found[page].add(number)
    return [frozenset(numbers) for numbers in found]


def _edge(sheet: Sheet) -> list[int]:
    by_height = sorted(range(len(sheet.lines)), key=lambda number: sheet.lines[number].top)
    above = [n for n in by_height if sheet.lines[n].bottom <= _EDGE * sheet.height]
    below = [n for n in by_height if sheet.lines[n].top >= (1 - _EDGE) * sheet.height]
    return [*above[:_PER_EDGE], *below[-_PER_EDGE:]]


def _outermost(sheet: Sheet) -> list[int]:
    """The first and the last line, where they stand at the edge."""
    edge = set(_edge(sheet))
    if not edge:
        return []
    first = min(range(len(sheet.lines)), key=lambda number: sheet.lines[number].top)
    last = max(range(len(sheet.lines)), key=lambda number: sheet.lines[number].bottom)
    return sorted({first, last} & edge)
