"""From rows to figures with intervals: the one way there is.

All figures of a call come from one set of samples, so they belong together. The rule of intervals
stands here and in `Measure.rule`, nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats
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

__all__ = ["FEW", "RULE", "Drawn", "Estimate", "drawn", "estimate", "estimates"]

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
