"""Krippendorff's alpha: agreement of any number of raters with any number of labels missing.

alpha = 1 - D_o / D_e over pairs of labels within units that have at least two (Krippendorff 2011,
"Computing Krippendorff's Alpha-Reliability"). A unit enters through how often each label stands in
it, and everything is a sum over units: units with equal counts are one row with a weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats, Ints
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import SIGNED, of_figure, percentile
from clinqa.stats.measure import ratio

__all__ = ["MISSING", "alpha", "coded", "fleiss_kappa", "value_counts"]

Resampling = Literal["krippendorff", "unit"]

#: The code of a label that is not there.
MISSING = -1


@dataclass(frozen=True, slots=True)
class _Units:
    """Units of two labels or more: distinct rows of counts, and how many units have each."""

    counts: Ints  # distinct rows, one column a label
    times: Ints

    @property
    def size(self) -> int:
        return int(self.times.sum())


def coded(labels: Sequence[Sequence[str | None]], values: Sequence[str]) -> Ints:
    """Labels, one row a rater, as places in `values`; None becomes MISSING."""
    place = {value: at for at, value in enumerate(values)}
    return np.array(
        [[MISSING if one is None else place[one] for one in rater] for rater in labels],
        dtype=np.int64,
    )


def value_counts(ratings: ArrayLike, values: int) -> Ints:
    """How often each label stands in each unit; one row a unit. `ratings` has one row a rater."""
    table = np.asarray(ratings, dtype=np.int64)
    if table.ndim != 2 or (table >= values).any():
        raise ValueError("a row of codes below `values` for each rater")
    units = table.shape[1]
    flat = table + np.arange(units) * values
    return np.bincount(flat[table >= 0], minlength=units * values).reshape(units, values)


def alpha(
    ratings: ArrayLike,
    values: int,
    *,
    seed: int = 0,
    draws: int = 1000,
    level: float = 0.95,
    resampling: Resampling = "unit",
) -> Estimate:
    """Alpha with its interval; `ratings` has one row a rater, MISSING where none rated.

    `unit` leaves out one unit in turn (the rule of `intervals`): what another sample of items would
    give. `krippendorff` draws pairs of labels from those observed and keeps D_e (Krippendorff's own
    algorithm, as in Hayes and Krippendorff 2007): narrower, for it knows of no chance agreement
    that varies. NaN where alpha does not exist: fewer than two units, or one label.

    >>> estimate = alpha([[0, 0, 1, 1], [0, 1, 1, 1]], 2, seed=1)
    >>> round(estimate.value, 3), estimate.n
    (0.533, 4)
    """
    if resampling not in ("unit", "krippendorff"):
        raise ValueError("resampling is unit or krippendorff")
    units = _units(ratings, values)
    how = "krippendorff alpha|nominal"
    size = units.size
    if size < 2 or (units.counts.sum(axis=0) > 0).sum() < 2:
        return Estimate(math.nan, math.nan, math.nan, size, size, f"{how}|undefined")
    sums = _sums(units)
    total = units.times @ sums
    value = float(_alpha_of(total[None])[0])
    if resampling == "unit":
        left_out = np.repeat(_alpha_of(total - sums), units.times)
        moves = 1 / max(float(_expected(total)), 1e-9)
        low, high, made = of_figure(value, left_out, np.ones(size), level, SIGNED, moves=moves)
        return Estimate(value, low, high, size, size, f"{how}|units: {made}")
    samples = _by_pair(units, np.random.default_rng(seed), draws)
    low, high = (float(one) for one in percentile(samples, (1 - level) / 2))
    how = f"{how}|bootstrap: {resampling}, {draws} draws|{level:g}"
    return Estimate(value, low, high, size, size, how)


def _units(ratings: ArrayLike, values: int) -> _Units:
    """Distinct units by their sorted labels: sorting five numbers is cheaper than 55 counts."""
    table = np.asarray(ratings, dtype=np.int64)
    if table.ndim != 2 or (table >= values).any() or (table < MISSING).any():
        raise ValueError("a row of codes from -1 (missing) up to `values` - 1 for each rater")
    table = table[:, (table >= 0).sum(axis=0) > 1]
    ordered = np.sort(table, axis=0) + 1
    base = values + 1
    if len(ordered) * math.log2(base) < 62:
        keys = np.zeros(table.shape[1], dtype=np.int64)
        for row in ordered:
            keys = keys * base + row
        _, first, times = np.unique(keys, return_index=True, return_counts=True)
    else:
        _, first, times = np.unique(ordered, axis=1, return_index=True, return_counts=True)
    counts = value_counts(table[:, first], values)
    return _Units(counts, times.astype(np.int64))


def _sums(units: _Units) -> Floats:
    """Of each distinct unit: its disagreement, and its labels."""
    counts = units.counts.astype(np.float64)
    rated = counts.sum(axis=1)
    return np.column_stack([(rated**2 - (counts**2).sum(axis=1)) / (rated - 1), counts])


def _alpha_of(totals: Floats) -> Floats:
    """Alpha of each sample from its summed disagreement and margins."""
    observed, margins = totals[:, 0], totals[:, 1:]
    total = margins.sum(axis=1)
    return 1 - ratio(observed * (total - 1), total**2 - (margins**2).sum(axis=1))


def _expected(total: Floats) -> float:
    """The disagreement that the margins give by chance."""
    margins = total[1:]
    many = float(margins.sum())
    return float(many**2 - (margins**2).sum()) / (many * (many - 1))


def _by_pair(units: _Units, random: np.random.Generator, draws: int) -> Floats:
    """Krippendorff's algorithm: M draws from the observed pairs, each with its share of D_e.

    M is the smaller of 25 times the cells that occur and the number of pairs.
    """
    times = units.times.astype(np.float64)
    counts = units.counts.astype(np.float64)
    rated = counts.sum(axis=1)
    margins = counts.T @ times
    total = margins.sum()
    # the coincidence matrix from the few labels that each unit holds
    weighed = counts * (times / (rated - 1))[:, None]
    coincidences = weighed.T @ counts - np.diag(weighed.sum(axis=0))
    expected = (total**2 - (margins**2).sum()) / (total * (total - 1))
    cells = int((coincidences > 0).sum())
    pairs = round(float((times * rated * (rated - 1)).sum()) / 2)
    many = max(1, min(25 * cells, pairs))
    # two outcomes: agree, or 1 / D_e apart
    apart = np.maximum(coincidences - np.diag(np.diag(coincidences)), 0).sum() / coincidences.sum()
    made: Floats = 1 - random.binomial(many, min(1.0, float(apart)), size=draws) / (many * expected)
    return made


def fleiss_kappa(ratings: ArrayLike, values: int) -> float:
    """Fleiss' kappa: every unit rated by the same number of raters, none missing.

    >>> round(fleiss_kappa([[0, 0, 1, 1], [0, 1, 1, 1]], 2), 3)
    0.467
    """
    counts = value_counts(ratings, values).astype(np.float64)
    rated = counts.sum(axis=1)
    if not len(counts) or rated[0] < 2 or (rated != rated[0]).any():
        raise ValueError("Fleiss' kappa needs the same number of labels, two or more, on each unit")
    agreed = ((counts**2).sum(axis=1) - rated) / (rated * (rated - 1))
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    seen = float(agreed.mean())
    return (seen - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan
