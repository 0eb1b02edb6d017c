"""The sentences of a page, each with its place: what the rules can make statements of.

Headings, captions, lists of numbers and broken ends of columns are no sentences: a sentence
begins with a capital letter, ends with a full stop and stands in one block of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Sentence", "sentences_of"]

_BLOCK = re.compile(r"\n[ \t]*\n")
_END = re.compile(r"[.!?](?=[\s\"\u201d)]|\[|$)")
_BULLET = re.compile(
    r"^[ \t]*(?:[\u2022\u25aa\u25cf\u2023\u2043*]|[-\u2013](?=\s)|\(?\d{1,2}[.)](?=\s))[ \t]*"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|approx|ca|fig|figs|eq|no|nos|ref|refs|dr|prof|resp|vol|pp|"
    r"ed|eds|jr|inc|ltd|dept|univ)|\b[A-Z]\.\s?[A-Z])$",
    re.IGNORECASE,
)
_HEAD = 0.65  # of the width of a full line
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` on one line, and where it stands in the page's text."""

    text: str
    start: int
    end: int


def sentences_of(page: str) -> Iterator[Sentence]:
    """The sentences of a page's text, in its order.

    >>> [s.text for s in sentences_of("1 Waves\\n\\nThe P wave is\\nsmall. It is")]
    ['The P wave is small.']
    """
    for start, end in _blocks(page):
        for first, last in _units(page, start, end):
            text = " ".join(page[first:last].split())
            if _is_sentence(text):
                yield Sentence(text, first, last)


def _blocks(page: str) -> Iterator[tuple[int, int]]:
    """Blocks of lines; one that goes on with a small letter goes on with the one before."""
    start = 0
    edges = [(m.start(), m.end()) for m in _BLOCK.finditer(page)] + [(len(page), len(page))]
    for stop, after in edges:
        if after < len(page):
            rest = page[after:].lstrip()
            before = page[start:stop].rstrip()
            if rest[:1].islower() and before and before[-1] not in ".!?:":
                continue
        yield start, stop
        start = after


def _units(page: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The pieces of a block between full stops; a bullet or a heading's line begins one anew."""
    for low, high in _lines_together(page, start, end):
        first = low
        for match in _END.finditer(page, low, high):
            before = page[first : match.start()]
            if match[0] == "." and _ABBREVIATED.search(before):
                continue
            stop = match.end()
            while stop < high and page[stop] in '"\u201d)':
                stop += 1
            # a citation after the full stop belongs to what it follows, and to no sentence
            while first < stop and (page[first].isspace() or page[first] in '"\u201c('):
                first += 1
            cited = re.compile(r"\s*\[[\d,\s\u2013-]+\]\s*").match(page, first)
            first = cited.end() if cited else first
            yield first, stop
            first = stop


def _lines_together(page: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of lines without a bullet or heading between them; these are left out."""
    at = low = start
    lines = page[start:end].splitlines(keepends=True)
    widths = sorted(len(line.strip()) for line in lines)
    wide = widths[len(widths) * 3 // 4] if widths else 0
    for number, line in enumerate(lines):
        bullet = _BULLET.match(line)
        after = lines[number + 1].strip() if number + 1 < len(lines) else ""
        before = lines[number - 1].strip() if number else ""
        if bullet and bullet.end() < len(line.rstrip()):
            yield low, at
            low = at + bullet.end()
        elif _is_heading(line.strip(), before, after, wide):
            yield low, at
            low = at + len(line)
        at += len(line)
    yield low, end


def _is_heading(line: str, before: str, after: str, wide: int) -> bool:
    """A short line without an end, where nothing was left unfinished and something new begins.

    A sentence that starts a line would have filled it.
    """
    return (
        bool(line)
        and not line.endswith((".", "!", "?", ":", ",", ";", "-"))
        and (not before or before.endswith((".", "!", "?", ":")) or len(before) < _HEAD * wide)
        and (not after or after[0].isupper() or after[0].isdigit())
        and (len(line) < _HEAD * wide)
    )


def _is_sentence(text: str) -> bool:
    if not text.endswith((".", '."', ".\u201d")) or not text[:1].isupper():
        return False
    words = text.split()
    letters = sum(char.isalpha() for char in text)
    if re.search(r"[.!?]\s+[A-Z]", text):
        return False  # two, of which the first has an end that is not known as one
    return len(words) >= 4 and len(text) <= _LONGEST and letters >= 0.6 * len(text.replace(" ", ""))
