"""What became of a question that was asked: an answer, or one of six reasons why there is none."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AMBIGUOUS", "EMPTY", "REFUSED", "STATUSES", "UNREADABLE", "Said"]

STATUSES = ("answered", "ambiguous", "refused", "empty", "truncated", "unreadable", "error")
"""The column `answer_status`; what is not `answered` is wrong in figures of all items, and left out
of figures of answered ones."""


@dataclass(frozen=True, slots=True)
class Said:
    """The answer, or None, and one of `STATUSES`."""

    answer: str | None
    status: str


EMPTY = Said(None, "empty")
AMBIGUOUS = Said(None, "ambiguous")
REFUSED = Said(None, "refused")
UNREADABLE = Said(None, "unreadable")
