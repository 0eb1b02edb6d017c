"""The raw records of a document's pages to pages: what only the whole document can tell.

Running headers are known by coming back, and a word broken at a line's end by standing whole
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clinqa.core.records import Reason, Reject
from clinqa.sources.pdf.clean import page_text, vocabulary
from clinqa.sources.pdf.mode import mode_of
from clinqa.sources.pdf.order import PageLine
from clinqa.sources.pdf.records import STAGE, Mode, PdfPage, TextEngine, Why
from clinqa.sources.pdf.running import Sheet, is_page_label, running_lines

__all__ = ["failed_page", "finished_pages"]

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
        pages.append(_page(md5, number, record, page_text(_begun(body), known), ink))
    return tuple(pages)


def _sheet(record: Mapping[str, Any]) -> Sheet:
    lines = [PageLine(*fields) for fields in record.get("lines", ())]
    return Sheet(lines, float(record.get("height", 0.0)))


def _begun(lines: list[PageLine]) -> list[PageLine]:
    """The first line that is left begins a block."""
    if lines:
        lines[0].begins = True
    return lines


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
