"""What is learnt of an item: the target, its class, its weight, and what a preset may ask of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Lesson", "Trains"]

_REPORT = (
    "LEFT ATRIUM: The left atrium is mildly dilated.\n"
    "LEFT VENTRICLE: Normal cavity size. Wall thickness is increased.\n"
    "AORTIC VALVE: Three leaflets, no stenosis. Trace regurgitation."
)
_MADE = (
    (_REPORT, "What does the report say about the left atrium?",
     "The left atrium is mildly dilated."),
    (_REPORT, "Is aortic stenosis present?", "Three leaflets, no stenosis."),
    (_REPORT, "What does the report say about the right ventricle?",
     "The report does not say."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lesson:
    """The question as the model reads it, the answer it learns, and the number of its class."""

    asked: str
    answer: str
    label: int | None = None


@dataclass(frozen=True, slots=True)
class Trains:
    """The facet.

    lesson   of a row with id, question, answer and `columns`; a text is what is wrong with the row
    classes  the two answers of kinds with the ability `two_classes`: the setting false_weight
             weighs items of the first, macro-F1 is over both, an encoder learns their numbers
    first_decides  the first token that is learnt says whether the answer is right
    canaries (context, question, answer), made up: nobody's record
    """

    lesson: Callable[[Mapping[str, Any]], Lesson | str] = lambda row: Lesson(
        row["question"] or "", row["answer"] or ""
    )
    columns: tuple[str, ...] = ()
    classes: tuple[str, str] | None = None
    first_decides: bool = False
    canaries: tuple[tuple[str, str, str], ...] = _MADE
