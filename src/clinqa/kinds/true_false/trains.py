"""True or False is learnt, as a word or as one of two classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.kinds.facets.trains import Lesson, Trains

__all__ = ["TRAINS"]

_CLASSES = ("False", "True")


def _lesson(row: Mapping[str, Any]) -> Lesson | str:
    word = str(row["answer"]).strip().title()
    if word not in _CLASSES:
        return (
            "is true_false, but its answer is neither True nor False; run `clinqa verify` on the "
            "folder"
        )
    return Lesson(row["question"] or "", row["answer"], _CLASSES.index(word))


TRAINS = Trains(
    _lesson,
    classes=_CLASSES,
    canaries=(
        ("", "In sinus rhythm, a P wave comes before each QRS complex.", "True"),
        ("", "In sinus rhythm, a P wave comes before each QRS complex.", "False"),
        ("", "The PR interval is measured from the QRS complex to the T wave.", "True"),
        ("", "The PR interval is measured from the QRS complex to the T wave.", "False"),
    ),
)
