"""What is asked of a study, in the pack's words, and the canonical answers that a scorer compares.

    finding      what does the report say about X?     the deciding sentence
    adequacy     could X be assessed?                  "Yes." or "No."
    presence     is there X?                           "Yes." or "No."; not where it is inadequate
    severity     how severe is X?                      the level's name; X with degrees alone
    unmentioned  worded as `finding`                   "The report does not say."

A pack words `finding`; the others have wordings here that a pack may replace under `questions`
(`adequacy`, `presence`, `severity`; `answer_yes`, `answer_no`, `answer_unmentioned`,
`answer_LEVEL`, and `answer_-1_ASPECT` for what level -1 is of an aspect).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from clinqa.core.errors import ConfigError
from clinqa.core.records import Level
from clinqa.packs.loader import Pack

__all__ = ["QuestionType", "Questionnaire", "questionnaire"]


class QuestionType(IntEnum):
    """The `question_type` of an item; the name in lower case stands in the dataset."""

    FINDING = 0
    ADEQUACY = 1
    PRESENCE = 2
    SEVERITY = 3
    UNMENTIONED = 4


_WORDINGS = {
    "adequacy": "Is the study adequate to assess {name}?",
    "presence": "Does the report describe {name}?",
    "severity": "How severe is {name} according to the report?",
    "answer_yes": "Yes.",
    "answer_no": "No.",
    "answer_unmentioned": "The report does not say.",
    "answer_-2": "Abnormal, severity not stated.",
    "answer_-1": "Below normal.",
    "answer_0": "Normal.",
    "answer_1": "Mild.",
    "answer_2": "Moderate.",
    "answer_3": "Severe.",
}
_SEVERITY_LEVELS = (-2, -1, 0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Every question and canonical answer of a pack.

    `questions[type][abnormality]`; `answers[type][abnormality][level]` for all types but
    `finding`; a (type, abnormality, level) that is not there is not asked.
    """

    questions: tuple[tuple[str, ...], ...]
    answers: tuple[tuple[dict[int, str], ...], ...]
    unmentioned: str


def questionnaire(pack: Pack) -> Questionnaire:
    """The questions of a pack; ConfigError where a wording cannot be filled in."""
    said = {**_WORDINGS, **pack.spec.questions}
    said.setdefault("unmentioned", said["finding"])
    questions = []
    for kind in QuestionType:
        wording = said[kind.name.lower()]
        questions.append(
            tuple(_filled(pack, kind, wording, spec.name) for spec in pack.abnormalities.values())
        )
    yes, no = said["answer_yes"], said["answer_no"]
    answers: list[tuple[dict[int, str], ...]] = []
    for kind in QuestionType:
        row: list[dict[int, str]] = []
        for spec in pack.abnormalities.values():
            canonical: dict[int, str] = {}
            for level in spec.levels:
                if kind is QuestionType.ADEQUACY:
                    canonical[level] = no if level == Level.INADEQUATE else yes
                elif level not in _SEVERITY_LEVELS:
                    continue
                elif kind is QuestionType.PRESENCE:
                    canonical[level] = no if level in (Level.NORMAL, Level.LOW) else yes
                elif kind is QuestionType.SEVERITY and not spec.binary:
                    own = said.get(f"answer_{level}_{spec.aspect}")
                    canonical[level] = own or said[f"answer_{level}"]
            row.append(canonical)
        answers.append(tuple(row))
    return Questionnaire(tuple(questions), tuple(answers), said["answer_unmentioned"])


def _filled(pack: Pack, kind: QuestionType, wording: str, name: str) -> str:
    question = wording.replace("{name}", name)
    if "{" in question or "}" in question or question == wording:
        raise ConfigError(
            f"{pack.folder / 'pack.yaml'}: questions: {kind.name.lower()}: {{name}} must stand in "
            "it, and no other brace"
        )
    return question
