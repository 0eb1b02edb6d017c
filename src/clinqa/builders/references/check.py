"""What a draft must be before it counts, whoever made it: rules decide, never the model.

The source text stands on the page; the statement is one plain sentence without a picture; its
label is True or False; and it says nothing that its source does not say: its words are the
source's in the source's order, its numbers, signs, opposites, denials and doubts are all there,
and it leaves out nothing but whole asides. A statement that is worded freely may well be right and
is rejected all the same: nothing enters that was not verified.

Every draft gets its counterpart: the other label, the same source text, one small edit.

A true draft becomes the pairs that the rules can make of it. A false one is mended back: the edit
that makes it what its source says gives the true statement. Where the rules find none, a model may
be asked; what it answers is checked like anything else a model says.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from clinqa.builders.references.clauses import read_clause
from clinqa.builders.references.drafts import Draft, LostDraft, Page
from clinqa.builders.references.evidence import (
    Evidence,
    FoldedToken,
    PageIndex,
    find,
    same_words,
    tokens_of,
)
from clinqa.builders.references.forms import Edit, PairForm, forms_of
from clinqa.builders.references.numbers import numbers_in
from clinqa.builders.references.pack_words import Words
from clinqa.builders.references.replies import RawItem, label_of
from clinqa.builders.references.rules import hangs_on_its_page, topic_of, unknown_abbreviation
from clinqa.core.records import Method, Reason

__all__ = [
    "check_item",
    "contradicts",
    "counterparts",
    "form_from",
    "page_index",
    "points_at_image",
    "supported",
    "well_formed",
]

_STEM = 5
_LITTLE = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "it",
        "its",
        "this",
        "that",
        "which",
        "as",
        "than",
        "then",
        "so",
        "into",
        "onto",
        "called",
        "termed",
        "known",
        "named",
        "said",
        "means",
        "there",
        "their",
    ]
)
_QUALIFIERS = frozenset(
    [
        "only",
        "all",
        "every",
        "each",
        "except",
        "unless",
        "if",
        "when",
        "until",
        "may",
        "might",
        "can",
        "could",
        "should",
        "usually",
        "normally",
        "often",
        "sometimes",
        "rarely",
        "always",
        "never",
        "most",
        "some",
        "many",
        "few",
        "typically",
        "generally",
        "mainly",
        "about",
        "approximately",
        "least",
        "almost",
        "nearly",
        "probably",
        "possibly",
    ]
)
# no sentence ends with one of these
_DANGLING = re.compile(
    r"\b(?:a|an|the|of|to|in|on|at|by|for|from|with|and|or|nor|but|is|are|was|were|as|than|into|"
    r"onto|that|which|whose|not|no|between|about|per|its|their|when|if|because|while|more|less)$",
    re.I,
)
_BEFORE_CUT, _AFTER_CUT = ",;:(\u2013\u2014", ",;:).\u2013\u2014"
# what may be left out at a sentence's end: it explains or contrasts, and limits nothing
_EXPLAINS = re.compile(r"\s*(?:while|whereas|where|since|because|as the|which)\b", re.I)
_WORDS = (4, 60)
_LONGEST = 400


def page_index(page: Page, words: Words) -> PageIndex:
    """A page ready to be searched for quotes."""
    return PageIndex(page.text, words.fixed, words.negating)


def check_item(item: RawItem, page: Page, index: PageIndex, words: Words) -> Draft | LostDraft:
    """The draft that a model's item is, or why it is none."""

    def lost(reason: Reason, detail: str = "") -> LostDraft:
        return LostDraft(reason, page.md5, page.page, page.part, detail)

    label = label_of(item.label)
    if label is None:
        return lost(Reason.BAD_LABEL)
    statement = " ".join(item.question.split())
    if not well_formed(statement):
        return lost(Reason.NOT_WELL_FORMED)
    if hangs_on_its_page(statement, words) or unknown_abbreviation(statement, words):
        return lost(Reason.NEEDS_CONTEXT)
    if points_at_image(statement, words) or points_at_image(item.source, words):
        return lost(Reason.IMAGE_REFERENCE)
    found = find(index, item.source, page.next_text, page.before_text)
    if not isinstance(found, Evidence):
        return lost(found)
    topic = topic_of(statement, words) or topic_of(found.text, words)
    if topic is None:
        return lost(Reason.OFF_TOPIC)
    statement = statement if statement.endswith(".") else f"{statement}."
    if label and not supported(statement, found.text, words):
        return lost(Reason.NOT_IN_SOURCE)
    return Draft(
        page.md5,
        page.page,
        page.part,
        page.mode,
        found.start,
        found.end,
        found.text,
        statement,
        label,
        topic,
        Method.LLM.value,
    )


def well_formed(statement: str) -> bool:
    """One declarative sentence of a sane length, and nothing but text in it."""
    if not statement.isprintable() or len(statement) > _LONGEST:
        return False
    if not statement[:1].isalnum() or statement.rstrip().endswith(("?", "!", ":", ",", ";")):
        return False
    if re.search(r"[.!?]\s+[A-Z]|[<>]{2}|[{}\[\]|`]|https?:", statement):
        return False
    if _DANGLING.search(statement.rstrip(" .")):
        return False
    return _WORDS[0] <= len(statement.split()) <= _WORDS[1]


def points_at_image(text: str, words: Words) -> bool:
    """Whether a text hangs on a picture: by whole phrases, not by the bare word "shown"."""
    return words.image.search(text) is not None


