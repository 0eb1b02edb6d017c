"""From rows to figures with intervals: the one way there is.

All figures of a call come from one set of samples, so they belong together. The rule of intervals
stands here and in `Measure.rule`, nowhere else.

A mean over all items from a judge's verdicts, corrected by people's verdicts on a few.

Prediction-powered inference (Angelopoulos et al. 2023) with the tuned weight of PPI++
(Angelopoulos, Duchi and Zrnic 2023). The judge (a rule, a model) has a verdict on every item,
people only on a sample. The judge's mean is corrected by how far the judge is off on the sample;
the less the judge can be trusted, the less weight its verdicts get, down to none. So the interval
holds whatever the judge is worth, and is hardly ever wider than that of the sample alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from clinqa.core.arrays import ArrayLike, Bools, Floats
from clinqa.core.figures import Figure, known
from clinqa.stats.design import Design, Labels
from clinqa.stats.intervals import (
    ROUNDING,
    SHARE,
    Bounds,
    bca,
    exact,
    jackknife_error,
    percentile,
    student,
)
from clinqa.stats.measure import Measure, mean

__all__ = [
    "FEW",
    "RULE",
    "Drawn",
    "Estimate",
    "PredictionPowered",
    "corrected",
    "drawn",
    "estimate",
    "estimates",
]

#: Clusters up to which a share has Student's interval: samples of so few know too little of others.
#: Not what is no share: kappa or macro-F1 without one cluster in turn jump, and say nothing of it.
FEW = 10
RULE = f"BCa bootstrap; of shares over {FEW} clusters or fewer t on the logit scale"
_EXACT, _ALIKE = "exact", "no spread between clusters"
_LOOKS = 200  # samples drawn to see whether anything varies


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; NaN where there is none.

    `n` is what the figure is a mean of, `clusters` how many of those it is of. The signature says
    how the interval was made.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int
    signature: str

    def figure(
        self,
        metric: str,
        signature: str,
        *,
        run: str,
        model: str = "",
        shots: int = 0,
        subset: Mapping[str, str] | None = None,
    ) -> Figure:
        """As a record; the signature says how the value was computed."""
        value, low, high = (known(one) for one in (self.value, self.low, self.high))
        return Figure(
            run, model, shots, metric, value, low, high, self.n, self.clusters, signature,
            dict(subset or {}),
        )  # fmt: skip


def estimate(
    values: ArrayLike,
    clusters: Labels | None = None,
    *,
    weights: ArrayLike | None = None,
    seed: int = 0,
    draws: int = 1000,
    level: float = 0.95,
) -> Estimate:
    """The mean of values with its interval over clusters (None: each value is one of its own).

    Values of 0 to 1 (True and False too) are shares, and so is their interval.

    >>> found = estimate([1, 1, 0, 1, 1, 1, 0, 1], ["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> found.value, found.low < 0.75 < found.high, found.clusters
    (0.75, True, 4)
    """
    x = np.asarray(values, dtype=np.float64)
    bounds = SHARE if not len(x) or (x.min() >= 0 and x.max() <= 1) else None
    design = Design(clusters, weights=weights, seed=seed, draws=draws, level=level)
    (found,) = estimates([mean(bounds=bounds)], np.stack([np.ones(len(x)), x], axis=1), design)
    return replace(found, n=len(x))


def estimates(measures: Sequence[Measure], rows: ArrayLike, design: Design) -> list[Estimate]:
    """Each measure with its interval over the design's clusters.

    `rows` are items, or the sums of clusters where the design names none. BCa from samples of
    clusters (Efron 1987, the acceleration from a jackknife over clusters); of a share over FEW
    clusters or fewer, Student's t on the logit scale with the jackknife's error.

    What has no such interval is said in the signature: no items, or a single cluster (NaN); every
    sample alike, where `Measure.rule` says what stands, and without bounds an interval of no
    width; figures that do not exist in some samples (those are left out; NaN where it is the most
    of them).

    >>> rows = [[1, right] for right in (1, 1, 0, 1, 1, 1, 0, 1)]
    >>> (found,) = estimates([mean()], rows, Design(["a", "a", "b", "b", "c", "c", "d", "d"]))
    >>> found.value, found.n, found.clusters
    (0.75, 8, 4)
    """
    parts = design.parts(rows)
    sums = np.concatenate([own for _, own in parts])
    total, found = sums.sum(axis=0), _over(measures, parts, design)
    made = []
    for at, measure in enumerate(measures):
        value, (low, high, how) = found.value(at), found.interval(at, measure.bounds)
        low, high, how = _ruled(measure, value, (low, high, how), parts, design)
        n, clusters = (
            round(float(measure.count(total[None])[0])),
            int((measure.count(sums) > 0).sum()),
        )
        made.append(Estimate(value, low, high, n, clusters, how))
    return made


_Interval = tuple[float, float, str]
_Parts = Sequence[tuple[int, Floats]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Some figures of the whole, of each sample and without each cluster: (…, figures)."""

    values: Floats
    samples: Floats
    left_out: Floats
    level: float

    def value(self, at: int) -> float:
        """A figure of the whole; NaN where there are no rows."""
        return float(self.values[at]) if len(self.left_out) else nan

    def interval(self, at: int, bounds: Bounds, *, few: bool = False) -> _Interval:
        """Its interval and how it was made. `few`: Student's however many clusters there are."""
        samples, left_out = self.samples[:, at], self.left_out[:, at]
        return _interval(self.value(at), samples, left_out, bounds, self.level, few)


def drawn(of: Callable[[Floats], Floats], parts: _Parts, design: Design) -> Drawn:
    """Figures of sums, from (m, columns) to (m, figures), and the same of samples of clusters."""
    sums = np.concatenate([own for _, own in parts])
    total = sums.sum(axis=0)
    values, left_out = of(total[None])[0], of(total - sums)
    samples = of(design.totals(parts)) if len(sums) > 1 else left_out[:0]
    return Drawn(values, samples, left_out, design.level)


def _over(measures: Sequence[Measure], parts: _Parts, design: Design) -> Drawn:
    """Only columns that hold anything are drawn."""
    width = parts[0][1].shape[1]
    used = np.flatnonzero(np.any([own.any(axis=0) for _, own in parts], axis=0))

    def of(totals: Floats) -> Floats:
        wide = np.zeros((len(totals), width))
        wide[:, used] = totals
        return np.stack([measure.of(wide) for measure in measures], axis=-1)

    return drawn(of, [(seed, own[:, used]) for seed, own in parts], design)


def _ruled(
    measure: Measure, value: float, found: _Interval, parts: _Parts, design: Design
) -> _Interval:
    """What stands where samples know little, by the measure's rule."""
    alike = found[2].startswith(_EXACT)
    if measure.rule == "exact" or not (alike or measure.rule == "own"):
        return found
    if measure.rule == "ends":
        at_end = abs(value) == 1
        if measure.is_share and (at_end or value == 0):
            return found
        return (nan, nan, _ALIKE) if at_end else (value, value, _ALIKE)
    if not measure.is_share:
        return (nan, nan, _ALIKE) if alike else found
    own = [(seed, sums[measure.count(sums) > 0]) for seed, sums in parts]
    if not (alike or 1 < sum(len(sums) for _, sums in own) <= FEW):
        return found
    own = [(seed, sums) for seed, sums in own if len(sums)]
    return _over([measure], own, replace(design, draws=_LOOKS)).interval(0, SHARE, few=True)


def _interval(
    value: float,
    samples: Floats,
    left_out: Floats,
    bounds: Bounds,
    level: float,
    few: bool,
) -> _Interval:
    clusters, draws, exist = len(left_out), len(samples), samples[~np.isnan(samples)]
    if clusters == 1:
        return nan, nan, "one cluster: no interval"
    if not clusters or np.isnan(value):
        return nan, nan, "undefined"
    if 2 * len(exist) < draws:
        return nan, nan, "undefined in most samples: no interval"
    near = ROUNDING * max(1.0, abs(value))
    if np.ptp(exist) <= near and abs(exist[0] - value) <= near:
        if bounds is None:
            return value, value, _ALIKE
        return *exact(value, clusters, level, bounds), f"{_EXACT} over clusters|{level:g}"
    few = few or (clusters <= FEW and bounds == SHARE and 0 < value < 1)
    low, high, how = _spread(value, exist, left_out[~np.isnan(left_out)], level, few)
    some = f", {draws - len(exist)} undefined" if len(exist) < draws else ""
    return low, high, f"cluster bootstrap, {how}, {draws} draws{some}|{level:g}"


def _spread(value: float, samples: Floats, jackknife: Floats, level: float, few: bool) -> _Interval:
    if few:
        found = None
        if 0 < value < 1 and len(jackknife) > 1:
            error = jackknife_error(jackknife)
            # the samples vary, so that no width at all is wrong
            if error > ROUNDING:
                found = student(value, error, len(jackknife) - 1, level, SHARE)
        how = "t on the logit scale", "percentile (no logit scale here)"
    else:
        found = bca(value, samples, jackknife, level)
        how = "BCa", "percentile (BCa undefined)"
    if found is not None:
        return *found, how[0]
    low, high = percentile(samples, (1 - level) / 2)
    return float(low), float(high), how[1]


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
