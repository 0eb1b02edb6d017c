"""The sentences of an answer: what they say as a report's would, and where they say nothing.

"The report does not mention it" would be a denial to a reader of reports. In an answer it is
none: such clauses are set aside, and it is judged later whether they are about what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clinqa.core.records import Phase
from clinqa.kinds.long_form.answer_words import answer_words
from clinqa.packs.loader import Pack
from clinqa.reading.findings import Finding
from clinqa.reading.labeller import Labeller
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.segment import segment, unwrap
from clinqa.reading.tokens import plain

__all__ = ["FENCE", "SaidOfStructure", "Sentences", "phrases", "statement_key"]

FENCE = " .,;:!*#-\t\n"
_BREAK = re.compile(r",|;| and | with ")


@dataclass(frozen=True, slots=True)
class SaidOfStructure:
    """What an answer says under a structure, before the question has its part."""

    findings: tuple[Finding, ...]
    abstentions: tuple[str, ...]  # clauses that say the report does not say
    undescribed: tuple[str, ...]  # clauses that say it does not describe: may be a plain no
    sentences: tuple[str, ...]


class Sentences:
    """Reads the sentences of answers with one pack's words; each distinct text once."""

    def __init__(self, pack: Pack) -> None:
        self._labeller = Labeller(pack)
        self._table = SectionTable(pack)
        words = answer_words()
        self._abstain = phrases(words.abstain, adverbs=True)
        self._undescribed = phrases(words.undescribed, adverbs=True)
        self._abstain_alone = frozenset(words.abstain_alone)
        self._unable, self._sources = phrases(words.unable), phrases(words.sources)
        self._undetermined, self._degree = phrases(words.undetermined), phrases(words.degree)
        contrary = "|".join(map(re.escape, words.contrary))
        self._contrary = re.compile(rf"[;,]?\s+(?:{contrary})\b,?\s*", re.I)
        self._said: dict[tuple[str, str], SaidOfStructure] = {}

    def read(self, text: str, structure: str) -> SaidOfStructure:
        """The text as it stands in the section of `structure`."""
        key = (structure, text)
        said = self._said.get(key)
        if said is None:
            said = self._said[key] = self._read(text, structure)
        return said

    def says_nothing(self, clause: str) -> bool:
        """Does it say that the report does not say, or not describe?"""
        return self._abstains(clause) or self._undescribed.search(clause) is not None

    def of_degree(self, clause: str) -> bool:
        """Does it speak of the degree of a finding?"""
        return self._degree.search(clause) is not None

    def named_in(self, clause: str) -> set[str]:
        """The abnormalities that a clause names which says that something is not said."""
        rest = clause
        for pattern in (self._sources, self._abstain, self._undescribed, self._unable):
            rest = pattern.sub(" ", rest)
        rest = rest.strip(FENCE)
        if rest.casefold() in self._abstain_alone:
            return set()
        return {
            finding.abnormality
            for wording in (f"{rest} is present", f"{rest} is normal")
            for finding in self._labeller.read(wording, "*").findings
        }

    def _abstains(self, clause: str) -> bool:
        if statement_key(clause) in self._abstain_alone:
            return True
        return self._abstain.search(clause) is not None or (
            self._sources.search(clause) is not None
            and self._unable.search(clause) is not None
            and self._undetermined.search(clause) is not None
        )

    def _read(self, text: str, structure: str) -> SaidOfStructure:
        findings: list[Finding] = []
        abstentions: list[str] = []
        undescribed: list[str] = []
        sentences: list[str] = []
        for sentence, place, phase in self._pieces(text, structure):
            sentences.append(sentence)
            nothing = self.says_nothing(sentence)
            for clause in self._contrary.split(sentence) if nothing else [sentence]:
                if self._abstains(clause):
                    if self._degree.search(clause):
                        # "there is MR, severity not stated": read what stands before
                        before = _BREAK.split(clause, maxsplit=1)[0]
                        if not self._abstains(before):
                            findings += self._labeller.read(before, place).findings
                    abstentions.append(clause)
                elif self._undescribed.search(clause):
                    undescribed.append(clause)
                else:
                    findings += (
                        finding
                        for finding in self._labeller.read(clause, place).findings
                        if phase is Phase.BASELINE or finding.pinned
                    )
        return SaidOfStructure(
            tuple(findings), tuple(abstentions), tuple(undescribed), tuple(sentences)
        )

    def _pieces(self, text: str, structure: str) -> Iterable[tuple[str, str, Phase]]:
        pieces = segment(text, self._table)
        if not pieces and text.strip(FENCE):
            yield unwrap(text), structure, Phase.BASELINE
        for piece in pieces:
            if piece.role is not Role.IGNORE:
                place = structure if piece.structure == "*" else piece.structure
                yield unwrap(text[piece.start : piece.end]), place, piece.phase


def statement_key(text: str) -> str:
    """What makes two answers the same words: case, blanks and the signs at the ends aside."""
    return plain(text).strip(FENCE).casefold()


def phrases(among: Iterable[str], *, adverbs: bool = False) -> re.Pattern[str]:
    """Finds any of these phrases, whole words in any case, the longest first; with `adverbs` one
    may follow each "not".

    >>> bool(phrases(["not stated"], adverbs=True).search("It is not explicitly stated."))
    True
    """
    longest_first = sorted(among, key=len, reverse=True)
    written = "|".join(map(re.escape, longest_first))
    if adverbs:
        written = re.sub(r"(not|n't)\\ ", r"\1 (?:\\w+ly )?", written)
    return re.compile(rf"\b(?:{written})\b", re.I)
