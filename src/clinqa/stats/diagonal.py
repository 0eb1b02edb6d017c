"""A square matrix of who was trained on what (rows) and tested on what (columns): is its diagonal
higher than the rest?

Three ways to say how much: the gap, mean of the diagonal minus mean of all else; the double-centred
diagonal, what a cell is above what its row and its column let one expect; and their mean, which is
(k - 1) / k of the gap whatever the matrix holds. Rows that are good at everything and columns that
are easy for everyone cancel out of each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats

__all__ = [
    "FEWEST_PERMUTED",
    "Permuted",
    "centred_diagonal",
    "gap",
    "gap_weights",
    "interaction_weights",
    "permutation_test",
]


#: With fewer rows no arrangement is rare: three have 6, so that p cannot be below 1/6.
FEWEST_PERMUTED = 5
#: Up to so many rows all arrangements are gone through: 8 have 40,320.
_MOST_EXACT = 8
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Permuted:
    """The gap, and how often one at least as large comes about by naming the rows otherwise."""

    gap: float
    p: float
    as_large: int
    arrangements: int
    exact: bool


def gap(matrix: ArrayLike) -> float:
    """Mean of the diagonal minus mean of all other cells.

    >>> gap([[3, 1], [1, 3]])
    2.0
    """
    table = _square(matrix)
    return float((gap_weights(len(table)) * table).sum())


def centred_diagonal(matrix: ArrayLike) -> Floats:
    """Each diagonal cell less the means of its row and column, plus the mean of all.

    >>> centred_diagonal([[5, 1], [1, 3]]).tolist()
    [1.5, 1.5]
    """
    table = _square(matrix)
    made: Floats = np.diag(table) - table.mean(axis=1) - table.mean(axis=0) + table.mean()
    return made


def gap_weights(k: int) -> Floats:
    """What each cell counts for in the gap.

    >>> gap_weights(2).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    _check(k)
    own = np.eye(k)
    made: Floats = own / k - (1 - own) / (k * (k - 1))
    return made


def interaction_weights(k: int, at: int | None = None) -> Floats:
    """What each cell counts for in the double-centred diagonal at a place, or in their mean."""
    _check(k)
    flat = np.full(k, 1 / k)
    if at is None:
        made: Floats = sum((interaction_weights(k, one) for one in range(k)), np.zeros((k, k))) / k
        return made
    unit = np.eye(k)[at] - flat
    made = np.outer(unit, unit)
    return made


def permutation_test(matrix: ArrayLike, *, seed: int = 0, arrangements: int = 9999) -> Permuted:
    """One-sided: is the gap larger than when rows are named by chance?

    Of all k! namings where there are at most 8 rows (the real one is among them, so that p is at
    least 1 / k!), else of some by chance and p = (b + 1) / (B + 1). It takes the matrix as it is:
    that its cells are counts of some questions, and its rows single trainings, it cannot know.

    >>> permutation_test([[2, 1, 1], [1, 2, 1], [1, 1, 2]])
    Traceback (most recent call last):
    ...
    ValueError: 3 rows have 6 arrangements, so that p cannot be below 1/6: five rows are needed
    """
    table = _square(matrix)
    k = len(table)
    if k < FEWEST_PERMUTED:
        many = int(np.prod(np.arange(1, k + 1)))
        raise ValueError(
            f"{k} rows have {many} arrangements, so that p cannot be below 1/{many}: "
            "five rows are needed"
        )
    exact = k <= _MOST_EXACT
    if exact:
        named = np.array(list(permutations(range(k))))
    else:
        random = np.random.default_rng(seed)
        named = np.argsort(random.random((arrangements, k)), axis=1)
    # the sum of all cells does not change, so that the diagonal's alone decides
    diagonals = table[np.arange(k)[None, :], named].sum(axis=1)
    own = float(np.trace(table))
    near = _NEAR * max(1.0, float(np.abs(table).max()))
    as_large = int((diagonals >= own - near).sum())
    if not exact:
        return Permuted(gap(table), (as_large + 1) / (len(named) + 1), as_large, len(named), False)
    return Permuted(gap(table), as_large / len(named), as_large, len(named), True)


def _square(matrix: ArrayLike) -> Floats:
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
        raise ValueError("a square matrix of numbers, rows and columns in the same order")
    _check(len(table))
    return table


def _check(k: int) -> None:
    if k < 2:
        raise ValueError("at least two rows: one has nothing to be compared with")
