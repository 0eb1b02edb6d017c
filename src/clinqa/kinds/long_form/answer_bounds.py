"""What a denied or bounded degree leaves open: "not severe", "at least moderate".

A report's label needs one level, so the labeller gives one ("not severe" is abnormal with no
degree, "at least moderate" is moderate: LABELLING 18b, 2). An answer says no more than its words.
What bounds from above names the level that is meant: "no more than mild" is mild.
"""

from __future__ import annotations

import re

from clinqa.core.records import Level
from clinqa.kinds.long_form.sentences import phrases
from clinqa.packs.loader import Pack

__all__ = ["DegreeBounds"]

_ORDER = ("at_least", "at_most", "above", "below")  # "no more than" before "more than"
_WORST = int(Level.SEVERE)


class DegreeBounds:
    """Reads bounds with one pack's words."""

    def __init__(self, pack: Pack) -> None:
        english = pack.english
        self._levels = {
            term.casefold(): degree.level
            for degree in english.degrees
            if degree.level > 0
            for term in degree.terms
        }
        self._degree = phrases(self._levels)
        words = self._degree.pattern.removeprefix(r"\b").removesuffix(r"\b")
        self._bounds = {
            kind: re.compile(rf"{phrases(terms).pattern}\s+(?:an?\s+)?({words})\b", re.I)
            for kind, terms in sorted(english.bounds.items(), key=lambda one: _ORDER.index(one[0]))
        }
        negation = english.negation
        denials = [*negation.get("before", []), *negation.get("after", []), "n't"]
        self._any = phrases([*(t for terms in english.bounds.values() for t in terms), *denials])
        self._before = phrases(negation.get("before", []))
        self._denial = phrases(denials)

    def possible(self, text: str) -> bool:
        """Could there be a bound in it?"""
        return self._any.search(text) is not None

    def left_open(self, clause: str, level: int) -> frozenset[int] | None:
        """The levels that a clause leaves open which was read as `level`; None where it is no
        bound.

        >>> from clinqa.packs.loader import builtin_pack
        >>> bounds = DegreeBounds(builtin_pack("echo"))
        >>> sorted(bounds.left_open("No severe MR", -2))
        [0, 1, 2]
        >>> sorted(bounds.left_open("at least mild MR", 1))
        [1, 2, 3]
        """
        for kind, pattern in self._bounds.items():
            if found := pattern.search(clause):
                degree = self._levels[found[1].casefold()]
                denied = self._before.search(clause, 0, found.start()) is not None
                made = _bounded(kind, degree, denied=denied)
                return made if level in made or level == Level.UNSPECIFIED else None
        if level == Level.UNSPECIFIED and self._denial.search(clause):
            degrees = [self._levels[one[0].casefold()] for one in self._degree.finditer(clause)]
            if degrees:
                return frozenset(range(min(degrees)))
        return None


def _bounded(kind: str, degree: int, *, denied: bool) -> frozenset[int]:
    if kind == "at_least":
        return frozenset(range(degree) if denied else range(degree, _WORST + 1))
    if kind == "at_most" or (kind == "above" and denied):
        return frozenset({degree})
    if kind == "above":
        return frozenset(range(degree + 1, _WORST + 1))
    return frozenset(range(degree))
