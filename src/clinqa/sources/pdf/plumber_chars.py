"""Characters by pdfplumber, for the pages that PDFium cannot read or reads badly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from clinqa.sources.pdf.chars import PageChars, framed

__all__ = ["plumber_chars"]


def plumber_chars(page: Any) -> PageChars:
    """All characters of a pdfplumber page.

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
