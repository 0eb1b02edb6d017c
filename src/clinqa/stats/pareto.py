"""Which points no other is better than in everything."""

from __future__ import annotations

import numpy as np

from clinqa.core.arrays import ArrayLike, Bools

__all__ = ["frontier"]


def frontier(points: ArrayLike) -> Bools:
    """For each row: is no other at least as good in every column and better in one? Higher is
    better; a row with a missing value is never on the frontier.

    >>> frontier([[0.9, 0.1], [0.5, 0.5], [0.4, 0.5], [0.1, 0.9]]).tolist()
    [True, True, False, True]
    """
    table = np.asarray(points, dtype=np.float64).reshape(len(np.asarray(points)), -1)
    known: Bools = np.logical_not(np.isnan(table).any(axis=1))
    at_least = (table[:, None] <= table[None]).all(axis=2)
    better = (table[:, None] < table[None]).any(axis=2)
    beaten = (at_least & better & known[None, :]).any(axis=1)
    made: Bools = np.logical_and(known, np.logical_not(beaten))
    return made
