"""Where data come from that are about nobody: what `simulate` wrote, and all that is made of it.

A manifest names its `origin` where it is known; what is made from several things has the origin
that all of them have, and says so where only some of them are made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = [
    "PARTLY",
    "SIMULATED",
    "Traced",
    "banner_of",
    "made_up",
    "meaning_of",
    "origin_of",
    "with_origin",
]

SIMULATED, PARTLY = "simulated", "partly simulated"
_WORDS = {SIMULATED: "Made-up data", PARTLY: "Partly made-up data"}
_MEANS = {
    SIMULATED: "No patient is behind it, and figures on it say nothing of real ones.",
    PARTLY: "Some of what it stands on was made up; figures on it say nothing of real patients.",
}


class Traced(Protocol):
    """What says where it comes from: a manifest."""

    @property
    def origin(self) -> str:
        """SIMULATED, PARTLY, or nothing where none is declared."""


def origin_of(parts: Iterable[Traced]) -> str:
    """The origin of what is made from these.

    >>> from types import SimpleNamespace as Part
    >>> origin_of([Part(origin="simulated"), Part(origin="simulated")])
    'simulated'
    >>> origin_of([Part(origin="simulated"), Part(origin="")]), origin_of([Part(origin="")])
    ('partly simulated', '')
    """
    found = {part.origin for part in parts}
    if not found & {SIMULATED, PARTLY}:
        return ""
    return SIMULATED if found == {SIMULATED} else PARTLY


def made_up(origin: str) -> str:
    """How people are told of it; nothing where data are not known to be made up."""
    return _WORDS.get(origin, "")


def meaning_of(origin: str) -> str:
    """What made-up data can't say; nothing where data are not known to be made up."""
    return _MEANS.get(origin, "")


def banner_of(origin: str) -> str:
    """The same at the head of a card, in Markdown, with a blank line after it.

    >>> banner_of("simulated").splitlines()[0][:33]
    '> **Made-up data.** No patient is'
    """
    return f"> **{made_up(origin)}.** {meaning_of(origin)}\n\n" if made_up(origin) else ""


def with_origin(origin: str) -> dict[str, str]:
    """It as a key beside a data class; no key where none is declared.

    >>> with_origin("simulated"), with_origin("")
    ({'origin': 'simulated'}, {})
    """
    return {"origin": origin} if origin else {}
