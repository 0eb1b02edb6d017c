"""What one statement says of one abnormality."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.records import Method, Phase

__all__ = ["Finding", "Reading"]


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
