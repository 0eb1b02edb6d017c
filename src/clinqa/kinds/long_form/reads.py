"""The text that was written is the answer."""

from __future__ import annotations

from typing import Any

from clinqa.core.answers import EMPTY, Said
from clinqa.kinds.facets.reads import WHOLE, Reads

__all__ = ["READS"]


def _text(output: str, own: Any) -> Said:
    answer = output.strip()
    return Said(answer, "answered") if answer else EMPTY


READS = Reads(_text, whole=True, statuses=WHOLE)