def supported(statement: str, source: str, words: Words) -> bool:
    """Whether the source says what the statement says, as far as rules can tell for certain."""
    said, there = _content(statement), _content(source)
    if not said or not _in_order([_stem(w) for w in said], [_stem(w) for w in there]):
        return False
    if not _whole(statement, source, words):
        return False
    if _exact(statement) - _exact(source):
        return False
    if _qualifying(statement, words) != _qualifying(source, words):
        return False
    opposites = {m[0].casefold() for m in words.opposite.finditer(statement)}
    return opposites <= {m[0].casefold() for m in words.opposite.finditer(source)}


def _whole(statement: str, source: str, words: Words) -> bool:
    """Whether nothing is left out but what can go: an opening, brackets, an afterthought.

    "Is inverted" for "is inverted in lead aVR" would be another statement, and "is 120 to" none.
    """
    there = [token for token in tokens_of(source) if _tells(token)]
    said = [_stem(token.text) for token in tokens_of(statement) if _tells(token)]
    for step in (1, -1):  # a word that stands twice may be the one or the other
        left, wanted = [], list(said[::step])
        for token in there[::step]:
            if wanted and _stem(token.text) == wanted[0]:
                wanted.pop(0)
            else:
                left.append(token)
        if not wanted and all(_may_go(run, source, words) for run in _runs(left[::step], there)):
            return True
    return False


def _tells(token: FoldedToken) -> bool:
    return token.text not in _LITTLE and token.text not in {"/", "-"}


def _runs(left: list[FoldedToken], there: list[FoldedToken]) -> list[tuple[int, int]]:
    """Where what was left out begins and ends, neighbours together."""
    place = {token.start: number for number, token in enumerate(there)}
    runs: list[tuple[int, int]] = []
    before = -2
    for token in left:
        number = place[token.start]
        if number == before + 1:
            runs[-1] = (runs[-1][0], token.end)
        else:
            runs.append((token.start, token.end))
        before = number
    return runs


def _may_go(run: tuple[int, int], source: str, words: Words) -> bool:
    """Whether a piece of the source limits nothing of the rest."""
    start, end = run
    low = max(source.rfind(mark, 0, start) for mark in _BEFORE_CUT)
    ends = [place for mark in _AFTER_CUT if (place := source.find(mark, end)) >= 0]
    high = min(ends, default=len(source))
    around = [*tokens_of(source[low + 1 : start]), *tokens_of(source[end:high])]
    if any(_tells(token) for token in around):
        return False  # a part of a clause
    if low < 0:
        return bool(words.openings.match(source)) and source[high : high + 1] == ","
    if source[low] == "(":
        return source[high : high + 1] == ")"
    rest_is_out = not source[high:].strip(" .)") or source[high] == ";"
    return rest_is_out and (source[low] == ";" or bool(_EXPLAINS.match(source, low + 1)))


def _content(text: str) -> list[str]:
    return [t.text for t in tokens_of(text) if t.kind == "word" and t.text not in _LITTLE]


def _stem(word: str) -> str:
    return word[:_STEM] if len(word) > _STEM + 1 else word


def _in_order(some: list[str], all_of: list[str]) -> bool:
    rest = iter(all_of)
    return all(word in rest for word in some)


def _exact(text: str) -> Counter[str]:
    """Numbers and signs."""
    return Counter(t.text for t in tokens_of(text) if t.kind != "word" and t.text != "/")


def _qualifying(text: str, words: Words) -> Counter[str]:
    found = [t.text for t in tokens_of(text)]
    return Counter(w for w in found if w in _QUALIFIERS or w in words.negating)


def contradicts(true: str, false: str, source: str, words: Words) -> bool:
    """Whether the two differ in one small edit of a known kind, and the true one is the source's.

    The edit is one that the rules would make of the true statement themselves: a number that
    leaves the stated range, a word against its opposite, a denial.
    """
    if same_words(true, false) or not supported(true, source, words):
        return False
    clause = read_clause(true, words)
    if clause is None:
        return False
    forms = forms_of(clause, words, _numbers_of(false, words))
    return any(same_words(form.true, true) and same_words(form.false, false) for form in forms)


def _numbers_of(text: str, words: Words) -> dict[str, tuple[float, ...]]:
    """The numbers of a statement, offered for every unit: which one it is, the form decides."""
    found = []
    for token in tokens_of(text):
        if token.kind == "number":
            try:
                found.append(float(token.text.replace(",", "")))
            except ValueError:
                continue
    return {unit: tuple(found) for unit in words.spec.units}


def counterparts(
    draft: Draft, words: Words, met: Mapping[str, tuple[float, ...]]
) -> tuple[PairForm, ...]:
    """The pairs that a draft can become; none where no edit contradicts it for certain."""
    clause = read_clause(draft.statement, words)
    if clause is None:
        return ()
    if draft.label:
        return tuple(forms_of(clause, words, met))
    there = tuple(numbers_in(draft.source_text))
    offered = dict.fromkeys(words.spec.units, there)
    made = []
    for form in forms_of(clause, words, offered):
        mended = form.false
        if not same_words(form.true, draft.statement):
            continue
        if supported(mended, draft.source_text, words) and contradicts(
            mended, draft.statement, draft.source_text, words
        ):
            made.append(PairForm(mended, draft.statement, form.edit, form.change[::-1]))
    return tuple(made)


def form_from(draft: Draft, statement: str, words: Words) -> PairForm | None:
    """The pair of a draft and a counterpart that somebody else wrote, if it holds."""
    statement = statement if statement.endswith(".") else f"{statement}."
    true, false = (draft.statement, statement) if draft.label else (statement, draft.statement)
    if not contradicts(true, false, draft.source_text, words):
        return None
    clause = read_clause(true, words)
    assert clause is not None
    kinds = [
        form.edit
        for form in forms_of(clause, words, {u: tuple(numbers_in(false)) for u in words.spec.units})
        if same_words(form.false, false)
    ]
    return PairForm(true, false, kinds[0] if kinds else Edit.NEGATION, ("", ""))
