"""How often an audit draws patients and permutes attributes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AuditDraws"]


@dataclass(frozen=True, slots=True)
class AuditDraws:
    """How many samples of patients and permutations of attributes, and from which seed; in words,
    who is drawn, and within what gaps are standardised."""

    seed: int = 0
    draws: int = 1000
    permutations: int = 1000
    level: float = 0.95
    who: str = "patients"
    strata: str = ""
