"""What one statement says of one abnormality.

A level claimed for an aspect of a structure, before the pack says which abnormality that is.
"""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.records import Method, Phase

__all__ = ["Claim", "Finding", "Reading"]


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One level of one abnormality, as one statement gives it.

    `explicit`: the statement names the abnormality; otherwise it follows from a structure called
    normal or not seen. `corrects`: it replaces what the report says elsewhere (an addendum).
    """

    abnormality: str
    level: int
    explicit: bool = True
    hedged: bool = False
    phase: Phase = Phase.BASELINE
    prosthesis: bool = False
    corrects: bool = False
    # what stress brings out: of the baseline in a stress section too, and there it corrects
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What one statement says: its findings, and which layer read it."""

    findings: tuple[Finding, ...]
    method: Method


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
