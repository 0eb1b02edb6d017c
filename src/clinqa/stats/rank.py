"""Are models ranked alike on two sets? Kendall's tau-b, with an interval from resamples of both.
And which points no other is better than in everything."""

from __future__ import annotations

import numpy as np

from clinqa.core.arrays import ArrayLike, Bools, Floats
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import of_samples
from clinqa.stats.measure import ratio

__all__ = [
    "frontier",
    "kendall",
    "means_drawn",
    "ranking_kept",
]


def kendall(a: Floats, b: Floats) -> Floats:
    """Tau-b of two lists of scores, or of each row of two tables; NaN where one is all ties.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).round(3).tolist()
    0.333
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    left, right = np.triu_indices(a.shape[-1], k=1)
    x, y = (np.sign(s[..., left] - s[..., right]) for s in (a, b))
    return ratio((x * y).sum(axis=-1), np.sqrt((x != 0).sum(axis=-1) * (y != 0).sum(axis=-1)))


def means_drawn(values: Floats, design: Design) -> tuple[Floats, Floats]:
    """The mean of each row (a model's values of all items), and of each in each sample of clusters,
    (draws, rows); none are drawn of a single cluster."""
    parts = design.parts(np.concatenate([np.ones((1, values.shape[1])), values]).T)
    samples = np.zeros((0, len(values)))
    if sum(len(sums) for _, sums in parts) > 1:
        totals = design.totals(parts)
        samples = totals[:, 1:] / totals[:, :1]
    return values.mean(axis=1), samples


def ranking_kept(
    a: Floats, b: Floats, a_samples: Floats, b_samples: Floats, *, level: float = 0.95
) -> Estimate:
    """Tau of the figures of the same models on two sets, drawn apart from each other.

    `a_samples` and `b_samples` are resamples by models. `n` is the number of models: the interval
    tells what other items would have given, not what other models would.
    """
    value = float(kendall(a, b))
    draws = min(len(a_samples), len(b_samples))
    found = kendall(a_samples[:draws], b_samples[:draws])
    low, high, how = of_samples(found, level)
    models = a.shape[-1]
    how = f"kendall tau-b|{'resamples of both sets, ' * how.startswith('percentile')}{how}"
    return Estimate(value, low, high, models, models, how)


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
    return np.logical_and(known, np.logical_not(beaten))
