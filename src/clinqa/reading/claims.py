"""A level claimed for an aspect of a structure, before the pack says which abnormality that is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Claim"]


@dataclass(slots=True)
class Claim:
    """What a unit says: `level` of `aspect` of `structure`.

    `explicit`: the aspect was named. `sectional`: "not well seen", said of the section's own
    structure. `bare`: present, and nothing said of how much.
    """

    structure: str
    aspect: str
    level: int
    explicit: bool = True
    stress: bool = False
    post: bool = False
    sectional: bool = False
    bare: bool = False
