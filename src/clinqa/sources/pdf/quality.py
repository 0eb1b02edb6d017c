"""Is a page's text one that can be read? The gate before the count of characters.

Each fault is told by what it does to plain text of any European language, so that a German or a
French page passes: no dictionary is asked. Reversed text alone is told by English words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clinqa.sources.pdf.records import Why

__all__ = ["Quality", "fault_of", "glued", "measure"]

_LETTERS = re.compile(r"[^\W\d_]+")
_VOWELS = frozenset("aeiouyäöüáàâãåæéèêëíìîïóòôõøœúùûýαεηιουωаеиоуыэюя")
_WORDS = "the and of to in is for with that are was this from by"
_COMMON = frozenset(_WORDS.split())
_BACKWARDS = frozenset(word[::-1] for word in _COMMON if len(word) > 2)
_FORWARDS = frozenset(word for word in _COMMON if len(word) > 2)

_UNMAPPED = 0.15
_SIDEWAYS = 0.5
_PLAINLY_ENGLISH = 0.06  # old fonts name no character, and their numbers are those of ASCII
_LONG = 18  # letters: longer runs are mostly glued words


@dataclass(frozen=True, slots=True)
class Quality:
    """What the gate goes by."""

    characters: int  # that print
    unmapped: float  # share of them
    sideways: float  # share of the page's characters that run another way
    vowels: float  # share of letters
    letters: int
    single: float  # share of tokens that are one letter
    mixed: float  # share of tokens with a sign inside a word
    glued: float  # share of words over 18 letters
    common: float  # share of words that are English function words
    backwards: int
    forwards: int


def glued(text: str) -> int:
    """How many runs of letters are longer than 18."""
    return sum(len(word) > _LONG for word in _LETTERS.findall(text))


def measure(text: str, unmapped: int, sideways: int) -> Quality:
    """The measures of one page's text as the engine gave it."""
    tokens = text.split()
    words = [word.lower() for word in _LETTERS.findall(text)]
    letters = sum(map(len, words))
    vowels = sum(letter in _VOWELS for word in words for letter in word)
    printed = sum(map(len, tokens))
    count = max(1, len(tokens))
    return Quality(
        characters=printed,
        unmapped=min(1.0, unmapped / max(1, printed)),
        sideways=sideways / max(1, printed + sideways),
        vowels=vowels / max(1, letters),
        letters=letters,
        single=sum(len(token) == 1 and token.isalpha() for token in tokens) / count,
        mixed=sum(_is_mixed(token) for token in tokens) / count,
        common=sum(word in _FORWARDS for word in words) / max(1, len(words)),
        glued=sum(len(word) > _LONG for word in words) / max(1, len(words)),
        backwards=sum(word in _BACKWARDS for word in words),
        forwards=sum(word in _FORWARDS for word in words),
    )


def _is_mixed(token: str) -> bool:
    """A sign that no word has inside: `t∀e`, `a;b`."""
    if token.isalnum() or len(token) < 3:
        return False
    return any(
        not c.isalnum() and c not in "-–—'’./,:()+±=<>≤≥%&·×*@_[]{}|\"“”°µμ" for c in token[1:-1]
    )


def fault_of(quality: Quality) -> Why | None:
    """Why the text cannot be used, or None."""
    q = quality
    if q.unmapped >= _UNMAPPED and not (q.letters >= 100 and q.common >= _PLAINLY_ENGLISH):
        return Why.UNMAPPED_GLYPHS
    if q.sideways >= _SIDEWAYS:
        return Why.SIDEWAYS
    if q.backwards >= 3 and q.backwards > q.forwards:
        return Why.REVERSED
    if q.letters < 100:
        return None
    if not 0.2 <= q.vowels <= 0.65 or q.single > 0.5 or q.mixed > 0.3 or q.glued > 0.25:
        return Why.BROKEN_WORDS
    return None
