"""Every kind of interval there is, from clusters' numbers to two ends.

One family, smooth in the number of clusters; `docs/statistics.md` tells the rule and its limits.

- How far a figure would be elsewhere is the jackknife's: the figure without one cluster in turn.
  The interval is Student's, with the degrees of freedom that so many clusters of such sizes carry,
  or fewer where a few clusters make the most of the spread (Satterthwaite 1946, from the fourth
  powers of what clusters add).
- A share has it as Beta quantiles on an effective sample size (Korn and Graubard 1998): so many
  items, each its own cluster, would tell as much. The size is at most what the spread between
  clusters says, and less where few clusters have an event: of no event nobody knows how alike the
  items of a cluster are, and it stands halfway, at items / √(items a cluster). Clopper and
  Pearson's (1934) of few events pass into Jeffreys' of many.
- What is no share is made between its bounds on the logit scale. Where little of it varies, and in
  differences where few clusters differ, what as many more clusters could hide is added: the exact
  bound of no event on the effective sample size.

percentile  the quantiles of samples drawn again
wilson      a share of independent trials
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri, stdtr, stdtrit

from clinqa.core.arrays import Floats, Ints

__all__ = [
    "ROUNDING",
    "SHARE",
    "SIGNED",
    "Bounds",
    "Interval",
    "Spread",
    "alike",
    "effective",
    "exact",
    "few_of",
    "jointly",
    "of_difference",
    "of_figure",
    "of_samples",
    "of_share",
    "percentile",
    "reach",
    "spread",
    "student",
    "too_few_of",
    "two_sided",
    "unseen",
    "wilson",
]

#: Between what a figure lies; None where it is no share of anything.
Bounds = tuple[float, float] | None
#: Two ends, and how they were made.
Interval = tuple[float, float, str]
SHARE, SIGNED = (0.0, 1.0), (-1.0, 1.0)
#: Sums in another order differ in their last digits; what is nearer than this counts as equal.
ROUNDING = 1e-12
_FEWEST_SAMPLES = 100
#: By how much each cluster with an event lowers the design effect that is supposed before one is
#: seen: faster, and one more event would lower the upper limit.
_STEP = 0.25
#: Clusters with an event from which on nothing is supposed; of what is no share, of differences.
_SPARSE, _SPARSE_FIGURE, _SPARSE_DIFFERENCE = 8.0, 5.0, 12.0
#: Freedom of single events, which tell their own spread (Poisson).
_OF_SINGLES = 4.0


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


def of_samples(samples: Floats, level: float) -> Interval:
    """The percentile interval and how it was made; none of fewer than a hundred that exist."""
    exist = samples[np.isfinite(samples)]
    if len(exist) < _FEWEST_SAMPLES:
        return math.nan, math.nan, "no interval"
    low, high = percentile(exist, (1 - level) / 2)
    return float(low), float(high), f"percentile, {len(exist)} draws|{level:g}"


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


def exact(value: float, trials: float, level: float, bounds: tuple[float, float] = SHARE) -> tuple[
    float, float
]:  # fmt: skip
    """Clopper and Pearson's bounds of a share of so many trials; neither need be whole.

    >>> [round(end, 3) for end in exact(1.0, 20, 0.95)]
    [0.832, 1.0]
    """
    bottom, width = bounds[0], bounds[1] - bounds[0]
    near = ROUNDING * max(1.0, abs(value))
    share = (value - bottom) / width
    share = 0.0 if value - bottom <= near else 1.0 if bounds[1] - value <= near else share
    low, high = _beta(share, trials, 0.0, level)
    return bottom + width * low, bottom + width * high


def _beta(share: float, trials: float, middle: float, level: float) -> tuple[float, float]:
    """Quantiles of Beta distributions: `middle` 0 gives Clopper and Pearson's, ½ Jeffreys'."""
    tail = (1 - level) / 2
    hits, misses = share * trials, (1 - share) * trials
    low = float(betaincinv(hits + middle, misses + 1 - middle, tail)) if share > 0 else 0.0
    high = float(betaincinv(hits + 1 - middle, misses + middle, 1 - tail)) if share < 1 else 1.0
    return low, high


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


def effective(sizes: Floats) -> float:
    """So many clusters of one size tell as much as these: (Σn)² / Σn² (Kish 1965).

    >>> effective(np.array([10.0, 10.0, 10.0])), round(effective(np.array([28.0, 1.0, 1.0])), 2)
    (3.0, 1.15)
    """
    square = float(sizes @ sizes)
    return float(sizes.sum()) ** 2 / square if square > 0 else 0.0


def alike(sizes: Floats) -> float:
    """The design effect that is supposed where nothing is known of how alike a cluster's items are:
    the square root of the items a cluster (by items), between none and wholly alike."""
    clusters = effective(sizes)
    return math.sqrt(max(1.0, float(sizes.sum()) / clusters)) if clusters else 1.0


def unseen(sizes: Floats, level: float) -> float:
    """The largest share of which these clusters may hold nothing: the exact bound of no event."""
    trials = float(sizes.sum()) / alike(sizes)
    return 1.0 if trials <= 0 else float(1 - ((1 - level) / 2) ** (1 / trials))


@dataclass(frozen=True, slots=True)
class Spread:
    """A standard error and its degrees of freedom."""

    error: float
    freedom: float


def spread(
    left_out: Floats, sizes: Floats, blocks: Ints | None = None, more: float = 0.0
) -> Spread:
    """The jackknife's, from the figures without one cluster in turn.

    `blocks` are clusters that vary among themselves (strata), `more` further degrees of freedom
    of a spread that is known from elsewhere in part.
    """
    where = np.zeros(len(left_out), np.int64) if blocks is None else blocks
    many = np.bincount(where)
    centre = np.bincount(where, left_out) / np.maximum(many, 1)
    square = (left_out - centre[where]) ** 2
    square[square <= (ROUNDING * max(1.0, float(np.abs(centre).max(initial=0.0)))) ** 2] = 0.0
    variance = float((square * ((many - 1) / np.maximum(many, 1))[where]).sum())
    second, fourth = float(square.sum()), float(square @ square)
    freedom = max(1.0, effective(sizes) - int((many > 0).sum()))
    if second > 0:
        apart = fourth - second**2 / len(square)
        own = 2 * second**2 / apart if apart > 0 else math.inf
        freedom = max(1.0, min(freedom, own + more))
    return Spread(math.sqrt(variance), freedom)


def of_share(
    over: Floats, under: Floats, level: float, *, counted: bool, blocks: Ints | None = None
) -> Interval:
    """Of Σ over / Σ under, clusters' sums, all of `under` above 0, each item between 0 and 1.

    `counted`: each item is 0 or 1, so that items vary at least as much as their share says.

    >>> low, high, _ = of_share(np.zeros(154), np.full(154, 20.0), 0.95, counted=True)
    >>> low, round(high, 4)
    (0.0, 0.0053)
    """
    if len(under) < 2:
        return math.nan, math.nan, "one cluster: no interval"
    items, clusters = float(under.sum()), effective(under)
    share = min(1.0, max(0.0, float(over.sum()) / items))
    if min(share, 1 - share) <= ROUNDING:
        share = round(share)
    each = items / clusters  # items a cluster, as items see it
    plain = share * (1 - share) / items
    before = math.sqrt(max(1.0, each))
    left_out = share - (over - share * under) / (items - under)
    seen = spread(left_out, under, blocks)
    effect = seen.error**2 / plain if plain > 0 else 0.0
    held = min(_holding(over, under), _holding(under - over, under))
    events = max(held, min(items * share, items * (1 - share)) / max(effect, 1.0))
    seen = spread(left_out, under, blocks, _OF_SINGLES / max(effect, 1.0) ** 2)
    normal = float(ndtri((1 + level) / 2))
    told = effect * (float(stdtrit(seen.freedom, (1 + level) / 2)) / normal) ** 2
    few = max(_SPARSE, (before - 1) / _STEP)
    supposed = before - _STEP * events
    if counted:
        supposed = max(1.0, supposed) if events <= few else few / events
    elif effect == 0:
        supposed = before
    effect = min(max(told, supposed, ROUNDING), max(1.0, each))
    low, high = _beta(share, items / effect, min(0.5, 0.5 * events / few), level)
    return low, high, f"t over clusters, effective sample size|{level:g}"


def _holding(some: Floats, under: Floats) -> float:
    """The effective number of clusters that hold some of it."""
    return effective(under[some > ROUNDING * under])


def of_figure(
    value: float,
    left_out: Floats,
    sizes: Floats,
    level: float,
    bounds: Bounds,
    *,
    hidden: float = 0.0,
    moves: float = 1.0,
    blocks: Ints | None = None,
) -> Interval:
    """Of what is no share: the jackknife's t, between bounds on the logit scale.

    `moves` says how far the figure goes if all items turn out otherwise, `hidden` how far it may
    be moved by classes that few clusters hold (`too_few_of`).
    """
    if len(left_out) < 2:
        return math.nan, math.nan, "one cluster: no interval"
    if not np.isfinite(left_out).all():
        return math.nan, math.nan, "undefined without one of its clusters: no interval"
    seen = spread(left_out, sizes, blocks)
    if bounds is None:
        if seen.error == 0:
            return math.nan, math.nan, "no spread between clusters: no interval"
        low, high = student(value, seen.error, seen.freedom, level)
        return low, high, f"jackknife t over clusters|{level:g}"
    low, high = value, value
    if seen.error > 0 and bounds[0] < value < bounds[1]:
        low, high = student(value, seen.error, seen.freedom, level, bounds)
    few = few_of(left_out - left_out.mean())
    more = few * unseen(sizes, level) * moves + hidden
    low, high = max(low - more, bounds[0]), min(high + more, bounds[1])
    return low, high, f"jackknife t over clusters on the logit scale|{level:g}"


def few_of(added: Floats) -> float:
    """1 where no cluster adds anything to a figure's spread, 0 where enough of them make it up.

    Enough are five, or of fewer than fifteen a third: as many as make up that of normal numbers.
    """
    square = added**2
    square = np.where(square <= ROUNDING**2, 0.0, square)
    second, fourth = float(square.sum()), float(square @ square)
    made_of = second**2 / fourth if fourth > 0 else 0.0
    return max(0.0, 1 - made_of / min(_SPARSE_FIGURE, max(1.0, len(added) / 3)))


def too_few_of(items: Floats, level: float) -> float:
    """How far a mean over classes may be off for classes that fewer than five clusters hold.

    `items` of each class by cluster, (clusters, classes): a class of which so few are known may be
    anywhere within the exact bound, and has its share in the mean.
    """
    clusters = (items > 0).sum(axis=0).astype(np.float64)
    bound = 1 - ((1 - level) / 2) ** (1 / np.maximum(clusters, 1))
    return float((np.clip(1 - clusters / _SPARSE_FIGURE, 0, 1) * bound).mean())


def of_difference(
    value: float,
    left_out: Floats,
    sizes: Floats,
    differ: int,
    level: float,
    bounds: Bounds,
    *,
    hidden: float = 0.0,
    moves: float | None = None,
    blocks: Ints | None = None,
) -> Interval:
    """Of a difference of two figures of the same items; `differ` clusters differ at all.

    Student's with (Σn)² / Σn² - 1 degrees of freedom or fewer, and where few clusters differ, or
    few differ otherwise than the rest, what as many more could hide.
    """
    if len(left_out) < 2:
        return math.nan, math.nan, "one cluster: no interval"
    if not np.isfinite(left_out).all():
        return math.nan, math.nan, "undefined without one of its clusters: no interval"
    seen = spread(left_out, sizes, blocks, 2.0)
    far = reach(seen.error, seen.freedom, level)
    if bounds is None:
        if seen.error == 0:
            return math.nan, math.nan, "no spread between clusters: no interval"
        return value - far, value + far, f"jackknife t over clusters|{level:g}"
    width = bounds[1] - bounds[0]
    # two that differ everywhere by the same have no spread either
    few = max(0.0, 1 - differ / min(_SPARSE_DIFFERENCE, max(1.0, effective(sizes))))
    few = max(few, few_of(left_out - left_out.mean()))
    far += few * unseen(sizes, level) * (width if moves is None else moves) + hidden
    low, high = max(value - far, -width), min(value + far, width)
    return low, high, f"jackknife t over clusters|{level:g}"


def jointly(
    values: Floats,
    left_out: Floats,
    group: Ints,
    sizes: Floats,
    level: float,
    bounds: Bounds = SHARE,
) -> tuple[Floats, Floats]:
    """Both ends of deviations of groups (groups, runs) that hold for all groups at once.

    `left_out` is (clusters, groups, runs), `group` and `sizes` the group and the items of each
    cluster. Each group has its own Student's interval at the level that many independent ones
    would need (Šidák 1967), with what its few clusters may hide; a group of a single cluster has
    none: too small to say. `bounds` are those of the groups' figures.
    """
    there = ~np.isnan(values)
    low, high = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    for run in range(values.shape[1]):
        each = level ** (1 / max(1, int(there[:, run].sum())))
        for at in np.flatnonzero(there[:, run]).tolist():
            own = group == at
            of = left_out[:, at, run]
            if own.sum() < 2 or not np.isfinite(of).all():
                continue
            seen = spread(of, sizes)
            freedom = max(1.0, min(seen.freedom, effective(sizes[own]) - 1))
            # what own and other clusters may hide moves the two scores that are apart
            hidden = sum(
                few_of(of[some] - of[some].mean()) * unseen(sizes[some], each)
                for some in (own, ~own)
                if some.any()
            )
            others = 1 - float(sizes[own].sum() / sizes.sum())
            far = reach(seen.error, freedom, each) + others * hidden
            widest = math.inf if bounds is None else bounds[1] - bounds[0]
            low[at, run] = max(values[at, run] - far, -widest)
            high[at, run] = min(values[at, run] + far, widest)
    return low, high
