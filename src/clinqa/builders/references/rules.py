"""`--generator rules`: statements picked from a page and rewritten, without any model.

A sentence is taken if it is declarative, of the plainest build, on one of the pack's topics, and
clear by itself: nothing in it points outside it, weakens it, or belongs to one paper's own work.
What is taken keeps the page's words, the document's own abbreviations spelt out; citations go, an
opening ("However,") goes, and a condition that stands first is put last ("In flutter, the rate is
..." becomes "The rate is ... in flutter").

The sentences of a page, each with its place: what the rules can make statements of.

Headings, captions, lists of numbers and broken ends of columns are no sentences: a sentence
begins with a capital letter, ends with a full stop and stands in one block of lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from clinqa.builders.references.abbreviations import spelt_out
from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft, Page
from clinqa.builders.references.pack_words import Words
from clinqa.core.records import Method

__all__ = [
    "Gleaned",
    "Sentence",
    "glean",
    "hangs_on_its_page",
    "passed_over",
    "rewritten",
    "sentences_of",
    "topic_of",
    "unknown_abbreviation",
]

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
_LONGEST_LINE = 400


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
    return (
        len(words) >= 4
        and len(text) <= _LONGEST_LINE
        and letters >= 0.6 * len(text.replace(" ", ""))
    )


_CITED = re.compile(r"\s*\[\d[\d,\s\u2013-]*\]")
_FRONTED = re.compile(
    r"^(?P<what>(?:In|At|During|With|On|When|If|After|Before|For)\s[^,;:]{3,70}),\s+"
    r"(?P<rest>(?:the|a|an|one|two|three|lead|leads|each|both|conduction|depolari[sz]ation|"
    r"repolari[sz]ation|p|q|r|s|t|u|qrs|pr|qt|st|atrial|ventricular)\b[^,;:]*)$",
    re.I,
)
_SPLIT = re.compile(
    r"(?:;\s+|,\s+(?:and|but|whereas|while)\s+)(?=(?:the|a|an|lead|leads|one|each)\s)", re.I
)
# what follows explains or contrasts, and the clause before it holds without it; after "but", "if"
# or "unless" it would not
_AFTERTHOUGHT = re.compile(r",\s+(?:while|whereas|where|since|because|as\s+the)\s+", re.I)
_SHOUTED = re.compile(r"\b[A-Za-z]*[A-Z][A-Za-z]*[A-Z]\w*\b")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b(?!\s*(?:ms|mv|hz|per|/))", re.I)
_ODD = re.compile(r"[^\w\s.,;:()%/<>=\u2264\u2265\u00b1\u00b0+'\u2019\u2212\u2013-]")
_SHORTEST, _LONGEST = 4, 34


@dataclass(slots=True)
class Gleaned:
    """The drafts of a page, and how many sentences were passed over, by why."""

    drafts: list[Draft] = field(default_factory=list)
    read: int = 0
    passed: Counter[str] = field(default_factory=Counter)


def glean(page: Page, words: Words, meanings: Mapping[str, str] | None = None) -> Gleaned:
    """The drafts of one page; `meanings` are those of its document's own abbreviations."""
    gleaned = Gleaned()

    def say(text: str) -> str:
        return spelt_out(rewritten(text, words), meanings or {}, words.abbreviations)

    for sentence in sentences_of(page.text):
        for piece in _pieces(sentence, page.text, words, say):
            gleaned.read += 1
            statement = say(piece.text)
            why = passed_over(statement, words)
            if why:
                gleaned.passed[why] += 1
                continue
            gleaned.drafts.append(
                Draft(
                    page.md5,
                    page.page,
                    page.part,
                    page.mode,
                    piece.start,
                    piece.end,
                    page.text[piece.start : piece.end],
                    statement,
                    True,
                    topic_of(statement, words) or "",
                    Method.RULES.value,
                )
            )
    return gleaned


