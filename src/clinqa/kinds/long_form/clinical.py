"""What is wrong with an answer, as a clinician would name it; no text metric sees this.

With A the findings of the answer, R those of the reference and q the abnormality asked for:

    irrelevant         A is empty
    other_abnormality  q is not in A
    not_highest        A[q] is below R[q] in order of severity (EchoQA 3.4)
    wrong_level        A[q] is otherwise another than R[q]
    unrelated_added    q is right, and A holds what neither R nor the words that decided R do, of
                       the abnormalities or of findings beyond them (a thrombus, an effusion)
    right              else

R[q] is the item's own level, so that the reference scores right on every item. "The report does
not say" is a level of its own (unmentioned): right where nothing is said, wrong_level elsewhere.
Of adequacy and of presence only what is asked counts: adequate or not, there or not. An answer that
leaves several levels open is right where they are one answer to the question. What contradicts
itself is wrong. Which errors are dangers the pack's table says (`consequences`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clinqa.core.records import Level
from clinqa.kinds.long_form.answer_forms import unmarked
from clinqa.kinds.long_form.answer_numbers import AnswerNumbers
from clinqa.kinds.long_form.answer_reader import (
    ABNORMAL,
    ADEQUATE,
    AnswerReader,
    AnswerReading,
    AskedAbout,
)
from clinqa.kinds.long_form.consequences import consequences_of
from clinqa.kinds.long_form.other_findings import OtherFindings
from clinqa.kinds.long_form.questions import QuestionType
from clinqa.kinds.long_form.sentences import statement_key

__all__ = [
    "KINDS",
    "NO_ANSWER",
    "RANK",
    "ClinicalScorer",
    "Verdict",
    "class_of",
]

KINDS = (
    "right",
    "irrelevant",
    "other_abnormality",
    "not_highest",
    "wrong_level",
    "unrelated_added",
)
"""What an answer can be. One that is no answer (empty, refused, …) says nothing: irrelevant."""

# the order of severity: abnormal without a degree stands above normal and below every degree;
# inadequate and low (hyperdynamic, small) stand in no order
RANK: dict[int | None, int] = {0: 0, -2: 1, 1: 2, 2: 3, 3: 4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer as judged. `read` names what it says of what was asked; `read_level` is the
    level where it states one; `level_right` is whether what it says of q is right. Where it `says`
    nothing of any finding, it is no answer."""

    kind: str
    level_right: bool
    read: str
    read_level: int | None
    dangers: tuple[str, ...] = ()
    says: bool = True

    @property
    def gravest(self) -> str:
        """The gravest of the dangers; empty where there is none."""
        return self.dangers[0] if self.dangers else ""


NO_ANSWER = Verdict("irrelevant", False, "nothing", None, says=False)


@dataclass(frozen=True, slots=True)
class _Reference:
    key: str
    text: str  # its words, and those that decided it
    levels: frozenset[int]  # those of what was asked
    stated: frozenset[int]  # and those that its words or those that decided it name at all
    said: frozenset[tuple[str, int]]  # what else it says, and the words that decided it
    others: frozenset[str]  # findings beyond the abnormalities in the same words


