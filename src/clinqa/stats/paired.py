"""Is one run better than another on the same items? Tests that respect patients.

Both runs answered the same items, so only the difference counts, and items of one patient go
together: the sign of a patient's difference is what chance would decide if the runs were alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from clinqa.stats.bootstrap import (
    Floats,
    Method,
    Statistic,
    bootstrap_sums,
    cluster_sums,
    mean,
    resampled_totals,
)

__all__ = ["Comparison", "compare"]

#: With so many clusters that differ, or fewer, all their sign flips are gone through.
EXACT_CLUSTERS = 12
_SIGNS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference a - b of one figure, its interval, and the p-value of there being none."""

    difference: float
    low: float
    high: float
    p: float
    n: int
    clusters: int
    signature: str


def compare(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    groups: Sequence[str] | npt.NDArray[Any],
    statistic: Statistic = mean,
    *,
    seed: int,
    test: Literal["sign-flip", "bootstrap"] = "sign-flip",
    flips: int = 9999,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "bca",
) -> list[Comparison]:
    """Compare two runs over the same items, row by row; one comparison for each figure.

    `sign-flip` changes the runs over within clusters: of a mean, that is the sign of each
    cluster's summed difference; of BLEU, which is no mean, the counts change sides. All flips
    where at most 12 clusters differ, else `flips` random ones and p = (b + 1) / (B + 1).
    `bootstrap` asks how often the difference of a sample of clusters is as far from the
    difference as that is from 0. The interval is the cluster bootstrap's either way.

    >>> same = [[1, 1.0], [1, 0.5], [1, 0.0]]
    >>> (none,) = compare(same, same, ["p1", "p2", "p3"], seed=1)
    >>> none.difference, none.p
    (0.0, 1.0)
    """
    ours, theirs = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if ours.shape != theirs.shape:
        raise ValueError("the two runs need the same items, in the same order")
    if ours.ndim != 2:
        raise ValueError("a row of numbers for each item")
    width = ours.shape[1]
    sums = cluster_sums(np.concatenate([ours, theirs], axis=1), groups)

    def difference(totals: Floats) -> Floats:
        made = np.asarray(statistic(totals[:, :width])) - np.asarray(statistic(totals[:, width:]))
        return made.reshape(len(totals), -1)

    estimates = bootstrap_sums(
        sums,
        difference,
        n=len(ours),
        seed=seed,
        draws=draws,
        level=level,
        method=method,
        bounds=None,
    )
    observed = np.array([estimate.value for estimate in estimates])
    if not len(sums) or np.isnan(observed).all():
        chances, how = np.full(len(estimates), np.nan), "undefined"
    elif test == "bootstrap":
        chances, how = _shifted(sums, difference, observed, draws, seed)
    else:
        chances, how = _flipped(sums, difference, observed, flips, seed)
    return [
        Comparison(e.value, e.low, e.high, p, e.n, e.clusters, f"{how}; interval: {e.signature}")
        for e, p in zip(estimates, chances.tolist(), strict=True)
    ]


def _flipped(
    sums: Floats, difference: Statistic, observed: Floats, flips: int, seed: int
) -> tuple[Floats, str]:
    """p-values when the runs change sides within a random half of the clusters."""
    width = sums.shape[1] // 2
    total = sums.sum(axis=0)
    change = sums[:, width:] - sums[:, :width]
    change = change[(change != 0).any(axis=1)]
    if len(change) <= EXACT_CLUSTERS:
        every = np.arange(1 << len(change))[:, None] >> np.arange(len(change))[None, :] & 1
        as_far = _as_far(every.astype(np.float64), change, total, difference, observed)
        return _nan_kept(as_far / len(every), observed), f"sign-flip, all {len(every)}"
    random = np.random.default_rng(seed)
    at_once = max(1, _SIGNS_AT_ONCE // len(change))
    as_far = np.zeros(len(observed))
    for done in range(0, flips, at_once):
        sides = random.integers(0, 2, (min(at_once, flips - done), len(change)), dtype=np.int8)
        as_far += _as_far(sides.astype(np.float64), change, total, difference, observed)
    return _nan_kept((as_far + 1) / (flips + 1), observed), f"sign-flip, {flips} random"


def _as_far(
    sides: Floats, change: Floats, total: Floats, difference: Statistic, observed: Floats
) -> Floats:
    """How many of the flips are as far from 0 as what was observed, for each figure."""
    width = change.shape[1]
    moved = np.einsum("bc,kc->bk", sides, np.ascontiguousarray(change.T))
    flipped = np.concatenate([total[:width] + moved, total[width:] - moved], axis=1)
    made = np.abs(difference(flipped))
    # Sums in another order differ in their last digits; equal differences count as equal.
    made_as_far: Floats = np.sum(made >= np.abs(observed) - 1e-12, axis=0).astype(np.float64)
    return made_as_far


def _shifted(
    sums: Floats, difference: Statistic, observed: Floats, draws: int, seed: int
) -> tuple[Floats, str]:
    samples = difference(resampled_totals(sums, draws=draws, seed=seed))
    as_far = np.abs(samples - observed) >= np.abs(observed) - 1e-12
    chances = (as_far.sum(axis=0) + 1) / (draws + 1)
    return _nan_kept(chances, observed), f"cluster bootstrap test, {draws} draws"


def _nan_kept(chances: Floats, observed: Floats) -> Floats:
    made: Floats = np.where(np.isnan(observed), np.nan, chances)
    return made
