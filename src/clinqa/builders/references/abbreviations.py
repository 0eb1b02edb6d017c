"""Abbreviations that a document explains, and statements that spell them out.

"T-wave alternans (TWA)" once on a page tells what TWA means on all of them; a statement with TWA in
it would tell it to nobody else. Only letters that begin the words before the bracket count, one
after the other (Schwartz and Hearst 2003, without their guesses inside of words, but after a prefix
as in "supraventricular"); what a document explains in two ways is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["explained", "spelt_out"]

_BRACKET = re.compile(
    r"(?P<before>(?:[A-Za-z][\w'\u2019-]*\s+){1,9})\((?P<short>[A-Z][A-Za-z]{1,6})\)"
)
_PART = re.compile(r"[A-Za-z][\w'\u2019]*")
_SMALL = frozenset({"of", "the", "and", "in", "for", "to", "a", "an", "with", "by"})
_PREFIX = re.compile(
    r"(?:supra|infra|electro|vector|echo|hyper|hypo|intra|inter|extra|anti|non|micro)(?=[a-z]{3})",
    re.I,
)
_VOWEL = re.compile(r"[aeiou]", re.I)


def explained(texts: Iterable[str]) -> dict[str, str]:
    """What the abbreviations of a document stand for, each in one and in many where it has both.

    >>> explained(["premature ventricular contractions (PVCs) and T-wave\\nalternans (TWA)"])
    {'PVCs': 'premature ventricular contractions', 'PVC': 'premature ventricular contraction', \
'TWA': 'T-wave alternans'}
    """
    found: dict[str, set[str]] = {}
    texts = list(texts)
    for text in texts:
        for match in _BRACKET.finditer(text):
            short = match["short"]
            if sum(char.isupper() for char in short) < 2:
                continue
            long = _long_form(" ".join(match["before"].split()), short)
            if long is not None:
                found.setdefault(short, set()).add(long)
    made: dict[str, str] = {}
    for short, forms in found.items():
        if len({_bare(form) for form in forms}) > 1:
            continue
        form = min(forms, key=lambda one: (len(one), one))
        made[short] = form
        if short.endswith("s") and form.endswith("s") and not form.endswith("ss"):
            made.setdefault(short[:-1], form[:-1])
        elif not short.endswith("s") and form.endswith("s"):
            one = re.compile(rf"\b{re.escape(re.split(r'[ -]', form)[-1][:-1])}\b", re.I)
            if any(one.search(text) for text in texts):  # "beats", and not "alternans"
                made[short] = form[:-1]
                made.setdefault(f"{short}s", form)
        elif not short.endswith("s"):
            made.setdefault(f"{short}s", f"{form}s")
    return made


def _bare(form: str) -> str:
    """A long form without what is a matter of spelling: hyphens, capitals, one or many."""
    return re.sub(r"[\s-]+", "", form.casefold()).rstrip("s")


def _long_form(before: str, short: str) -> str | None:
    """The last words whose first letters are those of the abbreviation."""
    letters = short.removesuffix("s").casefold()
    parts = [(m.start(), m[0]) for m in _PART.finditer(before)]
    at, start = len(letters) - 1, None
    for place, word in reversed(parts):
        if at < 0:
            break
        inside = _PREFIX.match(word)
        if (
            inside
            and at
            and word[inside.end()] + word[0].casefold() == letters[at] + letters[at - 1]
        ):
            at, start = at - 2, place
        elif word[0].casefold() == letters[at]:
            at, start = at - 1, place
        elif word.casefold() not in _SMALL or start is None:
            return None
    if at >= 0 or start is None or (start and before[start - 1] == "-"):
        return None
    long = before[start:]
    if long.count(" ") + long.count("-") == 0:
        return None
    # a capital at the beginning of a sentence or a heading is none of the word
    plain = long[1:].islower() and long[1:2].isalpha()
    return long[:1].lower() + long[1:] if plain else long


def spelt_out(statement: str, meanings: Mapping[str, str], known: frozenset[str]) -> str:
    """The statement with the abbreviations that nobody else knows in words.

    >>> spelt_out("An SVPB is early.", {"SVPB": "supraventricular premature beat"}, frozenset())
    'A supraventricular premature beat is early.'
    """
    for short in sorted(meanings, key=len, reverse=True):
        if short not in known and re.search(rf"(?<![\w-]){short}(?![\w-])", statement):
            statement = _replaced(statement, short, meanings[short])
    return statement


def _replaced(statement: str, short: str, long: str) -> str:
    def article(match: re.Match[str]) -> str:
        wants = "an" if _VOWEL.match(long) else "a"
        wants = wants.capitalize() if match[1][0].isupper() else wants
        return f"{wants} {long}"

    statement = re.sub(rf"\b([Aa]n?)\s+{short}(?![\w-])", article, statement)
    statement = re.sub(rf"(?<![\w-]){short}(?![\w-])", lambda _: long, statement)
    return statement[:1].upper() + statement[1:]
