"""A text as it is compared: one spelling of what typography writes in several ways.

Ligatures are spelt out; soft hyphens and other characters without width go; every dash and the
minus sign are "-"; a hyphen between two letters goes (a word broken at a line's end and a compound
are then the same); blanks are one. Nothing that carries meaning is lost: digits, signs before
numbers, units and comparison signs stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Folded", "FoldedToken", "fold", "same_words", "tokens_of"]

_NO_WIDTH = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f")
_DASHES = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
_SPELT = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st", "\u00b5": "\u03bc", "\u00ba": "\u00b0", "\u02da": "\u00b0",
    "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"', "\u2264": "\u2264",
    "\u2a7d": "\u2264", "\u2a7e": "\u2265", "\u00d7": "x", "\u2032": "'", "\u2033": '"',
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<number>(?<![\w.])[-+](?=\d)\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*)"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)*)"
    r"|(?P<sign>[<>\u2264\u2265=\u00b1~%\u00b0/+\u2192\u2191\u2193\u03bc]|-)"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """`text`, and of each of its characters the place in the original."""

    text: str
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FoldedToken:
    """A word, number or sign, and where it stands in the original."""

    text: str
    kind: str
    start: int
    end: int


def fold(text: str) -> Folded:
    r"""The text as it is compared.

    >>> fold("concurrent mea-\nsurement of the T\u2011wave").text
    'concurrent measurement of the twave'
    """
    plain: list[tuple[str, int]] = []
    for place, char in enumerate(text):
        if char in _NO_WIDTH:
            continue
        if char in _DASHES:
            plain.append(("-", place))
        elif char.isspace():
            plain.append(("\n" if char in "\r\n\u2028\u2029\x0b\x0c" else " ", place))
        else:
            plain += [(one, place) for one in _SPELT.get(char, char).casefold()]
    kept: list[tuple[str, int]] = []
    size = len(plain)
    index = 0
    while index < size:
        char, place = plain[index]
        if char == "-":
            before = kept[-1][0] if kept else " "
            index = _hyphen(plain, index, before, kept)
            continue
        if char in " \n":
            if kept and kept[-1][0] != " ":
                kept.append((" ", place))
        else:
            kept.append((char, place))
        index += 1
    return Folded("".join(char for char, _ in kept), tuple(place for _, place in kept))


def _hyphen(
    plain: list[tuple[str, int]], index: int, before: str, kept: list[tuple[str, int]]
) -> int:
    """What becomes of a hyphen; gives the index after it and the blanks it swallows."""
    after = index + 1
    while after < len(plain) and plain[after][0] in " \n":
        after += 1
    gap = [char for char, _ in plain[index + 1 : after]]
    next_char = plain[after][0] if after < len(plain) else " "
    broken = "\n" in gap and before.isalnum()
    if before.isalpha() and next_char.isalpha() and (not gap or broken):
        return after
    if broken and next_char.isalnum():
        kept.append(plain[index])
        return after
    # "120 - 200" is the range 120-200; "at -30" is not
    if before == " " and gap and next_char.isdigit() and len(kept) > 1 and kept[-2][0].isdigit():
        kept.pop()
        kept.append(plain[index])
        return after
    kept.append(plain[index])
    return index + 1


def tokens_of(text: str) -> list[FoldedToken]:
    """The words, numbers and signs of a text; what only separates them is gone.

    >>> [token.text for token in tokens_of("Axis \u221230\u00b0, QRS<120ms")]
    ['axis', '-30', '\u00b0', 'qrs', '<', '120', 'ms']
    """
    folded = fold(text)
    found = []
    for match in _TOKEN.finditer(folded.text):
        start, end = folded.at[match.start()], folded.at[match.end() - 1] + 1
        found.append(FoldedToken(match[0], match.lastgroup or "", start, end))
    return found


def same_words(one: str, other: str) -> bool:
    """Whether two texts say the same, typography and punctuation aside."""
    return [t.text for t in tokens_of(one)] == [t.text for t in tokens_of(other)]
