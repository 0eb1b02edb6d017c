"""The characters of a page with their boxes, in the frame in which most of them stand upright.

A page's /Rotate says how a viewer turns it, not how its text runs: a text that was typed upright
reads the same under all four rotations. So the frame follows the text: its direction is the one
most characters have, x runs along the lines and `top` down the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Floats, Ints, UInt32s

__all__ = ["HYPHEN", "PageChars", "framed", "plumber_chars", "snapped"]

HYPHEN = ord("-")


_SKEW = 12.0  # degrees: a crooked scan is still upright


@dataclass(frozen=True, slots=True)
class PageChars:
    """Characters in the order in which the page draws them; outside the CropBox there are none."""

    codes: UInt32s
    x0: Floats
    x1: Floats
    top: Floats
    bottom: Floats
    size: Floats
    width: float  # of the page, in this frame
    height: float
    turned: int  # degrees, counter-clockwise, by which the text runs in the page's own space
    sideways: int  # characters that run in another direction: counted, not kept
    unmapped: int  # characters whose meaning the file does not give
    outside: int  # characters outside the CropBox
    doubtful: Bools  # letters and digits that may be others: the file gives a number, no meaning

    def without_doubt(self) -> PageChars:
        """The doubtful characters as U+FFFD: better no sentence than a wrong digit."""
        codes = self.codes.copy()
        codes[self.doubtful] = 0xFFFD
        return replace(self, codes=codes)

    def __len__(self) -> int:
        return len(self.codes)


def snapped(degrees: Floats) -> Ints:
    """0, 90, 180 or 270 for what is nearly so, -1 for what runs askew.

    >>> snapped(np.array([1.0, 88.0, -90.0, 180.0, 45.0])).tolist()
    [0, 90, 270, 180, -1]
    """
    quarter = np.rint(degrees / 90.0)
    near = np.abs(degrees - quarter * 90.0) <= _SKEW
    return np.where(near, (quarter.astype(np.int64) % 4) * 90, -1)


def framed(
    codes: UInt32s,
    boxes: Floats,
    degrees: Floats,
    size: Floats | None,
    crop: tuple[float, float, float, float],
    unmapped: Bools,
) -> PageChars:
    """Characters turned into their frame.

    `boxes` are left, bottom, right, top in the page's own space (y runs up); `size` the font's,
    or None for the height of the box.
    """
    left, bottom, right, top = crop
    middle_x, middle_y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    inside = (middle_x >= left - 1) & (middle_x <= right + 1)
    inside &= (middle_y >= bottom - 1) & (middle_y <= top + 1)
    outside = int(len(codes) - inside.sum())
    direction = snapped(degrees)
    visible = direction[inside & (codes > 32)]
    counts = np.array([(visible == angle).sum() for angle in (0, 90, 180, 270)])
    turned = int(np.argmax(counts)) * 90
    keep = inside & (direction == turned)
    sideways = int(len(visible) - counts.max(initial=0))
    b = boxes[keep]
    if turned == 0:
        x0, x1, y0, y1 = b[:, 0] - left, b[:, 2] - left, top - b[:, 3], top - b[:, 1]
    elif turned == 90:
        x0, x1, y0, y1 = b[:, 1] - bottom, b[:, 3] - bottom, b[:, 0] - left, b[:, 2] - left
    elif turned == 180:
        x0, x1, y0, y1 = right - b[:, 2], right - b[:, 0], b[:, 1] - bottom, b[:, 3] - bottom
    else:
        x0, x1, y0, y1 = top - b[:, 3], top - b[:, 1], right - b[:, 2], right - b[:, 0]
    wide, high = right - left, top - bottom
    return PageChars(
        codes=codes[keep],
        x0=x0,
        x1=x1,
        top=y0,
        bottom=y1,
        size=(y1 - y0) if size is None else size[keep],
        width=wide if turned in (0, 180) else high,
        height=high if turned in (0, 180) else wide,
        turned=turned,
        sideways=sideways,
        unmapped=int(unmapped[inside].sum()),
        outside=outside,
        doubtful=_is_word(codes[keep]) & unmapped[keep],
    )


def _is_word(codes: UInt32s) -> Bools:
    digit = (codes >= 0x30) & (codes <= 0x39)
    lower = codes | 0x20
    return digit | ((lower >= 0x61) & (lower <= 0x7A)) | (codes >= 0xC0)


def plumber_chars(page: Any) -> PageChars:
    """All characters of a pdfplumber page, for those that PDFium cannot read or reads badly.

    pdfplumber turns a page by its /Rotate before it gives boxes and matrices, and leaves in what
    stands outside the CropBox. The frame undoes the one, the crop the other.
    """
    x0, top, x1, bottom = map(float, page.cropbox)
    crop = (x0, -bottom, x1, -top)
    rows: list[tuple[int, float, float, float, float, float, float, bool]] = []
    for char in page.chars:
        text = char["text"]
        a, b, *_ = char["matrix"]
        angle = math.degrees(math.atan2(b, a))
        left, right, size = char["x0"], char["x1"], char["size"]
        bottom, top = -char["bottom"], -char["top"]
        lost = text.startswith("(cid:")
        letters = "\ufffd" if lost else text
        share = (right - left) / len(letters)
        for place, letter in enumerate(letters):
            start = left + place * share
            rows.append((ord(letter), start, bottom, start + share, top, angle, size, lost))
    if not rows:
        empty = np.zeros(0)
        nothing = empty.astype(np.uint32), np.zeros((0, 4)), empty, empty
        return framed(*nothing, crop, empty.astype(bool))
    codes, *numbers, lost_ones = zip(*rows, strict=True)
    left_, bottom_, right_, top_, angle_, size_ = (np.array(each, float) for each in numbers)
    boxes, lost_marks = np.stack([left_, bottom_, right_, top_], axis=1), np.array(lost_ones, bool)
    framed_ = framed(np.array(codes, np.uint32), boxes, angle_, size_, crop, lost_marks)
    return replace(framed_, turned=(framed_.turned + int(page.rotation)) % 360)
