"""Findings beyond the pack's abnormalities: a thrombus, an effusion, a shunt, a prosthetic fault.

They have no levels here, so the labeller says nothing of them. What is asked of a text is only
which of them it asserts: named, and neither denied nor left open ("no thrombus", "effusion is
absent", "a thrombus cannot be excluded", "to rule out dissection").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clinqa.kinds.long_form.answer_words import answer_words, other_findings
from clinqa.kinds.long_form.sentences import phrases
from clinqa.packs.loader import Pack

__all__ = ["OtherFindings"]

_SENTENCE = re.compile(r"(?<!\d)\.|\.(?!\d)|[;\n!?]")
_COMMA = re.compile(r",\s*")


class OtherFindings:
    """Reads texts with one pack's words; each distinct text once."""

    def __init__(self, pack: Pack) -> None:
        self._terms = {name: phrases(terms) for name, terms in other_findings(pack).items()}
        any_of = [term for terms in other_findings(pack).values() for term in terms]
        self._any = phrases(any_of) if any_of else re.compile(r"(?!)")
        english = pack.english
        before, after = english.negation.get("before", []), english.negation.get("after", [])
        open_before = [*english.inadequate.get("before", []), *english.time.get("if", [])]
        self._before = phrases([*before, *open_before])
        self._after = phrases([*after, *english.inadequate.get("after", [])])
        degrees = [term for degree in english.degrees for term in degree.terms]
        # after a comma these begin a finding of its own: "no MR, a small effusion"
        fresh = [*degrees, *english.attributive, "there is", "there are", "with", "and a", "and an"]
        self._fresh = phrases([*fresh, "a", "an", "has", "shows"])
        self._contrary = phrases(answer_words().contrary)
        self._breaks = phrases(english.connect.get("break", []))
        self._asserted: dict[str, frozenset[str]] = {}

    def named(self, text: str) -> bool:
        """Does it name any, denied or not?"""
        return self._any.search(text) is not None

    def asserted(self, text: str) -> frozenset[str]:
        """The names of those that the text says are there."""
        found = self._asserted.get(text)
        if found is None:
            found = frozenset(self._read(text)) if self.named(text) else frozenset()
            self._asserted[text] = found
        return found

    def _read(self, text: str) -> Iterator[str]:
        for clause in self._clauses(text):
            for name, pattern in self._terms.items():
                for term in pattern.finditer(clause):
                    if not self._denied(clause, term.start(), term.end()):
                        yield name

    def _clauses(self, text: str) -> Iterable[str]:
        for sentence in _SENTENCE.split(text):
            yield from self._contrary.split(sentence)

    def _denied(self, clause: str, start: int, end: int) -> bool:
        """Does a denial before it reach it, or does one follow it?"""
        reach = max((one.end() for one in self._breaks.finditer(clause, 0, start)), default=0)
        for comma in _COMMA.finditer(clause, 0, start):
            following = clause[comma.end() :].partition(",")[0]
            if self._fresh.search(following) and not self._before.match(following):
                reach = max(reach, comma.end())
        if self._before.search(clause, reach, start):
            return True
        return self._after.search(clause[end:].partition(",")[0]) is not None
