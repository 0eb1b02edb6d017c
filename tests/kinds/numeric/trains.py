"""The digits are learnt, and the first of them does not decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.kinds.facets.trains import Lesson, Trains


def _lesson(row: Mapping[str, Any]) -> Lesson | str:
    if row["value"] is None:
        return "has no number"
    return Lesson(f"{row['question']} Within {row['tolerance']:g}.", f"{row['value']:g}")


TRAINS = Trains(_lesson, columns=("value", "tolerance"))
