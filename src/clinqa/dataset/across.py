"""How alike texts in different splits are: what a leak would look like."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clinqa.core.arrays import Ints
from clinqa.dataset.near_duplicates import near_duplicates

__all__ = ["highest_across"]

_FLOORS = (0.6, 0.4, 0.2)


def highest_across(texts: Sequence[str], splits: Sequence[int]) -> float:
    """The highest Jaccard similarity of two texts in different splits.

    Searched from above: pairs at 0.6 or more first; what is below 0.2 counts as 0.

    >>> highest_across(["a b c d", "a b c e", "x y"], [0, 1, 0])
    0.6
    """
    place = np.asarray(splits, dtype=np.int64)
    for floor in _FLOORS:
        alike = near_duplicates(list(texts), floor)
        twice = _equal_across(alike.set_of, place)
        if twice:
            return 1.0
        first = {int(own): i for i, own in reversed(list(enumerate(alike.set_of.tolist())))}
        best = max(
            (
                similarity
                for one, other, similarity in zip(
                    alike.left.tolist(),
                    alike.right.tolist(),
                    alike.similarity.tolist(),
                    strict=True,
                )
                if place[first[one]] != place[first[other]]
            ),
            default=0.0,
        )
        if best:
            return float(best)
    return 0.0


def _equal_across(sets: Ints, place: Ints) -> bool:
    """Whether equal texts stand in different splits."""
    order = np.lexsort((place, sets))
    same = (sets[order][1:] == sets[order][:-1]) & (sets[order][1:] >= 0)
    return bool((same & (place[order][1:] != place[order][:-1])).any())
