"""Every kind of interval there is, from numbers to its two ends; `estimates` says which one stands.

bca         from samples drawn again, corrected for bias and skewness (Efron 1987)
percentile  the quantiles of such samples
student     a value ± Student's t times its standard error, on the logit scale between bounds
exact       Clopper and Pearson's for a share of so many trials
wilson      a share of independent trials
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtr, stdtrit

from clinqa.core.arrays import ArrayLike, Floats

__all__ = [
    "ROUNDING",
    "SHARE",
    "SIGNED",
    "Bounds",
    "bca",
    "exact",
    "jackknife_error",
    "of_samples",
    "percentile",
    "reach",
    "simultaneous",
    "student",
    "two_sided",
    "wilson",
]

#: Between what a figure lies; None where it is no share of anything.
Bounds = tuple[float, float] | None
SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)
#: Sums in another order differ in their last digits; what is nearer than this counts as equal.
ROUNDING = 1e-12
_FEWEST_SAMPLES = 100


def percentile(samples: Floats, tail: float) -> tuple[Floats, Floats]:
    """Two quantiles along the first axis of the samples that exist; NaN where none does.

    >>> [float(end) for end in percentile(np.arange(101.0), 0.05)]
    [5.0, 95.0]
    """
    if not len(samples):
        nothing = np.full(samples.shape[1:], np.nan)
        return nothing, nothing
    none = np.isnan(samples).all(axis=0)
    low, high = np.nanquantile(np.where(none, 0.0, samples), [tail, 1 - tail], axis=0)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def of_samples(samples: Floats, level: float) -> tuple[float, float, str]:
    """The percentile interval and how it was made; none of fewer than a hundred that exist."""
    exist = samples[np.isfinite(samples)]
    if len(exist) < _FEWEST_SAMPLES:
        return math.nan, math.nan, "no interval"
    low, high = percentile(exist, (1 - level) / 2)
    return float(low), float(high), f"percentile, {len(exist)} draws|{level:g}"


def bca(
    value: float, samples: Floats, jackknife: Floats, level: float
) -> tuple[float, float] | None:
    """Quantiles corrected for bias and skewness; None where the correction does not exist.

    The acceleration is that of `jackknife`: the figures without one cluster in turn.
    """
    tail = (1 - level) / 2
    tied = np.abs(samples - value) <= ROUNDING * max(1.0, abs(value))
    share = (np.sum((samples < value) & ~tied) + tied.sum() / 2) / len(samples)
    if not 0 < share < 1:
        return None
    bias = ndtri(share)
    apart = jackknife.mean() - jackknife
    spread = float(np.sum(apart**2))
    acceleration = np.sum(apart**3) / (6 * spread**1.5) if spread > 0 else 0.0
    normal = bias + ndtri(np.array([tail, 1 - tail]))
    scale = 1 - acceleration * normal
    if (scale <= 0).any():
        return None
    below, above = np.quantile(samples, ndtr(bias + normal / scale))
    return float(below), float(above)


def jackknife_error(jackknife: Floats) -> float:
    """The standard error from the figures without one cluster in turn."""
    many = len(jackknife)
    return float(np.sqrt((many - 1) / many * np.sum((jackknife - jackknife.mean()) ** 2)))


def reach(error: float, freedom: float, level: float) -> float:
    """Student's t times a standard error."""
    return float(stdtrit(freedom, (1 + level) / 2)) * error


def two_sided(value: float, error: float, freedom: float) -> float:
    """The p of a value being 0, by Student's t."""
    return 2 * float(stdtr(freedom, -abs(value) / error))


def student(
    value: float, error: float, freedom: float, level: float, bounds: Bounds = None
) -> tuple[float, float]:
    """value ± t × error; strictly between bounds on the logit scale, where it is less lopsided.

    >>> [round(end, 3) for end in student(0.9, 0.05, 30, 0.95, SHARE)]
    [0.743, 0.966]
    """
    far = reach(error, freedom, level)
    share = math.nan if bounds is None else (value - bounds[0]) / (bounds[1] - bounds[0])
    if bounds is None or not 0 < share < 1:
        return value - far, value + far
    bottom, width = bounds[0], bounds[1] - bounds[0]
    step = far / width / (share * (1 - share))
    return (
        bottom + width * float(expit(logit(share) - step)),
        bottom + width * float(expit(logit(share) + step)),
    )


def exact(value: float, trials: int, level: float, bounds: tuple[float, float] = SHARE) -> tuple[
    float, float
]:  # fmt: skip
    """Clopper and Pearson's bounds of a share of so many trials; hits need not be whole.

    >>> [round(end, 3) for end in exact(1.0, 20, 0.95)]
    [0.832, 1.0]
    """
    bottom, width, tail = bounds[0], bounds[1] - bounds[0], (1 - level) / 2
    near = ROUNDING * max(1.0, abs(value))
    hits = trials * (value - bottom) / width
    misses = trials - hits
    low = betaincinv(hits, misses + 1, tail) if value - bottom > near else 0.0
    high = betaincinv(hits + 1, misses, 1 - tail) if bounds[1] - value > near else 1.0
    return bottom + width * float(low), bottom + width * float(high)


def wilson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share of independent trials; NaN of none.

    >>> [round(x, 3) for x in wilson(9, 10)]
    [0.596, 0.982]
    """
    if not trials:
        return math.nan, math.nan
    z = float(ndtri(1 - (1 - level) / 2))
    share = successes / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    far = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) / scale
    return max(0.0, middle - far), min(1.0, middle + far)


def simultaneous(
    values: Floats, samples: Floats, clusters: ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """Both ends for figures (groups, …) from their samples (draws, groups, …).

    The reach of each is its standard error times one number, chosen so that those of all groups
    cover at once (max-t of the bootstrap). `clusters`: how many each group has.
    """
    away = samples - values
    many = np.asarray(clusters).reshape(-1, *[1] * (values.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        there = ~np.isnan(away)
        spread = np.sqrt(np.where(there, away**2, 0.0).sum(axis=0) / there.sum(axis=0))
        # as many clusters, one less: the spread of a sample's own draws is a little too small
        spread = spread * np.sqrt(many / np.maximum(many - 1, 1))
        far = np.abs(away) / np.where(spread > 0, spread, np.nan)
    worst = np.max(np.where(np.isnan(far), 0.0, far), axis=1)
    reach = np.quantile(worst, level, axis=0) * spread
    return values - reach, values + reach
