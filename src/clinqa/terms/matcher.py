"""The names of concepts in a text: longest first, from the left, never overlapping.

A trie over folded tokens. One look into the root a token is all that most tokens of a question
cost; there are no pairwise comparisons.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clinqa.sources.terminology.records import Label
from clinqa.terms.folding import joins, key_of, tokens

__all__ = ["Concept", "FoundConcept", "NameMatcher"]

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
