"""The pairs that one statement can become: a true and a false sentence one small edit apart.

Each way is sound on its own. Which one a statement takes is chosen over all of them together
(`balance`), so that no word gives a label away: what is false in one pair is true in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from clinqa.builders.references.clauses import (
    StatementClause,
    VerbKind,
    affirmed,
    deniable,
    denied,
    what_is_denied,
)
from clinqa.builders.references.numbers import quantities, replacements
from clinqa.builders.references.pack_words import Opposite, Words

__all__ = ["Edit", "PairForm", "forms_of", "has_negation", "is_plain"]

_OR = re.compile(r"\bor\b(?!\s+(?:more|longer|greater|above|higher|wider|over|larger|deeper|less|"
                 r"shorter|below|lower|narrower|fewer|smaller)\b)", re.I)  # fmt: skip
_NOUN_AFTER_ONE = re.compile(r"\s+[a-z]")
_VOWEL = re.compile(r"(?:[aeiou]|u(?!ni))", re.I)
# what is a sign of one thing may be a sign of another
_KIND_OF = re.compile(
    r"\b(?:signs?|causes?|treatments?|features?|markers?|sources?|forms?)\s+of\s[\w\s-]*$", re.I
)
_PASSING = re.compile(r"\s+(?:through|down|along|across|over|via|up)\s", re.I)
_EDGE_VERBS = frozenset({"begins", "begin", "starts", "start", "ends", "end"})
_ORDER_VERBS = frozenset({"precedes", "precede", "follows", "follow"})
_ASYMMETRIC = frozenset({"precedes", "precede", "follows", "follow", "exceeds", "exceed"})


class Edit(StrEnum):
    """What differs between the two statements of a pair."""

    VALUE = "value"
    DIRECTION = "direction"
    ANATOMY = "anatomy"
    TIME = "time"
    TERM = "term"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class PairForm:
    """A true and a false statement, and the edit between them."""

    true: str
    false: str
    edit: Edit
    change: tuple[str, str]
    """What was exchanged for what, for whoever checks the pair."""


def forms_of(
    clause: StatementClause, words: Words, met: Mapping[str, tuple[float, ...]]
) -> list[PairForm]:
    """Every pair that the clause can become, in an order of its own.

    What is said of some, or sometimes, is contradicted by nothing that is said of others.
    """
    text = clause.text
    if not is_plain(text, words):
        return []
    denials = len(words.negation.findall(text))
    if denials:
        plain = affirmed(clause, words) if denials == 1 else None
        made = [PairForm(_said(text), _said(plain), Edit.NEGATION, ("not", ""))] if plain else []
    else:
        made = [
            *_values(clause, words, met),
            *_counts(clause, words),
            *_swaps(clause, words),
            *_exchanged(clause, words),
            *_denials(clause, words),
        ]
    seen: set[tuple[str, str]] = set()
    forms = []
    for form in made:
        key = (form.true, form.false)
        if form.true != form.false and key not in seen:
            seen.add(key)
            forms.append(form)
    return forms


def has_negation(text: str, words: Words) -> bool:
    """Whether the statement holds a word that denies."""
    return words.negation.search(text) is not None


def is_plain(text: str, words: Words) -> bool:
    """Whether nothing in the statement weakens it, so that its opposite cannot hold too."""
    return words.hedge.search(text) is None


def _said(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _values(
    clause: StatementClause, words: Words, met: Mapping[str, tuple[float, ...]]
) -> Iterator[PairForm]:
    for quantity in quantities(clause, words):
        old = "\u2013".join(f"{v:g}" for v in quantity.values)
        for text, new in replacements(quantity, clause, words, met.get(quantity.unit, ())):
            change = (f"{old} {quantity.unit}", "\u2013".join(f"{v:g}" for v in new))
            yield PairForm(_said(clause.text), _said(text), Edit.VALUE, change)


def _counts(clause: StatementClause, words: Words) -> Iterator[PairForm]:
    """Number words, ordinals and degrees that are said of the subject."""
    if clause.open:
        return
    groups = (words.spec.number_words, words.spec.ordinals, words.spec.degrees)
    for group in groups:
        body = "|".join(map(re.escape, group))
        found = list(re.finditer(rf"(?<![\w-])(?:{body})(?![\w-])", clause.text, re.I))
        if len(found) != 1 or not clause.verb_end <= found[0].start() < clause.main_end:
            continue
        match = found[0]
        before = clause.text[clause.verb_end : match.start()]
        if re.search(r"\b(?:than|least|most|about|to|or|in|with|for|every|per)\s*$", before):
            continue
        if re.match(r"\s+or\b", clause.text[match.end() :]):
            continue
        if match.start() >= clause.core_end or re.search(r"\b(?:per|every)\b", before):
            continue
        if not _NOUN_AFTER_ONE.match(clause.text, match.end()):
            continue
        old = match[0].casefold()
        for new in group:
            if new != old and not _too_far(group, old, new):
                text = _replaced(clause.text, match.start(), match.end(), new)
                yield PairForm(_said(clause.text), _said(text), Edit.VALUE, (old, new))


def _too_far(group: list[str], old: str, new: str) -> bool:
    """Whether a count or rank is too far from the stated one to look like a mistake."""
    return abs(group.index(old) - group.index(new)) > (4 if group[0] == "two" else 2)


def _swaps(clause: StatementClause, words: Words) -> Iterator[PairForm]:
    """A word said of the subject, against its opposite; and the same with the verb denied."""
    for start, end, opposite in _swappable(clause, words):
        false = _replaced(clause.text, start, end, opposite.word)
        edit = Edit(opposite.kind)
        old = clause.text[start:end].casefold()
        yield PairForm(_said(clause.text), _said(false), edit, (old, opposite.word))
        if not deniable(clause, words) or re.search(r"\band\b|,", clause.main):
            continue
        if words.negation.search(opposite.word):
            continue
        if start < clause.verb_end:
            other = opposite.word.casefold()
            changed = replace(clause, text=false, verb=other, verb_end=start + len(other))
            denied_true = denied(changed, words)
            yield PairForm(_said(denied_true), _said(false), Edit.NEGATION, ("not", ""))
            yield PairForm(_said(denied_true), _said(denied(clause, words)), edit, (other, old))
            continue
        denied_false = denied(clause, words)
        longer = len(false) - len(clause.text)
        denied_true = denied(replace(clause, text=false, main_end=clause.main_end + longer), words)
        # true: not the opposite; false: the opposite, or the thing itself denied
        yield PairForm(_said(denied_true), _said(false), Edit.NEGATION, ("not", ""))
        yield PairForm(_said(denied_true), _said(denied_false), edit, (opposite.word, old))


def _swappable(clause: StatementClause, words: Words) -> Iterator[tuple[int, int, Opposite]]:
    """The words of a clause, by their places, each with what may stand in its place."""
    if clause.open or _OR.search(clause.text):
        return
    found = list(words.opposite.finditer(clause.text))
    said = [" ".join(m[0].casefold().split()) for m in found]
    for at, (match, word) in enumerate(zip(found, said, strict=True)):
        in_verb = match.span() == (clause.verb_start, clause.verb_end)
        if not in_verb and not clause.verb_end <= match.start() < clause.core_end:
            continue
        others = said[:at] + said[at + 1 :]
        if _kin_among(word, others, words) or _idiom(clause.text, *match.span(), words):
            continue
        for opposite in words.opposites[word]:
            if _contradicts(clause, words, match, word, opposite) and (
                not in_verb or _fits_as_verb(clause, words, opposite.word.casefold())
            ):
                yield *match.span(), opposite


def _kin_among(word: str, others: list[str], words: Words) -> bool:
    """Whether a relative of the word is said elsewhere in the sentence."""
    related = {word, *(one.word.casefold() for one in words.opposites[word])}
    pieces = {piece for one in related for piece in one.split() if len(piece) > 3}
    return any(other in related or pieces & set(other.split()) for other in others)


def _contradicts(
    clause: StatementClause, words: Words, match: re.Match[str], word: str, opposite: Opposite
) -> bool:
    """Whether the opposite in the word's place is denied by the sentence."""
    verbs = {"begin", "begins", "ends", "starts"}
    if opposite.word in verbs and re.search(r"\bthe\s+$", clause.text[: match.start()]):
        return False
    if word in {"lower", "higher"} and opposite.kind == "direction":
        if not re.match(r"\s+than\b|\s*$", clause.text[match.end() :]):
            return False
    return _exclusive(clause, words, word, match.start(), opposite)


