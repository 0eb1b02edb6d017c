"""A mean over all items from a judge's verdicts, corrected by people's verdicts on a few.

Prediction-powered inference (Angelopoulos et al. 2023) with the tuned weight of PPI++
(Angelopoulos, Duchi and Zrnic 2023). The judge (a rule, a model) has a verdict on every item,
people only on a sample. The judge's mean is corrected by how far the judge is off on the sample;
the less the judge can be trusted, the less weight its verdicts get, down to none. So the interval
holds whatever the judge is worth, and is hardly ever wider than that of the sample alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import ArrayLike, Bools, Floats
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import SHARE, Bounds, exact, student

__all__ = ["PredictionPowered", "corrected"]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """`corrected` is the figure to quote; the other two show what the correction does."""

    corrected: Estimate
    sample_only: Estimate
    judge_alone: float
    weight: float


def corrected(
    people: ArrayLike,
    judge: ArrayLike,
    design: Design,
    *,
    weight: float | None = None,
    bounds: Bounds = SHARE,
) -> PredictionPowered:
    """The mean that people would give over all items, with a t interval over clusters.

    `judge` and `people` have a verdict for each item, people's NaN where nobody looked; those they
    looked at are taken for a simple random sample. A patient may have items of both sorts: the
    error is summed within each patient. `weight` is the judge's, tuned to the least variance if
    None, and then between 0 and 1. The interval is made on the logit scale where the verdicts have
    `bounds`. Where people and judge never differ, the correction has no spread, and the exact
    binomial bound over the sampled clusters is added to the error.

    ValueError where lengths differ, people looked at nothing, or the design has strata or weights.
    """
    said, judged = (np.asarray(values, dtype=np.float64) for values in (people, judge))
    if design.strata is not None or design.weights is not None:
        raise ValueError("a simple random sample: no strata, no weights")
    groups = np.asarray(range(len(judged)) if design.clusters is None else design.clusters)
    if not len(said) == len(judged) == len(groups):
        raise ValueError("a verdict and a group for each item")
    seen = ~np.isnan(said)
    if not seen.any():
        raise ValueError("people's verdicts on at least one item are needed")
    names, coded = np.unique(groups, return_inverse=True)
    clusters = len(np.unique(coded[seen]))
    y, f, rest = said[seen], judged[seen], judged[~seen]

    def added(values: Floats, where: Bools) -> Floats:
        """What each cluster adds to the error of a mean."""
        apart = (values - values.mean()) / len(values) if len(values) else values
        return np.bincount(coded[where], apart, len(names)).astype(np.float64)

    of_people, of_judge = added(y, seen), added(rest, ~seen) - added(f, seen)
    spread = float(of_judge @ of_judge)
    if not len(rest):
        weight = 0.0
    elif weight is None:
        weight = min(1.0, max(0.0, -float(of_people @ of_judge) / spread)) if spread > 0 else 0.0
    shift = float(rest.mean() - f.mean()) if len(rest) else 0.0
    never_differ = bool(np.array_equal(y, f)) and len(rest) > 0
    doubt = exact(0.0, clusters, design.level)[1] if never_differ else 0.0
    how = f"ppi|weight {weight:.3f}|t over clusters{', exact bound' * never_differ}"
    sizes = len(judged), len(names), clusters
    value, error = float(y.mean()) + weight * shift, of_people + weight * of_judge
    alone = (len(y), clusters, clusters), design.level, bounds, "sample mean|t over clusters"
    return PredictionPowered(
        _estimate(value, error, doubt, sizes, design.level, bounds, how),
        _estimate(float(y.mean()), of_people, 0.0, *alone),
        float(judged.mean()),
        weight,
    )


def _estimate(
    value: float,
    influence: Floats,
    doubt: float,
    sizes: tuple[int, int, int],
    level: float,
    bounds: Bounds,
    how: str,
) -> Estimate:
    """value ± t × the standard error from what each cluster adds; `sizes`: n, clusters, sampled."""
    n, clusters, sampled = sizes
    if sampled < 2:
        nan = float("nan")
        return Estimate(value, nan, nan, n, clusters, "one sampled cluster: no interval")
    error = float(np.sqrt(sampled / (sampled - 1) * (influence @ influence)))
    bottom, top = bounds or (-np.inf, np.inf)
    value = min(max(value, bottom), top)
    low, high = student(value, error, sampled - 1, level, bounds)
    doubt *= top - bottom if bounds else 1.0
    low, high = max(low - doubt, bottom), min(high + doubt, top)
    return Estimate(value, low, high, n, clusters, f"{how}|{level:g}")
