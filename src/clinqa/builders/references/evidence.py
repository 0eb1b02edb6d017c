"""Whether a quoted source text stands on its page, and where.

The words are compared, typography aside. A quote that differs in a word or two still counts where
the difference means nothing (an article, a misspelt letter); every number, unit, sign, negation
and word that has an opposite must be the page's own. What goes into the dataset is the page's text
at that place, never the quote.

A text as it is compared: one spelling of what typography writes in several ways.

Ligatures are spelt out; soft hyphens and other characters without width go; every dash and the
minus sign are "-"; a hyphen between two letters goes (a word broken at a line's end and a compound
are then the same); blanks are one. Nothing that carries meaning is lost: digits, signs before
numbers, units and comparison signs stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from clinqa.core.records import Reason

__all__ = [
    "SHORTEST",
    "Evidence",
    "Folded",
    "FoldedToken",
    "PageIndex",
    "find",
    "fold",
    "same_words",
    "tokens_of",
]

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


SHORTEST = 12
"""Characters of evidence that say enough to be found by (ECGQuest)."""

_JOIN = "\x1f"
_ALIKE = 88.0
_HARMLESS = frozenset({"a", "an", "the", "'", '"'})
_LETTERS = 6
_LOST = "\ufffd"
_ENDS = ".!?;:,()\u2022"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a quote stands: code points of the page's text, half open."""

    start: int
    end: int
    text: str
    exact: bool


class PageIndex:
    """A page's text made ready for many quotes."""

    def __init__(self, text: str, fixed: frozenset[str], negation: frozenset[str]) -> None:
        """`fixed`: words that may not differ; `negation`: words that deny."""
        self.text = text
        self._tokens = tokens_of(text)
        self._joined, self._place = _joined(self._tokens)
        self._folded = fold(text)
        self._fixed, self._negation = fixed | negation, negation

    def find(self, quote: str) -> Evidence | Reason:
        """Where the quote stands, or why it does not count."""
        if len(quote.strip()) < SHORTEST:
            return Reason.QUOTE_TOO_SHORT
        wanted = tokens_of(quote)
        if not wanted:
            return Reason.QUOTE_TOO_SHORT
        found = self._exact(wanted)
        if found is None:
            found = self._alike(quote, wanted)
        if found is None:
            return Reason.QUOTE_NOT_FOUND
        first, last, exact = found
        start, end = self._tokens[first].start, self._tokens[last].end
        if end - start < SHORTEST:
            return Reason.QUOTE_TOO_SHORT
        if _LOST in self.text[max(0, start - 1) : end + 1]:
            return Reason.QUOTE_NOT_FOUND  # a sign was lost there, and it may have been a minus
        if self._denied_outside(first, last):
            return Reason.QUOTE_CUTS_NEGATION
        end += self.text[end : end + 1] in {".", "!", "?"}
        return Evidence(start, end, self.text[start:end], exact)

    def _exact(self, wanted: list[FoldedToken]) -> tuple[int, int, bool] | None:
        needle, _ = _joined(wanted)
        at = self._joined.find(needle)
        if at < 0:
            return None
        first = self._place[at]
        return first, first + len(wanted) - 1, True

    def _alike(self, quote: str, wanted: list[FoldedToken]) -> tuple[int, int, bool] | None:
        needle = fold(quote).text
        if not self._folded.text or len(needle) > len(self._folded.text) + 40:
            return None
        place = fuzz.partial_ratio_alignment(needle, self._folded.text, score_cutoff=_ALIKE)
        if place is None or place.dest_end <= place.dest_start:
            return None
        low = self._folded.at[place.dest_start]
        high = self._folded.at[min(place.dest_end, len(self._folded.at)) - 1] + 1
        inside = [i for i, t in enumerate(self._tokens) if t.end > low and t.start < high]
        if not inside:
            return None
        # the window is cut by characters: a word or two more on each side may belong to it
        for first in range(max(0, inside[0] - 1), min(inside[0] + 2, len(self._tokens))):
            for last in range(inside[-1] + 1, max(inside[-1] - 2, first - 1), -1):
                if first <= last < len(self._tokens):
                    if self._harmless(wanted, self._tokens[first : last + 1]):
                        return first, last, False
        return None

    def _harmless(self, wanted: list[FoldedToken], there: list[FoldedToken]) -> bool:
        """Whether the two differ in nothing that means anything."""
        ours, theirs = [t.text for t in wanted], [t.text for t in there]
        for op in Levenshtein.opcodes(ours, theirs):
            if op.tag == "equal":
                continue
            gone = wanted[op.src_start : op.src_end]
            come = there[op.dest_start : op.dest_end]
            if op.tag == "replace" and len(gone) == len(come):
                pairs = zip(gone, come, strict=True)
                if all(self._spelt_alike(one, other) for one, other in pairs):
                    continue
                return False
            if not all(token.text in _HARMLESS for token in [*gone, *come]):
                return False
        return True

    def _spelt_alike(self, one: FoldedToken, other: FoldedToken) -> bool:
        if one.text in _HARMLESS and other.text in _HARMLESS:
            return True
        if one.kind != "word" or other.kind != "word":
            return False
        if {one.text, other.text} & self._fixed:
            return False
        if min(len(one.text), len(other.text)) < _LETTERS or one.text[0] != other.text[0]:
            return False
        return Levenshtein.distance(one.text, other.text) <= 1

    def _denied_outside(self, first: int, last: int) -> bool:
        """A word that denies in the same clause, left out at either end of the quote."""
        for step, index in ((-1, first - 1), (1, last + 1)):
            near = self._tokens[first if step < 0 else last]
            while 0 <= index < len(self._tokens):
                token = self._tokens[index]
                low, high = (token, near) if step < 0 else (near, token)
                gap = self.text[low.end : high.start]
                if any(mark in gap for mark in _ENDS) or "\n\n" in gap:
                    break
                if token.text in self._negation or token.text.endswith("n't"):
                    return True
                near, index = token, index + step
        return False


def find(
    index: PageIndex, quote: str, next_text: str | None, before_text: str | None
) -> Evidence | Reason:
    """`PageIndex.find`; a quote that runs over onto a neighbouring page is told as such."""
    found = index.find(quote)
    if found is not Reason.QUOTE_NOT_FOUND:
        return found
    wanted = tokens_of(quote)
    for pair in ((index.text, next_text), (before_text, index.text)):
        if pair[0] is None or pair[1] is None:
            continue
        joined, _ = _joined(tokens_of(f"{pair[0]}\n{pair[1]}"))
        if _joined(wanted)[0] in joined:
            return Reason.QUOTE_SPANS_PAGES
    return found


def _joined(tokens: list[FoldedToken]) -> tuple[str, dict[int, int]]:
    """The tokens as one string with a mark around each, and which token starts where."""
    parts = [_JOIN]
    place: dict[int, int] = {}
    size = 1
    for number, token in enumerate(tokens):
        place[size - 1] = number
        parts.append(token.text + _JOIN)
        size += len(token.text) + 1
    return "".join(parts), place