class ClinicalScorer:
    """Judges answers with one pack; each distinct (question, reference, answer) once."""

    def __init__(self, reader: AnswerReader) -> None:
        self.reader = reader
        self._table = consequences_of(reader.pack)
        self._others = OtherFindings(reader.pack)
        self._numbers = AnswerNumbers(reader.pack)
        self._at_risk: dict[tuple[str, int | None, str], tuple[str, ...]] = {}
        self._references: dict[tuple[AskedAbout, str, str], _Reference] = {}
        self._verdicts: dict[tuple[AskedAbout, str, str, int | None, str], Verdict] = {}

    def judge(
        self, asked: AskedAbout, level: int | None, reference: str, answer: str, source: str = ""
    ) -> Verdict:
        """The verdict on `answer`; `level` is the item's, None where the report says nothing.

        `source` are the report's words that decided the item: who quotes them adds nothing.

        >>> from clinqa.packs.loader import builtin_pack
        >>> scorer = ClinicalScorer(AnswerReader(builtin_pack("echo")))
        >>> mr = AskedAbout("mitral_regurgitation", "MV", "finding")
        >>> scorer.judge(mr, 3, "Severe (4+) MR.", "There is mild mitral regurgitation.").dangers
        ('severe_as_mild',)
        """
        key = (asked, reference, source, level, answer)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._judge(asked, level, reference, answer, source)
        return verdict

    def _judge(
        self, asked: AskedAbout, level: int | None, reference: str, answer: str, source: str
    ) -> Verdict:
        known = self._reference(asked, reference, source)
        reading = self.reader.read(answer, asked)
        if reading.contradicts and reading.levels <= known.stated:
            # what the report says in one breath is no contradiction: the highest stands
            resolved = frozenset({reading.findings[asked.abnormality]})
            reading = replace(reading, levels=resolved, contradicts=False)
        levels = reading.levels
        # the words of the reference say what the reference says, whoever reads them
        plain = self.reader.forms.plain(answer)
        same = known.key == statement_key(unmarked(answer))
        right = same or self._right(level, reading, known, asked)
        number = right and not same and self._contradicted(asked, level, known, answer)
        others = self._others.asserted(plain)
        if number:
            kind, right = "wrong_level", False
        elif right:
            added = self._beyond(reading, known, asked) or not others <= known.others
            kind = "unrelated_added" if added and not same else "right"
        elif not levels and not reading.abstained:
            kind = "other_abnormality" if reading.findings or others else "irrelevant"
        elif not reading.contradicts and _below(levels, level):
            kind = "not_highest"
        else:
            kind = "wrong_level"
        return Verdict(
            kind,
            right,
            _class_read(reading, asked, level, right=right, number=number),
            _read_level(reading, asked, level if same else None),
            ()
            if right or number
            else self._table.dangers(asked.abnormality, level, _answered(reading)),
            kind != "irrelevant" or self._others.named(plain),
        )

    def at_risk(self, asked: AskedAbout, level: int | None) -> tuple[str, ...]:
        """The dangers an item could run into: what each is a share of."""
        key = (asked.abnormality, level, asked.question_type)
        found = self._at_risk.get(key)
        if found is None:
            own = class_of(level, asked.question_type)
            levels = (*self.reader.pack.abnormalities[asked.abnormality].levels, None)
            others = [one for one in levels if class_of(one, asked.question_type) != own]
            answers = [frozenset({one}) for one in others]
            if asked.question_type == QuestionType.ADEQUACY.name.lower():
                # "adequate" says none of the levels and leaves all of them open
                answers = [frozenset({one}) for one in others if one in (None, Level.INADEQUATE)]
                answers += [ADEQUATE] if level == Level.INADEQUATE else []
            found = self._table.possible(asked.abnormality, level, answers)
            self._at_risk[key] = found
        return found

    def _contradicted(
        self, asked: AskedAbout, level: int | None, known: _Reference, answer: str
    ) -> bool:
        """Does a number in the answer contradict the report? Only where a level was asked for."""
        if asked.question_type == QuestionType.ADEQUACY.name.lower():
            return False
        return self._numbers.contradict(asked.abnormality, level, known.text, answer)

    def _right(
        self, level: int | None, reading: AnswerReading, known: _Reference, asked: AskedAbout
    ) -> bool:
        if reading.contradicts:
            return False
        if level is None:
            return reading.abstained
        kind = asked.question_type
        if {class_of(one, kind) for one in reading.levels} == {class_of(level, kind)}:
            return True
        # "not severe" of a report that says no more than that
        return len(reading.levels) > 1 and reading.levels == known.levels

    def _reference(self, asked: AskedAbout, text: str, source: str) -> _Reference:
        key = (asked, text, source)
        known = self._references.get(key)
        if known is None:
            reading = self.reader.read(text, asked)
            said, stated = frozenset(reading.findings.items()), reading.levels
            if source:
                other = self.reader.read(source, asked)
                said |= frozenset(other.findings.items())
                stated |= other.levels
            others = self._others.asserted(text) | self._others.asserted(source)
            key_of = statement_key(unmarked(text))
            words = f"{text}\n{source}"
            known = _Reference(key_of, words, reading.levels, stated, said, others)
            self._references[key] = known
        return known

    def _beyond(self, reading: AnswerReading, known: _Reference, asked: AskedAbout) -> bool:
        """Does the answer hold a finding that the reference does not?

        What only follows from the asked structure being called normal is none: "normal mitral
        valve" answers a question on regurgitation and adds nothing on stenosis.
        """
        abnormalities = self.reader.pack.abnormalities
        return any(
            name != asked.abnormality
            and (name, level) not in known.said
            and not (name in reading.implied and abnormalities[name].structure == asked.structure)
            for name, level in reading.findings.items()
        )


def class_of(level: int | None, question_type: str) -> str:
    """What a level is called as a class of this kind of question."""
    kind = question_type
    if level is None:
        return "unmentioned"
    if kind == QuestionType.ADEQUACY.name.lower():
        return "inadequate" if level == Level.INADEQUATE else "adequate"
    if kind == QuestionType.PRESENCE.name.lower() and level != Level.INADEQUATE:
        return "present" if level in ABNORMAL else "absent"
    return str(level)


def _read_level(reading: AnswerReading, asked: AskedAbout, reference: int | None) -> int | None:
    """The level that the answer states. A bare yes states none; the reference's own words state
    the reference's, but for a question whose answer is no level."""
    if reading.level is not None:
        return reading.level
    if asked.question_type == QuestionType.ADEQUACY.name.lower():
        return reading.findings.get(asked.abnormality)
    return reference


def _read(reading: AnswerReading, asked: AskedAbout) -> str:
    """What an answer says of q, as a class of the question or what it is instead."""
    if reading.abstained:
        return "unmentioned"
    if not reading.levels:
        return "nothing"
    if reading.contradicts:
        return "conflict"
    classes = {class_of(level, asked.question_type) for level in reading.levels}
    return classes.pop() if len(classes) == 1 else "open"


def _class_read(
    reading: AnswerReading, asked: AskedAbout, level: int | None, *, right: bool, number: bool
) -> str:
    if number:
        return "number"
    return class_of(level, asked.question_type) if right else _read(reading, asked)


def _answered(reading: AnswerReading) -> frozenset[int | None]:
    """The columns of the table that an answer stands in."""
    return frozenset({None}) if reading.abstained else frozenset[int | None](reading.levels)


def _below(levels: frozenset[int], level: int | None) -> bool:
    """Is it one level, and a lower one in the order of severity?"""
    ranks = [RANK.get(each, RANK[3]) for each in levels]
    return level in RANK and len(ranks) == 1 and ranks[0] < RANK[level]
