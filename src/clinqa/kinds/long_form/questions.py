"""What is asked of a study, in the pack's words, and the canonical answers that a scorer compares.

    finding      what does the report say about X?     the deciding sentence
    adequacy     could X be assessed?                  "Yes." or "No."
    presence     is there X?                           "Yes." or "No."; not where it is inadequate
    severity     how severe is X?                      the name of a degree; where there is an X
    unmentioned  worded as `finding`                   "The report does not say."

A pack words `finding`; the others have wordings here that a pack may replace under `questions`
(`adequacy`, `presence`, `severity`; `answer_yes`, `answer_no`, `answer_unmentioned`,
`answer_LEVEL`, and `answer_LEVEL_ASPECT` for what a level is of one aspect). In a wording {name}
is the abnormality's name, and {topic} the pack's `topic_ABNORMALITY`, or else the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from clinqa.core.errors import ConfigError
from clinqa.core.records import Level
from clinqa.packs.loader import Pack
from clinqa.packs.schema import AbnormalitySpec

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
_DEGREES = (Level.UNSPECIFIED, Level.MILD, Level.MODERATE, Level.SEVERE)


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Every question and canonical answer of a pack.

    `questions[type][abnormality]`; `answers[type][abnormality][level]` for all types but
    `finding`. What is not there is not asked, nor is what `asks` denies: those answers are there
    to be understood ("Normal.", where a degree was asked for).
    """

    questions: tuple[tuple[str, ...], ...]
    answers: tuple[tuple[dict[int, str], ...], ...]
    unmentioned: str

    @staticmethod
    def asks(kind: QuestionType, level: int) -> bool:
        """Is a question of this type asked of a study with this level?

        A degree is asked for only where something has one, or should: "How severe is it?" where
        there is none takes for granted what is not so.
        """
        return kind is not QuestionType.SEVERITY or level in _DEGREES


def questionnaire(pack: Pack) -> Questionnaire:
    """The questions of a pack; ConfigError where a wording cannot be filled in."""
    _check_keys(pack)
    said = {**_WORDINGS, **pack.spec.questions}
    said["unmentioned"] = said["finding"]
    names = pack.abnormalities
    topics = {key: said.get(f"topic_{key}", spec.name) for key, spec in names.items()}
    questions = tuple(
        tuple(
            _filled(pack, kind, said[kind.name.lower()], spec.name, topics[key])
            for key, spec in names.items()
        )
        for kind in QuestionType
    )
    answers = tuple(
        tuple(_answers(said, kind, spec) for spec in names.values()) for kind in QuestionType
    )
    return Questionnaire(questions, answers, said["answer_unmentioned"])


def _answers(said: Mapping[str, str], kind: QuestionType, spec: AbnormalitySpec) -> dict[int, str]:
    """The canonical answer by level; a level without one is not asked."""
    yes, no = said["answer_yes"], said["answer_no"]
    if kind is QuestionType.ADEQUACY:
        return {level: no if level == Level.INADEQUATE else yes for level in spec.levels}
    levels = [level for level in spec.levels if level in _SEVERITY_LEVELS]
    if kind is QuestionType.PRESENCE:
        return {level: no if level in (Level.NORMAL, Level.LOW) else yes for level in levels}
    if kind is QuestionType.SEVERITY and not spec.binary:
        general = {level: said[f"answer_{level}"] for level in levels}
        return {
            level: said.get(f"answer_{level}_{spec.aspect}", text)
            for level, text in general.items()
        }
    return {}


def _filled(pack: Pack, kind: QuestionType, wording: str, name: str, topic: str) -> str:
    question = wording.replace("{name}", name).replace("{topic}", topic)
    if "{" in question or "}" in question or question == wording:
        raise ConfigError(
            f"{pack.folder / 'pack.yaml'}: questions: {kind.name.lower()}: {{name}} or {{topic}} "
            "must stand in it, and no other brace"
        )
    return question


def _check_keys(pack: Pack) -> None:
    """A misspelt key would be passed over in silence."""
    known = {kind.name.lower() for kind in QuestionType} - {"unmentioned"} | set(_WORDINGS)
    known |= {f"topic_{key}" for key in pack.abnormalities}
    known |= {f"answer_{level}_{a}" for level in _SEVERITY_LEVELS for a in pack.spec.aspects}
    if unknown := sorted(set(pack.spec.questions) - known):
        raise ConfigError(f"{pack.folder / 'pack.yaml'}: questions: no such key: {unknown[0]!r}")
