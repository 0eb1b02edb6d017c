"""A page as a picture: grey, PNG, turned so that its text stands upright, within a limit of pixels.

Bytes is what a scanned or drawn ECG needs, and a quarter of the bytes. The encoder is the short one
of the PNG specification, deflated at the fastest level: more work saves a fifth of the bytes.
"""

from __future__ import annotations

import ctypes
import math
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import repeat
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from clinqa.core.arrays import Bytes, Floats
from clinqa.sources.pdf.pdfium_chars import typed
from clinqa.sources.pdf.records import PageImage

__all__ = ["TooManyPixels", "ink", "picture", "png"]


_INK_DPI = 50
_MANY = 200
_LARGE = 4_000_000
_MOST = 5_000  # things on a page that are looked at
_DEEPEST = 4  # forms within forms
_INK_STEP = 40  # of 255 levels: what differs less from the paper is no ink


class TooManyPixels(Exception):
    """A picture on the page is larger than allowed.

    PDFium draws the page without what it has no memory for, and says nothing: a blank sheet would
    come of it. So the sizes are added up before.
    """


def picture(page: Any, dpi: float, pixels: int, turned: int) -> PageImage:
    """The page at `dpi`, or at less where that were more than `pixels`."""
    rows, used = _grey(page, dpi, pixels, turned)
    return PageImage(png(rows), width=rows.shape[1] - 1, height=rows.shape[0], dpi=used)


def _grey(page: Any, dpi: float, pixels: int, turned: int) -> tuple[Bytes, float]:
    held = _pixels_on(page)
    if held > pixels:
        raise TooManyPixels
    width, height = page.get_size()
    area = max(width * height, 1e-6) / 72**2
    used = min(dpi, math.sqrt(0.98 * pixels / area), 65_000 * 72 / max(width, height, 1e-6))
    upright = (turned - page.get_rotation()) % 360
    made = Rows()
    # PDFium takes a quarter longer to draw a large picture in grey than in colour
    colour = held > _LARGE
    maker = pdfium.PdfBitmap.new_native if colour else made.bitmap
    bitmap = page.render(
        scale=used / 72, rotation=upright, grayscale=not colour, bitmap_maker=maker
    )
    try:
        if colour:
            drawn = _greyed(bitmap.to_numpy())
            made.rows = np.zeros((drawn.shape[0], drawn.shape[1] + 1), np.uint8)
            made.rows[:, 1:] = drawn
        return made.rows, used
    finally:
        bitmap.close()


class Rows:
    """Rows as a PNG file has them, each after a byte for its filter (none), drawn in place."""

    rows: Bytes

    def bitmap(
        self, width: int, height: int, format: int, rev_byteorder: bool = False
    ) -> pdfium.PdfBitmap:
        """A grey bitmap whose pixels are those of `rows`."""
        flat = np.zeros(height * (width + 1) + 1, np.uint8)
        self.rows = flat[:-1].reshape(height, width + 1)
        buffer = (ctypes.c_ubyte * (height * (width + 1))).from_buffer(flat.data, 1)
        return pdfium.PdfBitmap.new_native(
            width, height, format, rev_byteorder, buffer=buffer, stride=width + 1
        )


def _greyed(array: Bytes) -> Bytes:
    """Blue, green, red to grey by the eye's weights for them."""
    blue, green, red = (array[:, :, band].astype(np.uint16) for band in range(3))
    return ((29 * blue + 150 * green + 77 * red) >> 8).astype(np.uint8)


def ink(page: Any, boxes: Floats, pixels: int) -> float:
    """The share of the page that is drawn on, the boxes of its text left out.

    `boxes` are left, bottom, right, top in the page's own space. The paper is the commonest grey.
    A page with nothing but text, or with hundreds of drawings, need not be drawn to tell.
    """
    drawings = _drawings(page)
    if not drawings or drawings > _MANY:
        return 1.0 if drawings else 0.0
    rows, used = _grey(page, _INK_DPI, pixels, page.get_rotation())
    array = rows[:, 1:]
    paper = int(np.bincount(array.ravel(), minlength=256).argmax())
    drawn = np.abs(array.astype(np.int16) - paper) > _INK_STEP
    left, _, _, top = page.get_bbox()
    scale, (high, wide) = used / 72, array.shape
    for x0, y0, x1, y1 in boxes.tolist():
        lines = slice(max(0, int((top - y1) * scale) - 2), max(0, int((top - y0) * scale) + 3))
        columns = slice(max(0, int((x0 - left) * scale) - 2), max(0, int((x1 - left) * scale) + 3))
        drawn[lines, columns] = False
    return float(np.count_nonzero(drawn) / max(1, high * wide))


@cache
def _calls() -> dict[str, Any]:
    """Past ctypes' conversions (plain numbers in and out): a page may hold thousands of things."""
    handle, number = ctypes.c_void_p, ctypes.c_int
    return {
        "of page": typed("FPDFPage_GetObject", handle, handle, number),
        "of form": typed("FPDFFormObj_GetObject", handle, handle, ctypes.c_ulong),
        "in form": typed("FPDFFormObj_CountObjects", number, handle),
        "kind": typed("FPDFPageObj_GetType", number, handle),
    }


def _things(page: Any) -> Iterator[tuple[int, int]]:
    """The kinds of what stands on the page, and the things, those of forms within it too."""
    call = _calls()
    whole = ctypes.cast(page.raw, ctypes.c_void_p).value
    count = min(_MOST, raw.FPDFPage_CountObjects(page.raw))
    held = list(map(call["of page"], repeat(whole), range(count)))
    depth = 0
    while held and depth < _DEEPEST:
        inner: list[Any] = []
        for kind, thing in zip(map(call["kind"], held), held, strict=True):
            yield kind, thing
            if kind == raw.FPDF_PAGEOBJ_FORM:
                count = min(_MOST - len(inner), call["in form"](thing))
                inner += map(call["of form"], repeat(thing), range(count))
        held, depth = inner, depth + 1


def _drawings(page: Any) -> int:
    """How many things other than text stand on the page, counted to a little over `_MANY`."""
    count = int(raw.FPDFPage_GetAnnotCount(page.raw))
    for kind, _ in _things(page):
        count += kind not in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_FORM)
        if count > _MANY:
            break
    return count


def _pixels_on(page: Any) -> int:
    """The pixels of all pictures on the page."""
    total = 0
    for kind, thing in _things(page):
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            size = raw.FPDF_IMAGEOBJ_METADATA()
            image = ctypes.cast(thing, raw.FPDF_PAGEOBJECT)
            if raw.FPDFImageObj_GetImageMetadata(image, page.raw, size):
                total += int(size.width) * int(size.height)
    return total


def png(rows: Bytes) -> bytes:
    """A grey picture as a PNG file; each row begins with a zero.

    >>> png(np.zeros((2, 4), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    high, wide = rows.shape[0], rows.shape[1] - 1
    header = struct.pack(">IIBBBBB", wide, high, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.data, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
