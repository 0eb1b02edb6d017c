"""From rows to figures with intervals: the one way there is.

The rule of intervals stands in `intervals` and is chosen here by what a `Measure` says of itself,
whatever the kind of item, figure or page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats, Ints
from clinqa.core.figures import Figure, known
from clinqa.stats.design import Design, Labels
from clinqa.stats.intervals import (
    ROUNDING,
    SHARE,
    Interval,
    of_figure,
    of_share,
    too_few_of,
)
from clinqa.stats.measure import Measure, mean

__all__ = [
    "RULE",
    "Estimate",
    "estimate",
    "estimates",
]

_NEARLY = 1e-9  # what rounding puts outside a share
RULE = (
    "jackknife t over clusters; shares on an effective sample size, exact where few clusters have "
    "an event"
)


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
    level: float = 0.95,
) -> Estimate:
    """The mean of values with its interval over clusters (None: each value is one of its own).

    Values of 0 to 1 (True and False too) are shares, and so is their interval. Weights count in
    their proportions. ValueError for values or weights that are no numbers.

    >>> found = estimate([1, 1, 0, 1, 1, 1, 0, 1], ["a", "a", "b", "b", "c", "c", "d", "d"])
    >>> found.value, found.low < 0.75 < found.high, found.clusters
    (0.75, True, 4)
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise ValueError("values that are numbers: some are NaN or infinite")
    bounds = SHARE if not len(x) or (x.min() >= -_NEARLY and x.max() <= 1 + _NEARLY) else None
    x = x if bounds is None else np.clip(x, *bounds)
    whole = bounds is not None and bool(((x == 0) | (x == 1)).all())
    counts = None
    if weights is not None:
        counts = np.asarray(weights, dtype=np.float64)
        if len(counts) != len(x) or not (np.isfinite(counts) & (counts >= 0)).all():
            raise ValueError("a weight for each value, a number not below 0")
        if counts.sum() > 0:
            counts = counts / counts.mean()  # as many as there are values, whatever the scale
    design = Design(clusters, weights=counts, level=level)
    rows = np.stack([np.ones(len(x)), x], axis=1)
    (found,) = estimates([mean(bounds=bounds, counted=whole)], rows, design)
    return replace(found, n=len(x))


def estimates(measures: Sequence[Measure], rows: ArrayLike, design: Design) -> list[Estimate]:
    """Each measure with its interval over the design's clusters.

    `rows` are items, or the sums of clusters where the design names none. Of a share only those
    clusters count that hold items it is of: the number of items is left to chance as the hits are.
    Nothing is drawn: the intervals are made from the figures without one cluster in turn.

    What has no interval (NaN) says so in the signature: no items, a single cluster, a figure that
    does not exist without one of its clusters, an unbounded one without any spread, rows that are
    no numbers (NaN, infinite).

    >>> rows = [[1, right] for right in (1, 1, 0, 1, 1, 1, 0, 1)]
    >>> (found,) = estimates([mean()], rows, Design(["a", "a", "b", "b", "c", "c", "d", "d"]))
    >>> found.value, found.n, found.clusters
    (0.75, 8, 4)
    """
    parts = [sums for _, sums in design.parts(rows)]
    sums = np.concatenate(parts)
    blocks = np.repeat(np.arange(len(parts)), [len(own) for own in parts])
    return Totals(sums, blocks, design.level).estimates(measures)


class Totals:
    """Clusters' sums, and figures of all of them and without one in turn."""

    def __init__(self, sums: Floats, blocks: Ints, level: float) -> None:
        self._sums, self._blocks, self._level = sums, blocks, level
        self._total = sums.sum(axis=0)
        self._rest: Floats | None = None

    def estimates(self, measures: Sequence[Measure]) -> list[Estimate]:
        """Each measure's value, interval, items and clusters."""
        made = []
        for measure in measures:
            sizes = measure.count(self._sums)
            value = float(measure.of(self._total[None])[0]) if len(self._sums) else nan
            low, high, how = self._interval(measure, value, sizes)
            count = float(measure.count(self._total[None])[0]) if len(sizes) else 0.0
            n = round(count) if np.isfinite(count) else 0
            made.append(Estimate(value, low, high, n, int((sizes > 0).sum()), how))
        return made

    def _interval(self, measure: Measure, value: float, sizes: Floats) -> Interval:
        own = sizes > 0
        if not np.isfinite(value) and not np.isfinite(self._total).all():
            return nan, nan, "undefined: rows that are no numbers (NaN or infinite)"
        if np.isnan(value) or not own.any():
            return nan, nan, "undefined"
        sums, sizes, blocks = self._sums[own], sizes[own], self._blocks[own]
        if measure.over is not None and measure.bounds is not None:
            return self._of_share(measure, measure.over(sums), sizes, blocks)
        if self._rest is None:
            self._rest = self._total - self._sums
        # what is left of whole numbers is whole
        left_out = measure.of(np.where(np.abs(self._rest[own]) < ROUNDING, 0.0, self._rest[own]))
        hidden = 0.0 if measure.classes is None else too_few_of(measure.classes(sums), self._level)
        moves = 1.0 if measure.reach is None else float(measure.reach(self._total[None])[0])
        return of_figure(
            value, left_out, sizes, self._level, measure.bounds,
            hidden=hidden, moves=moves, blocks=blocks,
        )  # fmt: skip

    def _of_share(self, measure: Measure, over: Floats, under: Floats, blocks: Ints) -> Interval:
        assert measure.bounds is not None
        bottom, width = measure.bounds[0], measure.bounds[1] - measure.bounds[0]
        low, high, how = of_share(
            (over - bottom * under) / width, under, self._level,
            counted=measure.counted, blocks=blocks,
        )  # fmt: skip
        return bottom + width * low, bottom + width * high, how