def _exclusive(
    clause: StatementClause, words: Words, word: str, start: int, opposite: Opposite
) -> bool:
    """Whether the sentence cannot hold of both: a drug that prolongs one interval may prolong
    another, but a wave that represents one thing does not represent another."""
    if start >= clause.verb_end and not _told_of_the_subject(clause, words, start, opposite):
        return False
    if start < clause.verb_end or opposite.kind == Edit.DIRECTION:
        return word not in {"elevation", "depression"} or clause.kind is VerbKind.HAVE
    if clause.kind is not VerbKind.BE and clause.verb not in words.functional:
        return False
    before = clause.text[clause.verb_end : start]
    if clause.kind is VerbKind.BE and word in {"before", "after"}:
        # "is constant before the pause" may be constant after it; "is a deflection after" is not
        if not re.search(r"\b(?:a|an|the)\b|ed\s*$", before):
            return False
    # what is below one thing may be below another too
    return not re.search(r"\b(?:below|above|before|after|than)\s+(?:the\s+)?(?:\w+\s+)?$", before)


def _told_of_the_subject(
    clause: StatementClause, words: Words, start: int, opposite: Opposite
) -> bool:
    """Whether a word after the verb is said of the subject, and of nothing else as well."""
    before = clause.text[clause.verb_end : start]
    if _KIND_OF.search(before) or _acts(clause):
        return False
    if clause.verb in words.moving and (opposite.kind == Edit.TERM or _PASSING.match(before)):
        return False  # who travels down one thing travels down the next
    if clause.kind is VerbKind.BE and opposite.word in {"above", "below", "over", "under"}:
        # "is prolonged above 450 ms": the number is when, not what
        return len(before.split()) != 1
    placed = clause.kind is VerbKind.BE or clause.verb in words.functional
    # "overcorrects at high rates" does not say what happens at low ones
    return placed or not re.match(r"\s+(?:in|during|with|at|for|among|under|within)\s", before)


