"""Of pairs with nearly the same source text one stays; those that are alike stay together.

Two source texts of nearly the same words that differ in a number, a denial or a word that has an
opposite ("left axis", "right axis") are not the same: both stay, in one cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clinqa.builders.references.folded import tokens_of
from clinqa.builders.references.pack_words import Words
from clinqa.dataset.near_duplicates import Alike, clusters, near_duplicates, stay

__all__ = ["DUPLICATE", "RELATED", "Deduplicated", "deduplicate", "differ"]

DUPLICATE, RELATED = 0.90, 0.80


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """For each source text: which one stays in its place (-1: itself), and its cluster."""

    instead: list[int]
    cluster: list[int]
    """The first of its cluster; -1 for a text that does not stay."""
    alike: Alike


def deduplicate(sources: Sequence[str], ids: Sequence[str], words: Words) -> Deduplicated:
    """See the module; of what is the same the lowest id stays."""
    alike = near_duplicates(list(sources), RELATED)
    order = sorted(range(len(ids)), key=lambda i: ids[i])
    ranks = [0] * len(ids)
    for rank, index in enumerate(order):
        ranks[index] = rank
    instead = stay(
        alike, ranks, DUPLICATE, lambda one, other: differ(sources[one], sources[other], words)
    ).tolist()
    staying = [i for i, other in enumerate(instead) if other < 0]
    return Deduplicated(instead, clusters(alike, staying).tolist(), alike)


def differ(one: str, other: str, words: Words) -> bool:
    """Whether two texts of nearly the same words say different things."""
    return _telling(one, words) != _telling(other, words)


def _telling(text: str, words: Words) -> Counter[str]:
    found = tokens_of(text)
    return Counter(
        token.text
        for token in found
        if token.kind == "number" or token.text in words.fixed or token.text in words.negating
    )
