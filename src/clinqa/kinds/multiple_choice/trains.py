"""The letter of the right option and its text are learnt, in one order of the options an item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.kinds.facets.trains import Lesson, Trains
from clinqa.kinds.multiple_choice.choices import LETTERS, solved

__all__ = ["TRAINS"]


def _lesson(row: Mapping[str, Any]) -> Lesson | str:
    options, at = row["options"] or (), row["answer_index"]
    if not 2 <= len(options) <= len(LETTERS) or at is None or not 0 <= at < len(options):
        return f"has no answer among 2 to {len(LETTERS)} options; run `clinqa verify` on the folder"
    return Lesson(*solved(row["id"], row["question"] or "", options, at))


TRAINS = Trains(_lesson, columns=("options", "answer_index"), first_decides=True)
