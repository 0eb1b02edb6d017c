"""Which pages are read as text, which as pictures, which as both, which not at all.

The counts are those of ECGQuest: 400 characters and more text, 100 to 399 both, fewer vision,
counted on the page's stripped text, white space inside included. The gate of `quality` stands
before them, since a page of unmapped glyphs has thousands of characters and not one word.
"""

from __future__ import annotations

from clinqa.sources.pdf.records import Mode, Why

__all__ = ["BOTH_FROM", "TEXT_FROM", "mode_of"]

TEXT_FROM = 400
BOTH_FROM = 100


def mode_of(chars: int, fault: Why | None, blank: bool) -> tuple[Mode, Why]:
    """A page's mode and why.

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
