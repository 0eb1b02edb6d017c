"""What is wrong with an answer, as a clinician would name it; no text metric sees this.

With A the findings of the answer, R those of the reference and q the abnormality asked for:

    irrelevant         A is empty
    other_abnormality  q is not in A
    not_highest        A[q] is below R[q] in order of severity (EchoQA 3.4)
    wrong_level        A[q] is otherwise another than R[q]
    unrelated_added    q is right, and A holds what neither R nor the words that decided R do
    right              else

R[q] is the item's own level, so that the reference scores right on every item. "The report does
not say" is a level of its own (unmentioned): right where nothing is said, wrong_level elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.records import Level
from clinqa.kinds.long_form.answer_reader import (
    ABNORMAL,
    ABSENT,
    ADEQUATE,
    AnswerReader,
    AnswerReading,
    AskedAbout,
)
from clinqa.kinds.long_form.questions import QuestionType
from clinqa.kinds.long_form.sentences import statement_key

__all__ = [
    "DANGERS",
    "KINDS",
    "NO_ANSWER",
    "RANK",
    "ClinicalScorer",
    "Verdict",
    "at_risk",
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
RANK = {0: 0, -2: 1, 1: 2, 2: 3, 3: 4}

DANGERS = (
    "severe_as_mild",
    "severe_unseen",
    "inadequate_as_normal",
    "swapped",
    "abnormal_as_normal",
    "normal_as_abnormal",
    "invented",
)
"""The errors that could harm, the gravest first: severe called mild or less, severe called not
assessable or not mentioned, not assessable called normal, normal and abnormal swapped (and each
direction), a finding made up where the report says nothing or could not assess it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer as judged. `read` names what it says of what was asked; `read_level` is the
    level where it states one; `level_right` is whether what it says of q is right."""

    kind: str
    level_right: bool
    read: str
    read_level: int | None
    dangers: tuple[str, ...] = ()

    @property
    def gravest(self) -> str:
        """The gravest of the dangers; empty where there is none."""
        return self.dangers[0] if self.dangers else ""


NO_ANSWER = Verdict("irrelevant", False, "nothing", None)


@dataclass(frozen=True, slots=True)
class _Reference:
    key: str
    said: frozenset[tuple[str, int]]  # what else it says, and the words that decided it


class ClinicalScorer:
    """Judges answers with one pack; each distinct (question, reference, answer) once."""

    def __init__(self, reader: AnswerReader) -> None:
        self.reader = reader
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
        levels = reading.levels
        # the words of the reference say what the reference says, whoever reads them
        same = known.key == statement_key(answer)
        right = same or (reading.abstained if level is None else level in levels)
        if right:
            added = not same and self._beyond(reading, known, asked)
            kind = "unrelated_added" if added else "right"
        elif not levels and not reading.abstained:
            kind = "other_abnormality" if reading.findings else "irrelevant"
        elif level is not None and levels and _below(levels, level):
            kind = "not_highest"
        else:
            kind = "wrong_level"
        return Verdict(
            kind,
            right,
            class_of(level, asked.question_type) if right else _read(reading, asked),
            _read_level(reading, asked, level if same else None),
            () if right else _dangers(level, reading, asked),
        )

    def _reference(self, asked: AskedAbout, text: str, source: str) -> _Reference:
        key = (asked, text, source)
        known = self._references.get(key)
        if known is None:
            said = frozenset(self.reader.read(text, asked).findings.items())
            if source:
                said |= frozenset(self.reader.read(source, asked).findings.items())
            known = _Reference(statement_key(text), said)
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
    if kind == QuestionType.PRESENCE.name.lower():
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
    levels = reading.levels
    if not levels:
        return "nothing"
    if Level.CONFLICT in levels:
        return "conflict"
    kind = asked.question_type
    if kind == QuestionType.ADEQUACY.name.lower():
        return "adequate" if levels <= ADEQUATE else "inadequate"
    if kind == QuestionType.PRESENCE.name.lower() and levels <= ABNORMAL:
        return "present"
    if kind == QuestionType.PRESENCE.name.lower() and levels <= ABSENT:
        return "absent"
    return str(min(levels))


def _below(levels: frozenset[int], level: int) -> bool:
    ranks = [RANK[each] for each in levels if each in RANK]
    low_too = all(each in RANK or each == Level.LOW for each in levels)
    return level in RANK and low_too and bool(ranks) and max(ranks) < RANK[level]


def at_risk(level: int | None, question_type: str) -> tuple[str, ...]:
    """The dangers an item could run into: what each is a share of."""
    if level is None:
        return ("invented",)
    if question_type == QuestionType.ADEQUACY.name.lower():
        return ()
    found = []
    if level == Level.SEVERE:
        found += ["severe_as_mild", "severe_unseen"]
    if level == Level.INADEQUATE:
        found += ["inadequate_as_normal", "invented"]
    if level in ABNORMAL:
        found += ["swapped", "abnormal_as_normal"]
    if level == Level.NORMAL:
        found += ["swapped", "normal_as_abnormal"]
    return tuple(found)


def _dangers(level: int | None, reading: AnswerReading, asked: AskedAbout) -> tuple[str, ...]:
    levels = reading.levels
    if not levels and not reading.abstained:
        return ()
    unseen = levels <= {Level.INADEQUATE} if levels else reading.abstained
    normal = Level.NORMAL in levels and levels <= ABSENT
    abnormal = bool(levels) and levels <= ABNORMAL
    happened = {
        "severe_as_mild": bool(levels) and levels <= ABSENT | {1},
        "severe_unseen": unseen,
        "inadequate_as_normal": normal,
        "swapped": abnormal if level == Level.NORMAL else normal,
        "abnormal_as_normal": normal,
        "normal_as_abnormal": abnormal,
        # "normal leaflets" makes nothing up about the regurgitation, "not assessed" no finding
        "invented": abnormal
        if level == Level.INADEQUATE
        else bool(levels)
        and asked.abnormality not in reading.implied
        and Level.INADEQUATE not in levels,
    }
    return tuple(name for name in at_risk(level, asked.question_type) if happened[name])
