"""Items as two-class encoders read them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """One item as an encoder reads it."""

    item_id: str
    tokens: list[int]
    types: list[int]
    weight: float
    label: int
