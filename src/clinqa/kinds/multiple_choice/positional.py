"""Options that speak of where other options stand: their question can only be asked as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["is_positional", "speaks_of_others"]

_SOME = r"(?:all|none|any|both|either|neither|some|most|each|one|two|three|more\s+than\s+one)"
_PLACE = r"(?:above|below|preceding|previous|foregoing|aforementioned|following)"
_OTHERS = r"(?:options?|choices?|answers?|alternatives?)"
_L = r"\(?[A-H]\)?"  # no I: that is a number in "I only"
_JOIN = r"\s*(?:,|;|&|\+|/|\band\b|\bor\b|\bnor\b)+\s*"
_ANYWHERE = re.compile(
    rf"\b{_SOME}\s+(?:of\s+)?(?:the\s+)?{_PLACE}(?!\s+\d|\s+the\b)\b"
    rf"|\b{_SOME}\s+(?:of\s+)?(?:the\s+)?(?:{_PLACE}\s+|other\s+|listed\s+)?{_OTHERS}\b"
    rf"|\b(?:the\s+)?(?:first|last|other|two|three)\s+{_OTHERS}\b"
    rf"|\b(?:options?|choices?|answers?)\s+(?:{_L}|\d)(?![\w'])"
    rf"|\bsame\s+as\s+(?:the\s+)?(?:{_PLACE}|(?-i:{_L})(?![\w']))",
    re.I,
)
_WHOLE = re.compile(
    rf"\W*(?:(?:all|none|both|neither|either|any)\W*"
    rf"|(?:all|none|both|neither|either|any)\s+(?:of\s+)?(?:these|those|them|the\s+others?)\W*"
    rf"|(?:only|both|either|neither|all)\s+{_L}(?:{_JOIN}{_L})*\W*"
    rf"|both\s+(?-i:[A-H]{{2,4}})\W*"
    rf"|{_L}(?:{_JOIN}{_L})+(?:\W+(?:only|both|alone|together)\b)?\W*"
    rf"|{_L}(?:{_JOIN}{_L})*\W+(?:only|alone)\W*"
    rf"|{_L}(?:{_JOIN}{_L})*\s+(?:is|are)\s+(?:true|false|right|wrong|correct|incorrect)\b.*)",
    re.I | re.S,
)


def speaks_of_others(option: str) -> bool:
    """Does an option mean something only beside the others, or only where they stand?

    >>> [speaks_of_others(o) for o in ("Both A and C", "All of the above", "None", "B only")]
    [True, True, True, True]
    >>> [speaks_of_others(o) for o in ("Both GH and prolactin", "All above 60 years", "AB", "A")]
    [False, False, False, False]
    """
    return _WHOLE.fullmatch(option) is not None or _ANYWHERE.search(option) is not None


def is_positional(options: Sequence[str]) -> bool:
    """Does any option depend on the order of the options?"""
    return any(map(speaks_of_others, options))
