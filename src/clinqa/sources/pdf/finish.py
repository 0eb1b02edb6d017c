"""The raw records of a document's pages to pages: what only the whole document can tell.

Running headers are known by coming back, and a word broken at a line's end by standing whole
elsewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.core.records import Reason, Reject
from clinqa.sources.pdf.clean import page_text, vocabulary
from clinqa.sources.pdf.order import PageLine
from clinqa.sources.pdf.records import STAGE, Mode, PdfPage, TextEngine, Why

__all__ = [
    "failed_page",
    "finished_pages",
]

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


TEXT_FROM = 400
BOTH_FROM = 100


def mode_of(chars: int, fault: Why | None, blank: bool) -> tuple[Mode, Why]:
    """A page's mode and why: read as text, as a picture, as both, or not at all.

    The counts are those of ECGQuest: 400 characters and more text, 100 to 399 both, fewer vision,
    counted on the page's stripped text, white space inside included. The gate of `quality` stands
    before them, since a page of unmapped glyphs has thousands of characters and not one word.

    >>> mode_of(400, None, False)[0], mode_of(399, None, False)[0], mode_of(99, None, False)[0]
    (<Mode.TEXT: 'text'>, <Mode.BOTH: 'both'>, <Mode.VISION: 'vision'>)
    """
    if blank:
        return Mode.NONE, Why.BLANK
    if fault is not None:
        return Mode.VISION, fault
    if chars >= TEXT_FROM:
        return Mode.TEXT, Why.ENOUGH_TEXT
    if chars >= BOTH_FROM:
        return Mode.BOTH, Why.SOME_TEXT
    return Mode.VISION, Why.LITTLE_TEXT


_NO_INK = 0.0005  # share of the page: specks of a scan


def failed_page(kind: str, *, costly: bool = False) -> dict[str, Any]:
    """The raw record of a page that could not be read."""
    return {"failed": kind, "costly": costly}


def finished_pages(
    md5: str, raw: Sequence[Mapping[str, Any]], ink: Callable[[int], float | None]
) -> tuple[PdfPage, ...]:
    """The pages of one document, in order.

    `ink` gives the share of a page that is drawn on, None where it cannot be told; it is asked for
    pages without text alone, since it means to draw them.
    """
    sheets = [_sheet(record) for record in raw]
    running = running_lines(sheets)
    known = vocabulary(line.text for sheet in sheets for line in sheet.lines)
    pages = []
    for number, (record, sheet, out) in enumerate(zip(raw, sheets, running, strict=True), 1):
        if "failed" in record:
            pages.append(_failed(md5, number, record))
            continue
        body = [line for place, line in enumerate(sheet.lines) if place not in out]
        if body:
            body[0].begins = True
        pages.append(_page(md5, number, record, page_text(body, known), ink))
    return tuple(pages)


def _sheet(record: Mapping[str, Any]) -> Sheet:
    lines = [PageLine(*fields) for fields in record.get("lines", ())]
    return Sheet(lines, float(record.get("height", 0.0)))


def _page(
    md5: str,
    number: int,
    record: Mapping[str, Any],
    text: str,
    ink: Callable[[int], float | None],
) -> PdfPage:
    fault = Why(record["fault"]) if record["fault"] else None
    blank = False
    if fault is None and (not text or is_page_label(text)):
        drawn = ink(number)
        blank = drawn is not None and drawn < _NO_INK
    if blank:
        text = ""
    mode, why = mode_of(len(text), fault, blank)
    return PdfPage(
        md5=md5,
        page=number,
        text=text,
        chars=len(text),
        mode=mode,
        reason=why,
        engine=TextEngine(record["engine"]),
        raw_chars=int(record["raw_chars"]),
        width=float(record["width"]),
        height=float(record["height"]),
        rotation=int(record["rotation"]),
        turned=int(record["turned"]),
    )


def _failed(md5: str, number: int, record: Mapping[str, Any]) -> PdfPage:
    reason = Reason.TOO_COSTLY if record.get("costly") else Reason.BROKEN_PAGE
    reject = Reject(STAGE, reason, md5, part="page", page=number, detail=str(record["failed"]))
    return PdfPage(md5, number, "", 0, Mode.NONE, Why.FAILED, TextEngine.NONE, reject=reject)
