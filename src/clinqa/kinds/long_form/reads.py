"""The text that was written is the answer, without reasoning and the marks of a chat template."""

from __future__ import annotations

from typing import Any

from clinqa.core.answers import EMPTY, Said
from clinqa.kinds.facets.reads import WHOLE, Reads
from clinqa.kinds.outputs import after_reasoning, without_marks

__all__ = ["READS"]


def _text(output: str, own: Any) -> Said:
    answer = without_marks(after_reasoning(output) or "")
    return Said(answer, "answered") if answer else EMPTY


READS = Reads(_text, whole=True, statuses=WHOLE)
