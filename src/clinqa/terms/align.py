"""Which tokens of a text are a term: by character offsets, every occurrence apart.

The tokens of a term in a sentence are not the tokens of the term by itself ("asthma" alone, after
a blank, in capitals, glued to a bracket), so looking for the latter in the former finds the first
of several occurrences, or none and then, with -1 for "none", some other token's probability.
Offsets have neither fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Aligned", "align"]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The places of a term's tokens in the text's tokens, first and one after the last.

    `reaches`: a token at its edge also covers letters or marks that are not the term's.
    """

    first: int
    after: int
    reaches: bool


def align(text: str, offsets: Sequence[tuple[int, int]], start: int, end: int) -> Aligned | None:
    """The tokens of `text[start:end]`, or None where they do not cover it.

    `offsets` are (start, end) of each token. A token belongs to a term if it covers one of its
    characters other than blanks; pieces of one character, as byte-level tokenizers make of "ö",
    have the offsets of the whole, and all belong.

    >>> align("no asthma.", [(0, 2), (2, 6), (6, 9), (9, 10)], 3, 9)
    Aligned(first=1, after=3, reaches=False)
    >>> align("(asthma)", [(0, 4), (4, 8)], 1, 7)
    Aligned(first=0, after=2, reaches=True)
    >>> align("asthma", [(0, 2), (4, 6)], 0, 6) is None
    True
    """
    inside = [
        place
        for place, (low, high) in enumerate(offsets)
        if low < high and text[max(low, start) : min(high, end)].strip()
    ]
    if not inside:
        return None
    first, after = inside[0], inside[-1] + 1
    covered: set[int] = set()
    reaches = False
    for low, high in offsets[first:after]:
        covered.update(range(low, high))
        reaches |= bool(text[low : min(high, start)].strip() or text[max(low, end) : high].strip())
    missing = any(at not in covered and not text[at].isspace() for at in range(start, end))
    return None if missing else Aligned(first, after, reaches)
