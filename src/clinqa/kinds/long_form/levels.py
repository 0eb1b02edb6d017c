"""How levels are named and coloured, the same in every table and figure."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LEVELS", "LEVEL_STYLES", "LevelStyle", "level_words", "plain_name"]


@dataclass(frozen=True, slots=True)
class LevelStyle:
    """A level's words and look. Colours stay apart for colour-blind readers; hatches in print."""

    level: int
    short: str
    words: str
    colour: str
    dark_colour: str
    hatch: str = ""


# in the order of a stacked bar: normal first, then rising severity, then what has no degree
LEVEL_STYLES: tuple[LevelStyle, ...] = (
    LevelStyle(0, "normal", "normal or absent (0)", "#cfd8dc", "#55646c"),
    LevelStyle(-1, "low", "low (−1)", "#56b4e9", "#56b4e9"),
    LevelStyle(1, "mild", "mild (1)", "#fbd27a", "#fde3a7"),
    LevelStyle(2, "mod.", "moderate (2)", "#e8891d", "#f0a13c"),
    LevelStyle(3, "severe", "severe (3)", "#a33a00", "#d0501a"),
    LevelStyle(-2, "abn.", "abnormal, no degree (−2)", "#b07aa1", "#c79bc0", "////"),
    LevelStyle(-3, "inad.", "inadequate (−3)", "#8a939a", "#939ca4", "...."),
    LevelStyle(-50, "confl.", "contradictory (−50)", "#1d2329", "#f4f6f8", "xxxx"),
)

LEVELS = tuple(sorted(style.level for style in LEVEL_STYLES))
"""From the least to the most severe, what has no degree first."""

_BY_LEVEL = {style.level: style for style in LEVEL_STYLES}


def level_words(level: int | None) -> str:
    """A level as a person reads it.

    >>> level_words(1), level_words(None)
    ('mild (1)', 'no label')
    """
    if level is None:
        return "no label"
    style = _BY_LEVEL.get(level)
    return style.words if style else str(level)


def plain_name(abnormality: str) -> str:
    """An id as words, where no pack names it.

    >>> plain_name("mitral_regurgitation")
    'mitral regurgitation'
    """
    return abnormality.replace("_", " ")
