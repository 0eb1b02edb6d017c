"""The sentences of an answer: what they say as a report's would, and where they say nothing.

"The report does not mention it" would be a denial to a reader of reports. In an answer it is
none: such clauses are set aside, and it is judged later whether they are about what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clinqa.core.records import Level, Phase
from clinqa.kinds.long_form.answer_words import answer_words
from clinqa.packs.loader import Pack
from clinqa.reading.findings import Finding
from clinqa.reading.labeller import Labeller
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.segment import segment, unwrap
from clinqa.reading.tokens import plain

__all__ = ["FENCE", "SaidOfStructure", "Sentences", "any_of", "phrases", "statement_key"]

FENCE = " .,;:!*#-\t\n"
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|shows|appears)\b", re.I)
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
        self._contrary = re.compile(rf"[;,]?\s+(?:{contrary})\b,?\s*|;\s+", re.I)
        between, unsaid = words.unsaid_between, phrases(words.unsaid).pattern
        self._unsaid = re.compile(
            rf"(?:\bnot|n't|\bnever|\bnowhere)(?: (?:\w+ly|{'|'.join(between)}))* {unsaid}", re.I
        )
        self._chatter, self._explains = phrases(words.chatter), phrases(words.explains)
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
        silent = (self._abstain, self._unsaid, self._undescribed)
        for pattern in (self._sources, *silent, self._unable):
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
        if self._abstain.search(clause) or self._unsaid.search(clause):
            return True
        return (
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
            if self._chatter.search(sentence):
                continue
            sentences.append(sentence)
            explains = self._explains.search(sentence) is not None
            if not self.says_nothing(sentence):
                findings += self._found(sentence, place, phase, explains=explains)
                continue
            for clause in self._clauses(sentence):
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
                    findings += self._found(clause, place, phase, explains=explains)
        return SaidOfStructure(
            tuple(findings), tuple(abstentions), tuple(undescribed), tuple(sentences)
        )

    def _found(self, clause: str, place: str, phase: Phase, *, explains: bool) -> Iterable[Finding]:
        """What a clause says; one that explains a term says nothing by naming it."""
        return (
            finding
            for finding in self._labeller.read(clause, place).findings
            if (phase is Phase.BASELINE or finding.pinned)
            and not (explains and finding.level == Level.UNSPECIFIED)
        )

    def _clauses(self, sentence: str) -> Iterable[str]:
        """The clauses of a sentence of which one says that something is not said."""
        for clause in self._contrary.split(sentence):
            first, comma, rest = clause.rpartition(", ")
            # "MR and TR are not mentioned" is one clause, "There is MR, AS is not mentioned" two
            yield from (first, rest) if comma and _VERB.search(first) else (clause,)

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
    written = any_of(among)
    if adverbs:
        longest_first = sorted(among, key=len, reverse=True)
        written = "|".join(map(re.escape, longest_first))
        written = re.sub(r"(not|n't)\\ ", r"\1 (?:\\w+ly )?", written)
    return re.compile(rf"\b(?:{written})\b", re.I)


def any_of(among: Iterable[str]) -> str:
    """A pattern of these phrases, the longest first, that reads shared beginnings once; nothing
    matches where there are none.

    >>> any_of(["not seen", "not said"])
    'not\\\\ s(?:aid|een)'
    """
    tree: _Tree = {}
    for phrase in among:
        place = tree
        for char in phrase.lower():
            place = place.setdefault(char, {})
        place[""] = {}
    return _written(tree) if tree else "(?!)"


_Tree = dict[str, "_Tree"]


def _written(tree: _Tree) -> str:
    """The pattern of a tree of characters; what ends at its root may go on."""
    branches = []
    for char, rest in sorted(tree.items()):
        if char:
            branches.append(re.escape(char) + _written(rest))
    if not branches:
        return ""
    one = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return f"(?:{one})?" if "" in tree else one
