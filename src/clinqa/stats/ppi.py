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
import numpy.typing as npt

from clinqa.stats.design import Labels
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import Bounds, Floats, exact, student

__all__ = ["PredictionPowered", "prediction_powered_mean"]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """`corrected` is the figure to quote; the other two show what the correction does."""

    corrected: Estimate
    sample_only: Estimate
    judge_alone: float
    weight: float


def prediction_powered_mean(
    people: npt.ArrayLike,
    judge_on_sample: npt.ArrayLike,
    sample_groups: Labels,
    judge_elsewhere: npt.ArrayLike,
    other_groups: Labels,
    *,
    level: float = 0.95,
    weight: float | None = None,
    bounds: Bounds = (0.0, 1.0),
) -> PredictionPowered:
    """The mean that people would give over all items, with a t interval over clusters.

    The interval is made on the logit scale where the verdicts have `bounds`.

    `people` and `judge_on_sample` are verdicts on the sampled items (a simple random sample),
    `judge_elsewhere` on the items that no one looked at. A patient may have items on both sides:
    the error is summed within each patient. `weight` is the judge's, tuned to the least variance
    if None, and then between 0 and 1. Where people and judge never differ, the correction has no
    spread, and the exact binomial bound over the sampled clusters is added to the error.
    """
    y, f = (np.asarray(values, dtype=np.float64) for values in (people, judge_on_sample))
    rest = np.asarray(judge_elsewhere, dtype=np.float64)
    if not len(y) == len(f) == len(sample_groups) or len(rest) != len(other_groups):
        raise ValueError("a verdict and a group for each item")
    if not len(y):
        raise ValueError("people's verdicts on at least one item are needed")
    names, coded = np.unique(np.asarray([*sample_groups, *other_groups]), return_inverse=True)
    sampled = coded[: len(y)]
    clusters = len(np.unique(sampled))

    # What each cluster adds to the error: of people's mean, and of the judge's two means.
    own = _by_cluster(sampled, (y - y.mean()) / len(y), len(names))
    judged = -_by_cluster(sampled, (f - f.mean()) / len(f), len(names))
    if len(rest):
        judged += _by_cluster(coded[len(y) :], (rest - rest.mean()) / len(rest), len(names))
    spread = float(judged @ judged)
    if not len(rest):
        weight = 0.0
    elif weight is None:
        weight = min(1.0, max(0.0, -float(own @ judged) / spread)) if spread > 0 else 0.0
    shift = float(rest.mean() - f.mean()) if len(rest) else 0.0
    everywhere = float(np.concatenate([f, rest]).mean())

    never_differ = bool(np.array_equal(y, f)) and len(rest) > 0
    doubt = exact(0.0, clusters, level)[1] if never_differ else 0.0
    if bounds is not None:
        doubt *= bounds[1] - bounds[0]
    how = f"ppi|weight {weight:.3f}|t over clusters{', exact bound' * never_differ}|{level:g}"
    corrected = _estimate(
        float(y.mean()) + weight * shift,
        own + weight * judged,
        doubt,
        (len(y) + len(rest), len(names), clusters),
        level,
        bounds,
        how,
    )
    alone = _estimate(
        float(y.mean()),
        own,
        0.0,
        (len(y), clusters, clusters),
        level,
        bounds,
        f"sample mean|t over clusters|{level:g}",
    )
    return PredictionPowered(corrected, alone, everywhere, weight)


def _by_cluster(coded: npt.NDArray[np.int64], values: Floats, clusters: int) -> Floats:
    made: Floats = np.zeros(clusters)
    np.add.at(made, coded, values)
    return made


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
    if bounds is not None:
        value = min(max(value, bounds[0]), bounds[1])
    low, high = student(value, error, sampled - 1, level, bounds)
    low, high = low - doubt, high + doubt
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(value, low, high, n, clusters, how)
