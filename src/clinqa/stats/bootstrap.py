"""Intervals by drawing clusters again: items of one patient stand or fall together.

Everything is a function of sums: an item becomes a row of numbers, a figure is a *statistic* of
the sum of all rows (of shape (…, columns)). A resample only weighs the clusters' sums anew, so a
thousand of them are one matrix product, and nothing is computed again from the items. The same
seed draws the same clusters for every statistic, so figures of one call belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit

from clinqa.stats.cluster import Estimate

__all__ = [
    "FEW",
    "RULE",
    "SHARE",
    "SIGNED",
    "Bounds",
    "Floats",
    "Method",
    "Statistic",
    "bootstrap",
    "bootstrap_sums",
    "cluster_sums",
    "cluster_weights",
    "mean",
    "resampled_totals",
]

Floats = npt.NDArray[np.float64]
#: From sums of rows, shape (m, columns), the figures: shape (m,) or (m, figures).
Statistic = Callable[[Floats], Floats]
Method = Literal["bca", "percentile", "logit"]
#: Between what a figure lies; None where it is no share of anything.
Bounds = tuple[float, float] | None
#: Clusters up to which a share has Student's interval: samples of so few know too little of others.
#: Not what is no share: kappa or macro-F1 without one cluster in turn jump, and say nothing of it.
FEW = 10
RULE = f"BCa bootstrap; of shares over {FEW} clusters or fewer t on the logit scale"

SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)
_WEIGHTS_AT_ONCE = 1 << 22
_ROUNDING = 1e-12


def mean(totals: Floats) -> Floats:
    """The statistic of rows (1, x): the mean of x over items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        made: Floats = totals[..., 1] / totals[..., 0]
    return made


def cluster_sums(rows: npt.ArrayLike, groups: Sequence[str] | npt.NDArray[Any]) -> Floats:
    """The sum of the rows of each group, groups in the order of their names.

    The rows of a group are put in an order of their content first, so that the order in which
    they come does not even touch the last digit.

    >>> cluster_sums([[1, 0.5], [1, 1.0], [1, 0.0]], ["b", "a", "b"]).tolist()
    [[1.0, 1.0], [2.0, 0.5]]
    """
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(groups):
        raise ValueError("a row of numbers and a group for each item")
    if not len(table):
        return table
    _, coded = np.unique(np.asarray(groups), return_inverse=True)
    order = np.lexsort((_row_hashes(table), coded))
    starts = np.flatnonzero(np.diff(coded[order], prepend=-1))
    made: Floats = np.add.reduceat(table[order], starts, axis=0)
    return made


def _row_hashes(table: Floats) -> npt.NDArray[np.uint64]:
    """A number for the content of each row; whole numbers, so exact in any order."""
    odd = np.cumprod(np.full(table.shape[1], 0x9E3779B97F4A7C15, dtype=np.uint64))  # wraps
    bits = np.ascontiguousarray(table).view(np.uint64)
    # The low bits of a number are mostly zeros; its high ones are mixed in.
    made: npt.NDArray[np.uint64] = ((bits ^ (bits >> np.uint64(29))) * odd).sum(axis=1)
    return made


def resampled_totals(sums: Floats, *, draws: int, seed: int) -> Floats:
    """The total of each of `draws` samples of as many clusters as there are, with replacement."""
    columns = np.ascontiguousarray(sums.T)
    # einsum and not @: as fast here, one thread, and the same last digits on every machine.
    parts = [
        np.einsum("bc,kc->bk", block, columns) for block in cluster_weights(len(sums), draws, seed)
    ]
    return np.concatenate(parts)


def cluster_weights(
    clusters: int, draws: int, seed: int, at_once: int | None = None
) -> Iterator[Floats]:
    """How often each sample holds each cluster, a few hundred samples at a time.

    One seed gives the same samples whatever they are for, and however many come at once.
    """
    random = np.random.default_rng(seed)
    at_once = at_once or max(1, _WEIGHTS_AT_ONCE // clusters)
    for done in range(0, draws, at_once):
        size = min(at_once, draws - done)
        drawn = random.integers(0, clusters, (size, clusters))
        drawn += np.arange(size)[:, None] * clusters
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)


def bootstrap(
    rows: npt.ArrayLike,
    groups: Sequence[str] | npt.NDArray[Any],
    statistic: Statistic = mean,
    *,
    seed: int,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "bca",
    bounds: Bounds | list[Bounds] = SHARE,
) -> list[Estimate]:
    """Each figure of a statistic over items, with its interval over clusters.

    Items are rows; `groups` says which patient each belongs to. See `bootstrap_sums`.

    >>> rows = [[1, right] for right in (1, 1, 0, 1, 1, 1, 0, 1)]
    >>> (share,) = bootstrap(rows, ["a", "a", "b", "b", "c", "c", "d", "d"], seed=1)
    >>> share.value, share.low < 0.75 < share.high, share.clusters
    (0.75, True, 4)
    """
    table = np.asarray(rows, dtype=np.float64)
    return bootstrap_sums(
        cluster_sums(table, groups),
        statistic,
        n=len(table),
        seed=seed,
        draws=draws,
        level=level,
        method=method,
        bounds=bounds,
    )


