"""One document open for reading: what the child process does, and nothing of processes.

Its answers are plain (dicts of JSON values, bytes), for they pass through a pipe and a journal.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium

from clinqa.sources.pdf.chars import PageChars, plumber_chars
from clinqa.sources.pdf.clean import clean_line
from clinqa.sources.pdf.files import ENCRYPTED
from clinqa.sources.pdf.images import ink, picture
from clinqa.sources.pdf.line_pieces import LinePiece, pieces
from clinqa.sources.pdf.order import PageLine, lines_of
from clinqa.sources.pdf.pdfium_chars import crop_of, pdfium_chars
from clinqa.sources.pdf.quality import Quality, fault_of, measure
from clinqa.sources.pdf.records import FileOutcome, PageImage, TextEngine, Why

__all__ = ["OpenDocument", "open_document"]


_HEAD = 1024  # bytes within which a PDF must say that it is one
_WRONG_PASSWORD = 4  # PDFium's numbers
_ALL_DOUBTFUL = 0.15  # then the gate has looked at the words: all are right, or none counts
_GLUED_SHARE = 0.05  # of words: pdfplumber is asked for a second opinion


class OpenDocument:
    """A PDF whose pages can be read, one at a time."""

    def __init__(self, data: bytes, document: pdfium.PdfDocument, password: str | None) -> None:
        self._data, self._document, self._password = data, document, password
        self._plumber: Any = None

    def __len__(self) -> int:
        return len(self._document)

    def page(self, number: int) -> dict[str, Any]:
        """The raw record of page `number` (1-based): its lines, cleaned, with their boxes."""
        page = self._document[number - 1]
        try:
            chars = pdfium_chars(page)
            engine, found = TextEngine.PDFIUM, pieces(chars)
            quality = _quality(found, chars)
            second = self._second(number, quality)
            if second is not None:
                chars, found, quality = second
                engine = TextEngine.PDFPLUMBER
            fault = fault_of(quality)
            if chars.doubtful.any() and quality.unmapped < _ALL_DOUBTFUL:
                chars = chars.without_doubt()
                found = pieces(chars)
            raw = sum(len(piece.text) for piece in found) + max(0, len(found) - 1)
            lines = [] if fault else _cleaned(lines_of(found, chars.width))
            return {
                "engine": engine.value if raw else TextEngine.NONE.value,
                "raw_chars": raw,
                "fault": fault.value if fault else None,
                "width": round(chars.width, 2),
                "height": round(chars.height, 2),
                "rotation": page.get_rotation(),
                "turned": chars.turned,
                "lines": [_kept(line) for line in lines],
            }
        finally:
            page.close()

    def _second(
        self, number: int, first: Quality
    ) -> tuple[PageChars, list[LinePiece], Quality] | None:
        """pdfplumber's reading, where PDFium's is in doubt and pdfplumber's is better."""
        fault = fault_of(first)
        doubtful = fault in (Why.BROKEN_WORDS, Why.REVERSED) or (
            first.glued > _GLUED_SHARE and first.letters >= 100
        )
        if not doubtful:
            return None
        from pdfplumber.utils.exceptions import PdfminerException

        try:
            chars = plumber_chars(self._plumber_page(number))
        except (PdfminerException, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return None  # pdfminer has no error of its own for much of what is broken
        found = pieces(chars)
        quality = _quality(found, chars)
        if fault_of(quality) is None and (fault is not None or quality.glued < first.glued / 2):
            return chars, found, quality
        return None

    def _plumber_page(self, number: int) -> Any:
        if self._plumber is None:
            import pdfplumber

            self._plumber = pdfplumber.open(io.BytesIO(self._data), password=self._password or "")
        return self._plumber.pages[number - 1]

    def ink(self, number: int, pixels: int) -> float:
        """The share of page `number` that is drawn on, its text left out."""
        page = self._document[number - 1]
        try:
            return round(ink(page, _boxes(page, pdfium_chars(page)), pixels), 6)
        finally:
            page.close()

    def image(self, number: int, dpi: float, pixels: int, turned: int) -> PageImage:
        """Page `number` as a picture."""
        page = self._document[number - 1]
        try:
            return picture(page, dpi, pixels, turned)
        finally:
            page.close()

    def close(self) -> None:
        """Let go of it."""
        self._document.close()


def open_document(
    path: Path, md5: str, passwords: Sequence[str]
) -> tuple[OpenDocument | None, FileOutcome, str]:
    """The document, or what became of it instead, with a word on it."""
    data = path.read_bytes()
    if hashlib.md5(data, usedforsecurity=False).hexdigest() != md5:
        return None, FileOutcome.UNREADABLE, "it changed while it was read"
    outcome, detail = _sniffed(data)
    if outcome is not FileOutcome.READ:
        return None, outcome, detail
    for password in (None, *passwords):
        try:
            document = pdfium.PdfDocument(data, password=password)
        except pdfium.PdfiumError as error:
            # the number may be that of an earlier file; the mark stands in the open
            if getattr(error, "err_code", None) == _WRONG_PASSWORD and ENCRYPTED in data:
                continue
            if _has_no_pages(data):
                return None, FileOutcome.NO_PAGES, "it has no pages"
            return None, FileOutcome.DAMAGED, "its structure cannot be read"
        if len(document) == 0:
            return None, FileOutcome.NO_PAGES, "it has no pages"
        return OpenDocument(data, document, password), FileOutcome.READ, detail
    said = "no password given opens it" if passwords else "it needs a password"
    return None, FileOutcome.ENCRYPTED, said


def _sniffed(data: bytes) -> tuple[FileOutcome, str]:
    """What its bytes say before a parser sees them."""
    if not data:
        return FileOutcome.EMPTY_FILE, "it has no bytes"
    head = data[:_HEAD]
    if b"%PDF-" not in head:
        looks = re.match(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml|head|body)", head, re.I)
        what = "it is a web page, perhaps of a login" if looks else "it does not begin as a PDF"
        return FileOutcome.NOT_PDF, what
    after_end = data[data.rfind(b"%%EOF") :] if b"%%EOF" in data else data
    unfinished = b"%%EOF" not in data and b"startxref" not in data[-2048:]
    # objects after the last end: a file that was to be longer, cut off
    if unfinished or re.search(rb"\d+\s+\d+\s+obj\b", after_end):
        return FileOutcome.DAMAGED, "it is cut off: its end is missing"
    return FileOutcome.READ, ""


def _has_no_pages(data: bytes) -> bool:
    """Is it a sound PDF of no pages? PDFium calls such a file broken."""
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser
    from pdfminer.pdftypes import resolve1
    from pdfminer.psexceptions import PSException

    try:
        document = PDFDocument(PDFParser(io.BytesIO(data)))
        if resolve1(resolve1(document.catalog["Pages"])["Count"]) != 0:
            return False
        return next(iter(PDFPage.create_pages(document)), None) is None
    except (PDFException, PSException, KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False


def _quality(found: Sequence[LinePiece], chars: PageChars) -> Quality:
    return measure("\n".join(piece.text for piece in found), chars.unmapped, chars.sideways)


def _cleaned(lines: list[PageLine]) -> list[PageLine]:
    kept: list[PageLine] = []
    begins = False
    for line in lines:
        line.text = clean_line(line.text)
        begins |= line.begins
        if line.text:
            line.begins, begins = begins, False
            kept.append(line)
    return kept


def _kept(line: PageLine) -> list[Any]:
    sides = (line.x0, line.top, line.x1, line.bottom, line.size)
    return [line.text, *(round(side, 2) for side in sides), line.begins]


def _boxes(page: Any, chars: PageChars) -> Any:
    """The characters' boxes back in the page's own space."""
    left, bottom, right, top = crop_of(page)
    x0, x1, y0, y1 = chars.x0, chars.x1, chars.top, chars.bottom
    if chars.turned == 0:
        box = (left + x0, top - y1, left + x1, top - y0)
    elif chars.turned == 90:
        box = (left + y0, bottom + x0, left + y1, bottom + x1)
    elif chars.turned == 180:
        box = (right - x1, bottom + y0, right - x0, bottom + y1)
    else:
        box = (right - y1, top - x1, right - y0, top - x0)
    return np.stack(box, axis=1)
