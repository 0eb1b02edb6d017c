"""A statement with its verb denied, and a denial without its "not"."""

from __future__ import annotations

import re

from clinqa.builders.references.clauses import StatementClause, VerbKind
from clinqa.builders.references.pack_words import Words

__all__ = ["affirmed", "deniable", "denied", "what_is_denied"]

_NEEDS_DENIAL = re.compile(r"\b(?:until|any|yet|either|at all|ever|only|alone|even)\b", re.I)
_QUANTIFIED = re.compile(r"^(?:all|every|each|both|no|only)\b", re.I)
_SHARE = re.compile(
    r"%|\b(?:per ?cent|half of|thirds?\s+of|quarters?\s+of|fifths?\s+of|tenths?\s+of)\b", re.I
)
_SECOND_CLAUSE = re.compile(r"\band\s[^,;]*\s(?:is|are|has|have|does|do)\s", re.I)


def deniable(clause: StatementClause, words: Words) -> bool:
    """Whether "not" at the verb denies just what the sentence says."""
    if _QUANTIFIED.match(clause.text) or clause.verb in {"does", "do"}:
        return False
    if _SHARE.search(clause.text[clause.verb_end :]):
        return False  # "does not accompany a third": of a third it holds, of another not
    if _SECOND_CLAUSE.search(clause.text, clause.verb_end):
        return False  # which of the two is denied?
    return not re.search(r"\b(?:because|so that|if|unless)\b", clause.tail)


def denied(clause: StatementClause, words: Words) -> str:
    """The statement with its verb denied."""
    text, start, end = clause.text, clause.verb_start, clause.verb_end
    verb = text[start:end]
    if clause.kind is VerbKind.BE:
        return f"{text[:end]} not{text[end:]}"
    if clause.kind is VerbKind.HAVE:
        helper = "does" if verb == "has" else "do"
        return f"{text[:start]}{helper} not have{text[end:]}"
    base = words.closed.get(verb) or words.open[verb]
    helper = "does" if base != verb else "do"
    return f"{text[:start]}{helper} not {base}{text[end:]}"


def what_is_denied(clause: StatementClause) -> str:
    """What is denied, for whoever counts: the verb, and after "is" the next word."""
    return f"{clause.verb} {clause.main.split()[0]}" if clause.kind == "be" else clause.verb


def affirmed(clause: StatementClause, words: Words) -> str | None:
    """A statement that denies, without its denial; None where that is not clear."""
    text = clause.text
    if _NEEDS_DENIAL.search(text) or _QUANTIFIED.match(text):
        return None
    after = text[clause.verb_end : clause.main_end]
    if clause.kind is VerbKind.BE and (m := re.match(r"\s+not(?=\s)", after)):
        return text[: clause.verb_end] + text[clause.verb_end + m.end() :]
    if clause.verb in {"does", "do"} and (m := re.match(r"\s+not\s+([a-z]+)", after)):
        verb = m[1]
        if clause.verb == "does":
            verb = "has" if verb == "have" else _third_person(verb, words)
        return (
            text[: clause.verb_start] + verb + text[clause.verb_end + m.end() :] if verb else None
        )
    if clause.kind is VerbKind.HAVE and (
        m := re.match(r"\s+no\s+((?:[\w-]+\s+){0,2}?[\w-]*s)\b", after)
    ):
        return text[: clause.verb_end] + " " + m[1] + text[clause.verb_end + m.end() :]
    return None


def _third_person(base: str, words: Words) -> str:
    """The third person of a verb that the pack knows, else nothing."""
    for known in (words.spec.verbs.closed, words.spec.verbs.open):
        for third, its_base in known.items():
            if its_base == base:
                return third
    return ""