def _pieces(
    sentence: Sentence, page: str, words: Words, say: Callable[[str], str]
) -> Iterator[Sentence]:
    """The sentence, or its clauses where each is a sentence of its own, or its first clause where
    the rest is an afterthought that makes the whole hard to read."""
    text = sentence.text
    edges = [m.span() for m in _SPLIT.finditer(text)]
    if edges:
        lows = [0, *(end for _, end in edges)]
        highs = [*(start for start, _ in edges), len(text)]
        pieces = [_piece(sentence, page, low, high) for low, high in zip(lows, highs, strict=True)]
        if all(read_clause(say(piece.text), words) for piece in pieces):
            yield from pieces
            return
    after = _AFTERTHOUGHT.search(text)
    if after and passed_over(say(text), words):
        first = _piece(sentence, page, 0, after.start())
        if not passed_over(say(first.text), words):
            yield first
            return
    yield sentence


def _piece(sentence: Sentence, page: str, low: int, high: int) -> Sentence:
    """A part of a sentence, and where it stands on the page."""
    raw = page[sentence.start : sentence.end]
    # the places on the page, blanks aside
    place = [i for i, char in enumerate(raw) if not char.isspace()]
    text = sentence.text[low:high]
    before = sum(not c.isspace() for c in sentence.text[:low])
    solid = sum(not c.isspace() for c in text)
    first = sentence.start + place[before]
    last = sentence.start + place[before + solid - 1] + 1
    return Sentence(text[:1].upper() + text[1:].rstrip(), first, last)


def rewritten(text: str, words: Words) -> str:
    """The sentence as a statement by itself.

    The page's words in their order, but for an opening that goes and a condition put last.
    """
    text = " ".join(_CITED.sub("", text).split())
    text = text.rstrip(".").rstrip()
    while opening := words.openings.match(text):
        text = text[opening.end() :]
    if fronted := _FRONTED.match(text):
        what, rest = fronted["what"], fronted["rest"]
        if " and " not in rest and read_clause(f"{rest[:1].upper()}{rest[1:]}", words):
            text = f"{rest} {what[:1].lower()}{what[1:]}"
    return f"{text[:1].upper()}{text[1:]}."


def passed_over(statement: str, words: Words) -> str:
    """Why a sentence makes no statement, in a word; nothing where it does."""
    count = len(statement.split())
    if not _SHORTEST <= count <= _LONGEST:
        return "length"
    if hangs_on_its_page(statement, words):
        return "needs_context"
    if words.image.search(statement):
        return "points_at_a_picture"
    if _YEAR.search(statement) or _ODD.search(statement):
        return "needs_context"
    if unknown_abbreviation(statement, words):
        return "unknown_abbreviation"
    if words.paper.search(statement):
        return "of_one_paper"
    if words.hedge.search(statement):
        return "hedged"
    if topic_of(statement, words) is None:
        return "off_topic"
    if (clause := read_clause(statement, words)) is None:
        return "not_plain"
    if statement.startswith("The ") and not any(
        topic.search(clause.subject) for topic in words.topics.values()
    ):
        return "needs_context"  # which delay, which signal? the text around it knows
    return ""


def hangs_on_its_page(statement: str, words: Words) -> bool:
    """Whether it says "this", "it" or "we", or begins as what goes on from something else."""
    first = statement.split()[0].casefold().strip(",")
    return first in words.first or words.context.search(statement) is not None


def unknown_abbreviation(statement: str, words: Words) -> bool:
    """Whether the statement holds one that the pack does not know."""
    return any(found not in words.abbreviations for found in _SHOUTED.findall(statement))


def topic_of(statement: str, words: Words) -> str | None:
    """The topic whose terms cover most of the statement; the pack's order decides ties."""
    best, most = None, 0
    for name, pattern in words.topics.items():
        weight = sum(len(m[0].split()) for m in pattern.finditer(statement))
        if weight > most:
            best, most = name, weight
    return best
