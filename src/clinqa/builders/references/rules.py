"""`--generator rules`: statements picked from a page and rewritten, without any model.

A sentence is taken if it is declarative, of the plainest build, on one of the pack's topics, and
clear by itself: nothing in it points outside it, weakens it, or belongs to one paper's own work.
What is taken keeps the page's words, the document's own abbreviations spelt out; citations go, an
opening ("However,") goes, and a condition that stands first is put last ("In flutter, the rate is
..." becomes "The rate is ... in flutter").
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
from clinqa.builders.references.sentences import Sentence, sentences_of
from clinqa.core.records import Method

__all__ = [
    "Gleaned",
    "glean",
    "hangs_on_its_page",
    "passed_over",
    "rewritten",
    "topic_of",
    "unknown_abbreviation",
]

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
            text = f"{rest} {_small(what, words)}"
    return f"{text[:1].upper()}{text[1:]}."


def _small(text: str, words: Words) -> str:
    return text[:1].lower() + text[1:]


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
    clause = read_clause(statement, words)
    if clause is None:
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
