"""What is asked, and what an answer was read to say of it."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "ABNORMAL",
    "ABSENT",
    "ADEQUATE",
    "NOTHING",
    "SEEN",
    "UNGRADED",
    "UNSEEN",
    "AnswerReading",
    "AskedAbout",
    "AskedWord",
]

ABNORMAL = frozenset({-2, 1, 2, 3})
ABSENT = frozenset({0, -1})
ADEQUATE = frozenset({-2, -1, 0, 1, 2, 3})


@dataclass(frozen=True, slots=True)
class AskedWord:
    """What an answer says of the asked abnormality; the fields as those of `AnswerReading`."""

    levels: frozenset[int] = frozenset()
    abstained: bool = False
    contradicts: bool = False
    bare: bool = False


NOTHING, UNGRADED = AskedWord(), AskedWord(frozenset({-2}))
SEEN, UNSEEN = AskedWord(ADEQUATE), AskedWord(frozenset({-3}))


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """What a question asks: one abnormality of one structure, in one way."""

    abnormality: str
    structure: str
    question_type: str


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """An answer as read.

    `levels` are those that its last word on the asked abnormality leaves open: one for a stated
    level or a bare yes (-2) or no (0), several for "not severe", empty where it says nothing of
    it; where it `contradicts` itself, those that cannot all hold. `bare`: a yes or no alone states
    no level. `abstained`: it says that the report does not say. `findings` are the
    resolved levels of all abnormalities named; `implied` those that only follow from a
    structure called normal or not seen.
    """

    levels: frozenset[int] = frozenset()
    abstained: bool = False
    findings: dict[str, int] = field(default_factory=dict)
    implied: frozenset[str] = frozenset()
    contradicts: bool = False
    bare: bool = False

    @property
    def level(self) -> int | None:
        """The level, where it states one."""
        alone = len(self.levels) == 1 and not self.contradicts and not self.bare
        return next(iter(self.levels)) if alone else None
