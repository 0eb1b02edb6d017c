"""How a simple statement is built: subject, verb, what is said of the subject, and what follows.

No parser of English: only sentences of the plainest build are read, every other is passed over.
A sentence that is misread makes a wrong item, one that is passed over makes none.

A statement with its verb denied, and a denial without its "not".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from clinqa.builders.references.pack_words import Words

__all__ = [
    "StatementClause",
    "VerbKind",
    "affirmed",
    "deniable",
    "denied",
    "read_clause",
    "what_is_denied",
]

_WORD = re.compile(r"[^\W\d_][\w'\u2019/-]*|\d[\d.,]*|[^\w\s]")
_STOPS = frozenset(
    [
        "that",
        "which",
        "who",
        "whose",
        "whom",
        "where",
        "when",
        "whenever",
        "because",
        "if",
        "while",
        "whereas",
        "although",
        "though",
        "since",
        "until",
        "unless",
        "as",
        "than",
        "was",
        "were",
        "been",
        "being",
        "had",
        "did",
        "will",
        "shall",
        ",",
        ";",
        ":",
        "(",
        "[",
    ]
)
_DETERMINERS = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "and",
        "or",
        "in",
        "by",
        "for",
        "to",
        "with",
        "from",
        "at",
        "on",
        "its",
        "their",
        "this",
        "these",
        "no",
        "each",
        "every",
        "any",
        "both",
        "common",
        "frequent",
        "other",
        "main",
        "first",
        "second",
    ]
)
_COMPANY = frozenset(
    [
        "the",
        "a",
        "an",
        "from",
        "to",
        "in",
        "at",
        "as",
        "into",
        "toward",
        "towards",
        "with",
        "by",
        "about",
        "than",
        "between",
        "above",
        "below",
        "over",
        "under",
        "before",
        "after",
        "on",
        "only",
        "less",
        "more",
        "roughly",
        "approximately",
        "through",
        "along",
        "across",
        "away",
        "upward",
        "downward",
        "upwards",
        "downwards",
        "leftward",
        "rightward",
        "left",
        "right",
        "up",
        "down",
        "around",
        "normal",
        "abnormal",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "during",
        "when",
        "if",
        "while",
        "conduction",
    ]
)
_TAIL = re.compile(
    r",|;|:|\s(?:and\s+(?:the|a|an|its)\s|but\s|because\s|although\s|though\s|while\s|whereas\s|"
    r"which\s|so\s+that|if\s|when\s|whenever\s|unless\s|until\s|since\s|where\s|that\s)",
    re.I,
)
_CIRCUMSTANCE = re.compile(r"\b(?:in|during|with|at|for|among|under|on|within|throughout)\b", re.I)
_NOTHING_YET = re.compile(
    r"\s*(?:not\s+|normally\s+|usually\s+|always\s+|only\s+)?"
    r"(?:located|placed|positioned|situated|attached|directed|centred|centered|generated|set)?\s*",
    re.I,
)
_NO_OBJECT = frozenset(
    [
        "of",
        "for",
        "is",
        "are",
        "and",
        "or",
        "that",
        "which",
        "in",
        "on",
        "at",
        "with",
        ",",
        "(",
        ":",
    ]
) | {""}
_LINKS = frozenset(
    ["of", "in", "with", "from", "between", "at", "for", "to", "on", "above", "below", "than"]
)
_LEAD = re.compile(r"I{1,3}|aV[RLF]|V\d\w?")
_PLURALS = frozenset({"atria", "fibrillae", "media", "data", "criteria", "maxima", "minima"})
_SINGULAR_S = re.compile(r"(?:ss|is|us|ics)$")


class VerbKind(StrEnum):
    """What the verb lets us do with the sentence."""

    BE = "be"
    HAVE = "have"
    CLOSED = "closed"  # one thing is said of the subject: a word against its opposite contradicts
    OPEN = "open"  # other things may hold too: only a denial contradicts


@dataclass(frozen=True, slots=True)
class StatementClause:
    """A statement without its full stop, and where its parts are."""

    text: str
    verb: str
    verb_start: int
    verb_end: int
    kind: VerbKind
    open: bool
    main_end: int
    """Where what is said of the subject ends; a condition or a second clause may follow."""

    @property
    def subject(self) -> str:
        return self.text[: self.verb_start]

    @property
    def main(self) -> str:
        """What is said of the subject, after the verb."""
        return self.text[self.verb_end : self.main_end]

    @property
    def core_end(self) -> int:
        """Where the circumstances begin ("... in left bundle branch block"): what stands there
        is not said of the subject, and its opposite may hold as well."""
        at = self.verb_end
        for match in _CIRCUMSTANCE.finditer(self.text, self.verb_end, self.main_end):
            if _NOTHING_YET.fullmatch(self.text, at, match.start()):
                continue  # "is placed in the ...": the place is what is said
            return match.start()
        return self.main_end

    @property
    def tail(self) -> str:
        return self.text[self.main_end :]


def read_clause(statement: str, words: Words) -> StatementClause | None:
    """The parts of a statement, or None where it is not of the plainest build."""
    text = statement.rstrip().removesuffix(".").rstrip()
    tokens = [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]
    for number, (token, start, end) in enumerate(tokens):
        low = token.casefold()
        if low == "," and _is_lead(tokens, number - 1) and _is_lead(tokens, number + 1):
            continue  # "leads II, III and aVF"
        if number and (kind := _verb_kind(tokens, number, words)) is not None:
            rest = text[end:]
            if not rest.strip() or re.match(r"\s+(?:been|had)\b", rest):
                return None
            tail = _TAIL.search(text, end)
            main_end = tail.start() if tail else len(text)
            if not text[end:main_end].strip() and low not in words.opposites:
                return None
            is_open = kind is VerbKind.OPEN or (
                kind is VerbKind.BE and bool(words.open_after_be.match(rest))
            )
            return StatementClause(text, low, start, end, kind, is_open, main_end)
        if low in _STOPS:
            return None
    return None


def _singular_head(tokens: list[tuple[str, int, int]], number: int) -> bool:
    """ "Dissociation of the P waves ... proves": a plural before the verb, not as its subject."""
    words = [token.casefold() for token, _, _ in tokens[:number]]
    heads = [i for i, word in enumerate(words) if word in _LINKS]
    return bool(heads) and heads[0] > 0 and not words[heads[0] - 1].endswith("s")


def _is_lead(tokens: list[tuple[str, int, int]], number: int) -> bool:
    return 0 <= number < len(tokens) and bool(_LEAD.fullmatch(tokens[number][0]))


def _verb_kind(tokens: list[tuple[str, int, int]], number: int, words: Words) -> VerbKind | None:
    word = tokens[number][0].casefold()
    if word in {"is", "are"}:
        return VerbKind.BE
    if word in {"does", "do"} and _after(tokens, number) in {"not", "n't"}:
        return VerbKind.CLOSED
    if word in {"has", "have"}:
        return VerbKind.HAVE
    known = word in words.closed or word in words.open
    if not known or tokens[number][0] != word:
        return None
    third = word in words.spec.verbs.closed or word in words.spec.verbs.open
    if not _agrees(tokens, number, third) or (
        word in words.nouns and _may_be_noun(tokens, number, third)
    ):
        return None
    return VerbKind.CLOSED if word in words.closed else VerbKind.OPEN


def _after(tokens: list[tuple[str, int, int]], number: int) -> str:
    return tokens[number + 1][0].casefold() if number + 1 < len(tokens) else ""


def _agrees(tokens: list[tuple[str, int, int]], number: int, third: bool) -> bool:
    """Does the word before fit a verb here, in the third person or not?"""
    before = tokens[number - 1][0].casefold()
    if before in _DETERMINERS:
        return False
    plural = (before.endswith("s") and not _SINGULAR_S.search(before)) or before in _PLURALS
    if tokens[0][0].casefold() in {"leads", "electrodes"}:
        plural = True  # "Leads V1 and V2 view"
    return (not plural or _singular_head(tokens, number)) if third else plural


def _may_be_noun(tokens: list[tuple[str, int, int]], number: int, third: bool) -> bool:
    after = _after(tokens, number)
    if after in _COMPANY or after[:1].isdigit():
        return False
    later = {token.casefold() for token, _, _ in tokens[number + 1 :]}
    return not third or after in _NO_OBJECT or bool(later & {"is", "are", "has", "have"})


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
