"""Characters to words, and words to pieces of lines, whatever engine gave the characters.

The rule for words is pdfplumber's with `x_tolerance_ratio=0.15` and `use_text_flow`: in the order
in which the page draws them, a character begins a word after white space, after a gap of more
than 0.15 of the font's size, when it steps back, or when it stands higher or lower. A fixed gap
(pdfplumber's default of 3 points) glues the words of small or tightly set type together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.sources.pdf.chars import PageChars

__all__ = ["LinePiece", "pieces"]

GAP = 0.15  # of the font's size
STEP = 3.0  # points up or down
_COLUMN = 2.0  # of the font's size: a gap that may be the space between columns
_FULLWIDTH_SPACES = (0x20, 0x09, 0x0A, 0x0D, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000, 0x2028, 0x2029)


@dataclass(slots=True)
class LinePiece:
    """Words that stand beside each other on one line, without a gap as wide as between columns."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float

    @property
    def height(self) -> float:
        """Of its tallest character."""
        return self.bottom - self.top


def pieces(chars: PageChars) -> list[LinePiece]:
    """The pieces of a page, in the order in which it draws them."""
    codes = chars.codes
    space = np.isin(codes, _FULLWIDTH_SPACES) | ((codes >= 0x2000) & (codes <= 0x200A))
    at = np.nonzero(~space)[0]
    if not len(at):
        return []
    first = _word_begins(chars, space, at)
    x0, x1, top, bottom = chars.x0[at], chars.x1[at], chars.top[at], chars.bottom[at]
    starts = np.nonzero(first)[0]
    word_x0 = np.minimum.reduceat(x0, starts)
    word_x1 = np.maximum.reduceat(x1, starts)
    word_top = np.minimum.reduceat(top, starts)
    word_bottom = np.maximum.reduceat(bottom, starts)
    word_size = np.maximum.reduceat(chars.size[at], starts)
    line_starts = np.nonzero(_line_begins(word_x0, word_x1, word_top, word_bottom, word_size))[0]
    box = (
        np.minimum.reduceat(word_x0, line_starts),
        np.minimum.reduceat(word_top, line_starts),
        np.maximum.reduceat(word_x1, line_starts),
        np.maximum.reduceat(word_bottom, line_starts),
        np.maximum.reduceat(word_size, line_starts),
    )
    texts = _texts(codes[at], starts, line_starts)
    return [LinePiece(text, *map(float, sides)) for text, *sides in zip(texts, *box, strict=True)]


def _word_begins(chars: PageChars, space: np.ndarray, at: np.ndarray) -> np.ndarray:
    """For each character that is not white space: does a word begin with it?"""
    first = np.ones(len(at), bool)
    before, here = at[:-1], at[1:]
    gap = GAP * chars.size[before]
    x = chars.x0[here]
    first[1:] = (
        (here - before > 1)  # white space stood between
        | (x < chars.x0[before])
        | (x > chars.x1[before] + gap)
        | (np.abs(chars.top[here] - chars.top[before]) > STEP)
    )
    return first


def _line_begins(
    x0: np.ndarray,
    x1: np.ndarray,
    top: np.ndarray,
    bottom: np.ndarray,
    size: np.ndarray,
) -> np.ndarray:
    """For each word: does it not go on with the piece of line of the word before it?"""
    first = np.ones(len(x0), bool)
    shared = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(top[1:], top[:-1])
    lower = np.minimum(bottom[1:] - top[1:], bottom[:-1] - top[:-1])
    step = x0[1:] - x1[:-1]
    em = np.maximum(size[1:], size[:-1])
    first[1:] = (shared < 0.4 * lower) | (step > _COLUMN * em) | (step < -0.5 * em)
    return first


def _texts(
    codes: np.ndarray,
    starts: np.ndarray,
    line_starts: np.ndarray,
) -> list[str]:
    """Each piece's words with one space between them: spaces and line feeds set in, cut once."""
    marks = np.full(len(starts), 0x20, np.uint32)
    marks[line_starts] = 0x0A
    whole = np.insert(codes, starts[1:], marks[1:])
    whole = np.where((whole < 0x20) & (whole != 0x0A), 0xFFFD, whole)
    # halves of one character (a wide character's surrogates) are put together
    text = whole.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    if any("\ud800" <= c <= "\udfff" for c in text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.split("\n")
