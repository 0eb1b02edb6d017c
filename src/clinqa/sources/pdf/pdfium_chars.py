"""Characters by PDFium: some twenty times as fast as pdfplumber, with the same boxes.

PDFium's own text has spaces and line breaks that it guessed; they are left out, and words are cut
by the same rule for every engine (`words`). The calls go past ctypes' conversions (plain numbers
in and out), since there are five a character.

Two corrections. PDFium's loose box is the union of a glyph's advance and its ink, so that the ink
of a slanted or substituted font hides the gap after it, or a part of it: where a box reaches that
far, its end is set by the font's own width. And where the loose box is flat, the ink counts.
"""

from __future__ import annotations

import ctypes
from collections import deque
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from clinqa.sources.pdf.chars import HYPHEN, PageChars, framed
from clinqa.sources.pdf.line_pieces import GAP

__all__ = ["crop_of", "pdfium_chars", "typed"]

_BROKEN_HYPHEN = 2  # how PDFium marks a hyphen at the end of a line
_NO_CHARACTERS = (0xFFFE, 0xFFFF)


def typed(name: str, result: Any, *arguments: Any) -> Any:
    """A function of PDFium that takes and gives plain numbers, past ctypes' conversions."""
    address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value
    assert address is not None
    return ctypes.CFUNCTYPE(result, *arguments)(address)


@cache
def _calls() -> dict[str, Any]:
    handle, number, place = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    return {
        "unicode": typed("FPDFText_GetUnicode", ctypes.c_uint, handle, number),
        "loose": typed("FPDFText_GetLooseCharBox", number, handle, number, place),
        "angle": typed("FPDFText_GetCharAngle", ctypes.c_float, handle, number),
        "generated": typed("FPDFText_IsGenerated", number, handle, number),
        "unmapped": typed("FPDFText_HasUnicodeMapError", number, handle, number),
        "origin": typed("FPDFText_GetCharOrigin", number, handle, number, place, place),
        "object": typed("FPDFText_GetTextObject", handle, handle, number),
        "tight": typed("FPDFText_GetCharBox", number, handle, number, place, place, place, place),
    }


def crop_of(page: Any) -> tuple[float, float, float, float]:
    """The part of the page that is shown: CropBox within MediaBox, left, bottom, right, top."""
    media, crop = _upright(page.get_mediabox()), _upright(page.get_cropbox())
    left, bottom = max(media[0], crop[0]), max(media[1], crop[1])
    right, top = min(media[2], crop[2]), min(media[3], crop[3])
    return (left, bottom, right, top) if right > left and top > bottom else media


