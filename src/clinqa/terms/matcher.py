"""The names of concepts in a text: longest first, from the left, never overlapping.

A text is read as folded tokens with their places: case, accents, British spelling, a plural's or
genitive's s and what stands between two words do not matter ("Crohn's disease", "Crohn disease";
"diarrhoeas", "diarrhea"; "β-thalassaemia", "beta thalassemia"). A trie over these tokens: one look
into the root a token is all that most tokens of a question cost; there are no pairwise comparisons.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from clinqa.sources.terminology.records import Label

__all__ = [
    "Concept",
    "FoundConcept",
    "NameMatcher",
    "folded",
    "joins",
    "key_of",
    "tokens",
]

_TOKEN = re.compile(r"[^\W_]+(?:['’]s(?![^\W_]))?")
_BETWEEN = re.compile(r"[\s\-‐‑–'’/]{1,4}")
_BRITISH = re.compile(r"([ao])e(?=[a-z])")
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "κ": "kappa",
    "λ": "lambda", "μ": "mu",
}  # fmt: skip
_ROMAN = {"ii": "2", "iii": "3", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12"}
"""Those that are nothing else: not I, V, X, nor IV for a vein."""
_KEPT_S = ("ss", "us", "is", "os")
_FEWEST = 4
_CACHED = 1 << 18


def tokens(text: str) -> list[tuple[str, int, int]]:
    """(folded token, start, end) of every word and number of a text.

    >>> tokens("Crohn's disease")
    [('crohn', 0, 7), ('disease', 8, 15)]
    """
    return [(folded(one[0]), one.start(), one.end()) for one in _TOKEN.finditer(text)]


def joins(text: str, start: int, end: int) -> bool:
    """Can what stands between two words stand within a name? A full stop or comma cannot."""
    return _BETWEEN.fullmatch(text, start, end) is not None


def key_of(name: str) -> tuple[str, ...]:
    """A name as the tokens it is found by.

    >>> key_of("Anaemias, haemolytic"), key_of("β-Thalassemia")
    (('anemia', 'hemolytic'), ('beta', 'thalassemia'))
    """
    return tuple(token for token, _, _ in tokens(name))


@lru_cache(maxsize=_CACHED)
def folded(word: str) -> str:
    """One spelling of a word."""
    plain = word.casefold()
    if plain in _ROMAN:
        return _ROMAN[plain]
    if plain.endswith(("'s", "’s")):
        plain = plain[:-2]
    if not plain.isascii():
        plain = "".join(_GREEK.get(letter, letter) for letter in plain)
        plain = plain.replace("æ", "ae").replace("œ", "oe")
        parts = unicodedata.normalize("NFKD", plain)
        plain = "".join(part for part in parts if not unicodedata.combining(part))
    plain = _BRITISH.sub("e", plain).replace("tumour", "tumor")
    if len(plain) >= _FEWEST and plain.endswith("s") and not plain.endswith(_KEPT_S):
        plain = plain[:-3] + "y" if plain.endswith("ies") else plain[:-1]
    return plain


_SHORTEST = 3
_END = ""  # no token is empty
_FEWEST_CAPITALS = 3


@dataclass(frozen=True, slots=True)
class Concept:
    """A term: its name in the ontology, whom it belongs to, and by which path that was found."""

    id: str
    name: str
    kind: str
    specialties: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class FoundConcept:
    """Where a concept stands in a text: code points, half open."""

    concept: str
    start: int
    end: int


class NameMatcher:
    """Finds names. Of two concepts with one name the lower rank, then the lower id is meant."""

    def __init__(
        self, names: Iterable[tuple[str, Iterable[Label]]], not_terms: Collection[str] = ()
    ) -> None:
        stop = {key_of(word) for word in not_terms}
        plain: dict[tuple[str, ...], tuple[int, str]] = {}
        cased: dict[str, tuple[int, str]] = {}
        self.shared = 0
        """Names that belonged to a second concept, which is never found by them."""
        for concept, labels in names:
            for label in labels:
                self._take(concept, label, plain, cased, stop)
        self._cased: Mapping[str, str] = {text: best[1] for text, best in cased.items()}
        self._root = _trie(plain, {key_of(text) for text in cased})
        self.names = len(plain) + len(cased)

    def _take(
        self,
        concept: str,
        label: Label,
        plain: dict[tuple[str, ...], tuple[int, str]],
        cased: dict[str, tuple[int, str]],
        stop: set[tuple[str, ...]],
    ) -> None:
        key = key_of(label.text)
        if not key or key in stop or sum(map(len, key)) < _SHORTEST:
            return
        best = (label.rank, concept)
        if label.exact_case or _is_abbreviation(label.text) or _is_short(key):
            known = cased.setdefault(label.text, best)
            cased[label.text] = min(known, best)
        else:
            known = plain.setdefault(key, best)
            plain[key] = min(known, best)
        self.shared += known[1] != concept

    def find(self, text: str) -> list[FoundConcept]:
        """Every name in the text, in order."""
        words = tokens(text)
        found: list[FoundConcept] = []
        root = self._root
        at = 0
        while at < len(words):
            node = root.get(words[at][0])
            if node is None:
                at += 1
                continue
            best, after, to = None, at + 1, at
            start = words[at][1]
            while True:
                ends = node.get(_END)
                if ends is not None:
                    concept = self._cased.get(text[start : words[to][2]]) or ends[0]
                    if concept is not None:
                        best, after = FoundConcept(concept, start, words[to][2]), to + 1
                to += 1
                if to == len(words) or not joins(text, words[to - 1][2], words[to][1]):
                    break
                node = node.get(words[to][0])
                if node is None:
                    break
            if best is not None:
                found.append(best)
            at = after
        return found

    def lookup(self, name: str) -> str | None:
        """The concept that a whole text names."""
        found = self.find(name)
        stripped = name.strip()
        if len(found) == 1:
            one = found[0]
            if key_of(stripped) == key_of(name[one.start : one.end]):
                return one.concept
        return None


def _is_abbreviation(text: str) -> bool:
    """Capitals only: "AIDS" is not what aids somebody.

    >>> _is_abbreviation("AIDS"), _is_abbreviation("Asthma"), _is_abbreviation("HbA1c")
    (True, False, False)
    """
    letters = [letter for letter in text if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    return len(letters) <= 6 and capitals == len(letters) and capitals >= _FEWEST_CAPITALS - 1


def _is_short(key: tuple[str, ...]) -> bool:
    """A single word of two or three letters: too often another word, or a part of a formula."""
    return len(key) == 1 and len(key[0]) <= _SHORTEST


def _trie(
    plain: Mapping[tuple[str, ...], tuple[int, str]], cased: Iterable[tuple[str, ...]]
) -> dict[str, Any]:
    """Nested dictionaries by token; at `_END` the concept in any case, or None if case decides."""
    root: dict[str, Any] = {}
    ends = {**dict.fromkeys(cased), **{key: best[1] for key, best in plain.items()}}
    for key, concept in ends.items():
        node = root
        for token in key:
            node = node.setdefault(token, {})
        node[_END] = (concept,)
    return root
