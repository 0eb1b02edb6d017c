"""Statements of reports as templates: what makes two of them the same, and how like two are.

A model that has met a template knows the next report's sentence by heart, whatever numbers stand in
it. So case, signs, numbers, units and spelling are folded before statements are compared: whether
one also stands in train, and how near the nearest there is.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache

from rapidfuzz import fuzz, process

__all__ = ["folded", "nearest", "template_key"]

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+\d*|%")
_NUMBER = "#"
_UNITS = frozenset({
    "%", "percent", "per", "cent", "mm", "cm", "cm2", "m", "m2", "ml", "l", "g", "kg", "mg", "mmhg",
    "hg", "ms", "msec", "msecs", "s", "sec", "secs", "second", "seconds", "min", "bpm", "beats",
    "hz", "khz", "mhz", "degrees", "mps", "cms", "wood", "dyne", "dynes",
})  # fmt: skip
#: British and American, and doubled letters; words are only compared, so no word need be right.
_SPELLINGS = (
    (re.compile("ae|oe"), "e"),
    (re.compile("our"), "or"),
    (re.compile("re$"), "er"),
    (re.compile("z"), "s"),
    (re.compile("ey$"), "ay"),
    (re.compile(r"(.)\1+"), r"\1"),
)


@lru_cache(1 << 16)
def folded(text: str) -> str:
    """The statement without case, signs, numbers, units and ways to spell.

    >>> folded("Peak gradient 32 mm Hg; the Haemodynamics are normal.")
    'peak gradient # the hemodynamics aer normal'
    >>> folded("PEAK GRADIENT 4.5 mmHg, the hemodynamics are normal") == folded(
    ...     "Peak gradient 32 mm Hg; the Haemodynamics are normal.")
    True
    """
    made: list[str] = []
    measured = False
    for token in _TOKEN.findall(text.casefold()):
        if token[0].isdigit():
            if not (made and made[-1] == _NUMBER):
                made.append(_NUMBER)
            measured = True
        elif not (measured and token in _UNITS):
            made.append(_spelt(token))
            measured = False
    return " ".join(made)


@lru_cache(1 << 14)
def _spelt(word: str) -> str:
    for pattern, instead in _SPELLINGS:
        word = pattern.sub(instead, word)
    return word


def template_key(text: str) -> int:
    """Which folded statement this is, the same in every run and process."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


_CANDIDATES = 400


def nearest(asked: Sequence[str], among: Sequence[str]) -> list[float]:
    """How like each folded statement the nearest of `among` is, from 0 to 1.

    Likeness is rapidfuzz's ratio: of all letters of both, the share that stands in the same order
    in the other too. Each is held against at most so many candidates, those that share its rarest
    words and are about as long: time grows with the number asked, not with the product. Where
    nothing shares a word, 0.
    """
    known = sorted(set(among), key=lambda text: (len(text), text))
    lengths = [len(text) for text in known]
    holding: dict[str, list[int]] = {}
    for at, text in enumerate(known):
        for word in set(text.split()):
            holding.setdefault(word, []).append(at)
    there = set(known)
    return [1.0 if one in there else _best(one, known, lengths, holding) for one in asked]


def _best(
    asked: str, known: Sequence[str], lengths: Sequence[int], holding: Mapping[str, Sequence[int]]
) -> float:
    candidates: dict[int, None] = {}
    words = sorted(set(asked.split()) & holding.keys(), key=lambda word: (len(holding[word]), word))
    for word in words:
        for at in _about_as_long(holding[word], lengths, len(asked)):
            if len(candidates) >= _CANDIDATES:
                break
            candidates[at] = None
    if not candidates:
        return 0.0
    found = process.extractOne(asked, [known[at] for at in candidates], scorer=fuzz.ratio)
    return float(found[1]) / 100


def _about_as_long(places: Sequence[int], lengths: Sequence[int], length: int) -> Sequence[int]:
    """As many of these places, which rise with length, as are candidates: those nearest to it."""
    if len(places) <= _CANDIDATES:
        return places
    middle = bisect_left(places, length, key=lambda at: lengths[at])
    start = min(max(0, middle - _CANDIDATES // 2), len(places) - _CANDIDATES)
    return places[start : start + _CANDIDATES]