def _upright(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    a, b, c, d = box
    return min(a, c), min(b, d), max(a, c), max(b, d)


def pdfium_chars(page: pdfium.PdfPage) -> PageChars:
    """All characters of a page.

    PDFium puts pieces of a line in order as they are shown, so that a page whose /Rotate does not
    agree with its text is read with its words torn. It is read unturned, and again as its text
    runs where that is another way.
    """
    shown = page.get_rotation()
    try:
        page.set_rotation(0)
        chars = _chars(page)
        if chars.turned:
            page.set_rotation(chars.turned)
            chars = _chars(page)
        return chars
    finally:
        page.set_rotation(shown)


def _chars(page: pdfium.PdfPage) -> PageChars:
    text = page.get_textpage()
    try:
        handle = ctypes.cast(text.raw, ctypes.c_void_p).value
        return _read(handle, text.count_chars(), crop_of(page))
    finally:
        text.close()


def _read(handle: Any, count: int, crop: tuple[float, float, float, float]) -> PageChars:
    call = _calls()
    same = repeat(handle)
    codes = np.fromiter(map(call["unicode"], same, range(count)), np.uint32, count)
    # white space that PDFium made up has no place on the page
    blank = np.nonzero((codes <= 32) & (codes != _BROKEN_HYPHEN))[0].tolist()
    generated = map(call["generated"], same, blank)
    made_up = [i for i, made in zip(blank, generated, strict=True) if made == 1]
    mask = np.ones(count, bool)
    mask[made_up] = False
    codes = codes[mask]
    kept = np.nonzero(mask)[0].tolist()
    boxes = np.zeros((len(kept), 4), np.float32)  # left, top, right, bottom
    start = boxes.ctypes.data
    places = range(start, start + 16 * len(kept), 16)
    deque(map(call["loose"], same, kept, places), maxlen=0)
    angles = np.fromiter(map(call["angle"], same, kept), np.float64, len(kept))
    lost = np.fromiter(map(call["unmapped"], same, kept), np.int8, len(kept)) == 1
    hyphen = (codes == _BROKEN_HYPHEN) & ~lost
    codes[hyphen | np.isin(codes, _NO_CHARACTERS)] = HYPHEN
    exact = boxes[:, (0, 3, 2, 1)].astype(np.float64)
    degrees = np.rad2deg(angles)
    _mend(handle, kept, exact)
    _true_advance(handle, kept, exact, degrees, codes)
    return framed(codes, exact, degrees, None, crop, lost | _meaningless(codes))


def _meaningless(codes: np.ndarray[Any, np.dtype[np.uint32]]) -> Any:
    control = (codes < 32) & ~np.isin(codes, (9, 10, 13))
    private = (codes >= 0xE000) & (codes <= 0xF8FF)
    return control | private | (codes == 0xFFFD) | ((codes >= 0x7F) & (codes < 0xA0))


def _mend(handle: Any, kept: list[int], boxes: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    """The exact box where the loose one has no area: text that is turned, or fonts of no height."""
    flat = (boxes[:, 2] - boxes[:, 0] <= 0.01) | (boxes[:, 3] - boxes[:, 1] <= 0.01)
    if not flat.any():
        return
    tight = _calls()["tight"]
    four = np.zeros(4, np.float64)  # left, right, bottom, top
    at = four.ctypes.data
    for place in np.nonzero(flat)[0].tolist():
        if tight(handle, kept[place], at, at + 8, at + 16, at + 24):
            boxes[place] = four[[0, 2, 1, 3]]


def _true_advance(
    handle: Any,
    kept: list[int],
    boxes: np.ndarray[Any, np.dtype[np.float64]],
    degrees: np.ndarray[Any, np.dtype[np.float64]],
    codes: np.ndarray[Any, np.dtype[np.uint32]],
) -> None:
    """Upright characters from their origin to the end of their advance, where it may matter.

    It may between two characters of one line that overlap, or whose gap is too small for a space
    by their boxes: between the others ink tells what advances would.
    """
    if len(kept) < 2:
        return
    em = boxes[:-1, 3] - boxes[:-1, 1]
    gap = boxes[1:, 0] - boxes[:-1, 2]
    level = np.abs(boxes[1:, 1] - boxes[:-1, 1]) < em
    upright = np.abs(degrees) < 1.0
    close = (gap < 0.16 * em) & (np.abs(gap) > 0.01 * em) & (gap > -2 * em)
    close &= level & upright[:-1] & upright[1:]
    wanted = np.zeros(len(kept), bool)
    wanted[:-1] |= close
    wanted[1:] |= close
    asked = np.nonzero(wanted)[0]
    if not len(asked):
        return
    points = np.full((len(asked), 2), np.nan)
    start = points.ctypes.data
    x_at, y_at = (
        range(start, start + 16 * len(asked), 16),
        range(start + 8, start + 16 * len(asked) + 8, 16),
    )
    numbers = np.asarray(kept)[asked].tolist()
    deque(map(_calls()["origin"], repeat(handle), numbers, x_at, y_at), maxlen=0)
    origins = np.full(len(kept), np.nan)
    origins[asked] = points[:, 0]
    reach = boxes[:-1, 2] > origins[1:] - 0.16 * em  # or hide a part of the gap
    # letters of one ligature share its box: no letter's own width is theirs
    shared = np.zeros(len(kept) + 1, bool)
    shared[1:-1] = (boxes[1:] == boxes[:-1]).all(axis=1)
    alone = ~(shared[:-1] | shared[1:])
    hidden = np.nonzero(close & reach & alone[:-1] & (origins[1:] > origins[:-1]))[0].tolist()
    ems = _Ems(handle)
    for place in hidden:
        advance, size = ems.advance(kept[place], int(codes[place]))
        end = origins[place] + advance
        # the box may be lower than the font is large, and only a gap by the font's size is one
        if advance > 0 and origins[place + 1] > end + GAP * size:
            boxes[place, 2] = min(boxes[place, 2], end)
    # only to the right: an origin left of the ink is the glyph's side bearing, and in the box
    shifted = (origins > boxes[:, 0]) & (origins < boxes[:, 2])  # false where it was not asked
    boxes[shifted, 0] = origins[shifted]


class _Ems:
    """Widths of characters by their fonts, each text object asked once."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._objects: dict[int, tuple[Any, float, int]] = {}
        self._widths: dict[tuple[int, int], float] = {}

    def advance(self, index: int, code: int) -> tuple[float, float]:
        """A character's width and its font's size, in points; zeros where it cannot be told."""
        pointer = _calls()["object"](self._handle, index)
        if not pointer:
            return 0.0, 0.0
        known = self._objects.get(pointer)
        if known is None:
            known = self._objects[pointer] = _font_of(pointer)
        font, em, name = known
        if not font:
            return 0.0, 0.0
        width = self._widths.get((name, code))
        if width is None:
            out = ctypes.c_float()
            good = raw.FPDFFont_GetGlyphWidth(font, code, 1000.0, out)
            width = self._widths[name, code] = out.value / 1000.0 if good else 0.0
        return width * em, em


def _font_of(pointer: int) -> tuple[Any, float, int]:
    """A text object's font, the width of its em on the page, and the font's address."""
    thing = ctypes.cast(pointer, raw.FPDF_PAGEOBJECT)
    font, size = raw.FPDFTextObj_GetFont(thing), ctypes.c_float()
    matrix = raw.FS_MATRIX()
    if not (font and raw.FPDFTextObj_GetFontSize(thing, size)):
        return None, 0.0, 0
    if not raw.FPDFPageObj_GetMatrix(thing, matrix):
        return None, 0.0, 0
    return font, abs(size.value * matrix.a), ctypes.cast(font, ctypes.c_void_p).value or 0