def bootstrap_sums(
    sums: Floats,
    statistic: Statistic,
    *,
    n: int,
    seed: int,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "bca",
    bounds: Bounds | list[Bounds] = SHARE,
) -> list[Estimate]:
    """Each figure of a statistic with its interval, from the sums of `cluster_sums`.

    `bca` corrects the percentile interval for bias and skewness (Efron 1987; the acceleration
    from a jackknife over clusters). `percentile` is the plain one. `logit` is a t interval on the
    logit scale with the jackknife's standard error: for shares near 0 or 1, and few clusters. A
    share (its bounds are SHARE) over FEW clusters or less has it in place of `bca`.
    `bounds` may be a list with an entry for each figure.

    What has no such interval is said in the signature: no items, or a single cluster (NaN); every
    sample alike, which gives the exact binomial bounds over clusters (each taken as a single
    trial), and without `bounds` an interval of no width; figures that do not exist in
    some samples (those are left out; NaN where it is the most of them).
    """
    if not 0 < level < 1 or draws < 1:
        raise ValueError("a level between 0 and 1, and at least one draw")
    if not len(sums):
        nothing = np.asarray(statistic(np.zeros((1, sums.shape[1])))).reshape(1, -1)
        return [_undefined(float("nan"), n, 0, "undefined") for _ in range(nothing.shape[1])]
    total = sums.sum(axis=0)
    values = _table(statistic, total[None])[0]
    if len(sums) == 1:
        return [_undefined(value, n, 1, "one cluster: no interval") for value in values.tolist()]
    each = bounds if isinstance(bounds, list) else [bounds] * len(values)
    samples = _table(statistic, resampled_totals(sums, draws=draws, seed=seed))
    left_out = _table(statistic, total - sums)
    return [
        _estimate(value, samples[:, at], left_out[:, at], n, level, method, within)
        for at, (value, within) in enumerate(zip(values.tolist(), each, strict=True))
    ]


def _table(statistic: Statistic, totals: Floats) -> Floats:
    made = np.asarray(statistic(totals), dtype=np.float64)
    return made.reshape(len(totals), -1)


def _undefined(value: float, n: int, clusters: int, why: str) -> Estimate:
    return Estimate(value, float("nan"), float("nan"), n, clusters, why)


def _estimate(
    value: float,
    samples: Floats,
    left_out: Floats,
    n: int,
    level: float,
    method: Method,
    bounds: Bounds,
) -> Estimate:
    clusters, draws = len(left_out), len(samples)
    if np.isnan(value):
        return _undefined(value, n, clusters, "undefined")
    exist = samples[~np.isnan(samples)]
    if 2 * len(exist) < draws:
        return _undefined(value, n, clusters, "undefined in most samples: no interval")
    tail = (1 - level) / 2
    near = _ROUNDING * max(1.0, abs(value))
    if np.ptp(exist) <= near and abs(exist[0] - value) <= near:
        return _without_spread(value, n, clusters, level, bounds, near)
    if method == "bca" and clusters <= FEW and bounds == SHARE and 0 < value < 1:
        method = "logit"
    jackknife = left_out[~np.isnan(left_out)]
    low, high, how = _interval(value, exist, jackknife, tail, method, near)
    some = f", {draws - len(exist)} undefined" if len(exist) < draws else ""
    how = f"cluster bootstrap, {how}, {draws} draws{some}|{level:g}"
    return Estimate(value, low, high, n, clusters, how)


def _without_spread(
    value: float,
    n: int,
    clusters: int,
    level: float,
    bounds: Bounds,
    near: float,
) -> Estimate:
    """Every sample gives the same figure, so that the samples know nothing of its error."""
    if bounds is None:
        return Estimate(value, value, value, n, clusters, "no spread between clusters")
    # Clopper and Pearson's bounds for `value` of so many trials, which need not be whole.
    lowest, width, tail = bounds[0], bounds[1] - bounds[0], (1 - level) / 2
    hits = clusters * (value - lowest) / width
    misses = clusters - hits
    low = betaincinv(hits, misses + 1, tail) if value - lowest > near else 0.0
    high = betaincinv(hits + 1, misses, 1 - tail) if bounds[1] - value > near else 1.0
    how = f"exact over clusters|{level:g}"
    return Estimate(
        value, lowest + width * float(low), lowest + width * float(high), n, clusters, how
    )


def _interval(
    value: float, samples: Floats, jackknife: Floats, tail: float, method: Method, near: float
) -> tuple[float, float, str]:
    if method == "logit":
        found = _logit_interval(value, jackknife, tail)
        if found is not None:
            return *found, "t on the logit scale"
        return *_quantiles(samples, tail, 1 - tail), "percentile (no logit scale here)"
    if method == "bca":
        at = _bca_levels(value, samples, jackknife, tail, near)
        if at is not None:
            return *_quantiles(samples, *at), "BCa"
        return *_quantiles(samples, tail, 1 - tail), "percentile (BCa undefined)"
    return *_quantiles(samples, tail, 1 - tail), "percentile"


def _quantiles(samples: Floats, low: float, high: float) -> tuple[float, float]:
    below, above = np.quantile(samples, [low, high])
    return float(below), float(above)


def _bca_levels(
    value: float, samples: Floats, jackknife: Floats, tail: float, near: float
) -> tuple[float, float] | None:
    """The levels whose quantiles are the BCa limits; None where they do not exist."""
    tied = np.abs(samples - value) <= near
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
    low, high = ndtr(bias + normal / scale)
    return float(low), float(high)


def _logit_interval(value: float, jackknife: Floats, tail: float) -> tuple[float, float] | None:
    clusters = len(jackknife)
    if not 0 < value < 1 or clusters < 2:
        return None
    deviations = jackknife - jackknife.mean()
    error = np.sqrt((clusters - 1) / clusters * np.sum(deviations**2))
    if error <= _ROUNDING:  # the samples vary, so that no width at all is wrong
        return None
    reach = stdtrit(clusters - 1, 1 - tail) * error / (value * (1 - value))
    return float(expit(logit(value) - reach)), float(expit(logit(value) + reach))