def _acts(clause: StatementClause) -> bool:
    """A drug that ends one rhythm may end or start another; a wave begins and ends at its place."""
    place = re.match(r"\s+(?:at|with|in|on|before|after)\b", clause.main)
    return clause.verb in _EDGE_VERBS and place is None


def _fits_as_verb(clause: StatementClause, words: Words, verb: str) -> bool:
    if _acts(clause):
        return False
    if clause.verb in _ORDER_VERBS and re.search(r"\b(?:every|each)\b", clause.main):
        return False  # what follows every beat precedes the next one
    if verb not in words.closed or re.search(r"\d", clause.main):
        return False
    return not verb.startswith("prolong") or bool(re.match(r"\s+(?:the|a|an)\b", clause.main))


def _idiom(text: str, start: int, end: int, words: Words) -> bool:
    """Words that mean something else here: "as long as", "120 ms wide", "the lower part"."""
    before, after = text[:start].rstrip().lower(), text[end:].lstrip().lower()
    if re.search(rf"\d\s*(?:{words.unit})$", before, re.I):
        return True
    if after.startswith(("square", "box")):
        return True
    return (
        before.endswith((" as", "so", " how"))
        or after.startswith(("as ", "enough"))
        or (before.endswith("at") and text[start:end].lower() in {"first", "last"})
    )


def _exchanged(clause: StatementClause, words: Words) -> Iterator[PairForm]:
    """Both of a pair of opposites in one sentence, each in the other's place."""
    found = list(words.opposite.finditer(clause.text))
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            opposites = words.opposites.get(one[0].casefold(), ())
            kinds = {opposite.word.casefold(): opposite.kind for opposite in opposites}
            if other[0].casefold() not in kinds:
                continue
            if sum(m[0].casefold() in {one[0].casefold(), other[0].casefold()} for m in found) != 2:
                continue
            between = clause.text[one.end() : other.start()]
            ordered = clause.verb_end <= one.start() and other.end() <= clause.main_end
            from_to = (
                ordered
                and re.search(r"\bfrom\b[^,;]*$", clause.text[clause.verb_end : one.start()])
                and re.search(r"\bto\b", between)
            )
            compared = (
                one.end() <= clause.verb_start
                and other.start() >= clause.verb_end
                and (re.search(r"\bthan\b", between) or clause.verb in _ASYMMETRIC)
                and not re.search(r"\b(?:every|each)\b", between)
            )
            if not (from_to or compared) or clause.open or _OR.search(clause.text):
                continue
            first = one[0][:1].lower() + one[0][1:] if one.start() == 0 else one[0]
            text = _replaced(clause.text, other.start(), other.end(), first)
            text = _replaced(text, one.start(), one.end(), other[0])
            kind = Edit(kinds[other[0].casefold()])
            yield PairForm(_said(clause.text), _said(text), kind, (one[0], other[0]))


def _denials(clause: StatementClause, words: Words) -> Iterator[PairForm]:
    if deniable(clause, words):
        yield PairForm(
            _said(clause.text),
            _said(denied(clause, words)),
            Edit.NEGATION,
            ("", f"not {what_is_denied(clause)}"),
        )


def _replaced(text: str, start: int, end: int, new: str) -> str:
    """The text with another word in a place; a or an before it as the new word wants."""
    old = text[start:end]
    new = new[:1].upper() + new[1:] if old[:1].isupper() and start == 0 else new
    before = text[:start]
    article = re.search(r"\b(a|an)\s+$", before, re.I)
    if article:
        wants = "an" if _VOWEL.match(new) and not new.lower().startswith("uni") else "a"
        wants = wants.capitalize() if article[1][0].isupper() else wants
        before = before[: article.start(1)] + wants + before[article.end(1) :]
    return before + new + text[end:]
