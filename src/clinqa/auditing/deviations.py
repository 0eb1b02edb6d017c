"""Intervals: of each group's score, and of all deviations of a dimension together.

The deviation of a group from all groups together can be above or below 0, so its interval means
what intervals mean; that of a gap, which cannot be below 0, would not. Patients are left out in
turn, with all their items and repeats; the intervals of one dimension and run hold together
(`stats.intervals.jointly`). Of the slope samples of patients are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.auditing.answers import Means
from clinqa.auditing.dimensions import Dimension
from clinqa.auditing.disparities import Crude, crude, trend
from clinqa.core.arrays import Floats, Ints
from clinqa.core.ids import sub_seed
from clinqa.stats.design import Design, resampled_totals
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.intervals import jointly, percentile
from clinqa.stats.measure import share

__all__ = [
    "AuditDraws",
    "Interval",
    "intervals",
    "scores_with_intervals",
]


@dataclass(frozen=True, slots=True)
class AuditDraws:
    """How many samples of patients and permutations of attributes, and from which seed; in words,
    who is drawn, and within what gaps are standardised."""

    seed: int = 0
    draws: int = 1000
    permutations: int = 1000
    level: float = 0.95
    who: str = "patients"
    strata: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of the deviations, (groups, runs), and of the slope, (runs)."""

    low: Floats
    high: Floats
    slope_low: Floats
    slope_high: Floats
    signature: str


def intervals(
    means: Means, codes: Ints, groups: int, dimension: Dimension, drawing: AuditDraws
) -> Interval:
    """Intervals of the deviations of one dimension that hold together. Rows are patients."""
    rows = np.flatnonzero(codes >= 0)
    of, runs, width = codes[rows], means.runs, means.under.shape[1]
    sums = np.concatenate([means.over[rows][:, :runs], means.under[rows]], axis=1)
    totals = np.zeros((groups, runs + width))
    np.add.at(totals, of, sums)
    seen = _crude(totals, runs, means.under_of)
    left_out = _without_each(seen, totals, sums, of, means.under_of)
    sizes = means.under[rows].mean(axis=1)
    low, high = jointly(seen.deviations, left_out, of, sizes, drawing.level, means.bounds)
    slope_low = slope_high = np.full(runs, np.nan)
    if dimension.ordered:
        slope_low, slope_high = _slopes(means, of, rows, groups, dimension, drawing)
    entering = groups - len(dimension.small)
    return Interval(
        low,
        high,
        slope_low,
        slope_high,
        f"simultaneous over {entering} groups, jackknife t over {drawing.who} at Šidák's level"
        f"|{drawing.level:g}",
    )


def _without_each(seen: Crude, totals: Floats, sums: Floats, of: Ints, under_of: Ints) -> Floats:
    """The deviations without one row in turn, (rows, groups, runs): of its own group both the
    score and that of all change, of the others only the latter."""
    runs = len(under_of)
    whole = totals.sum(axis=0) - sums
    own = totals[of] - sums
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = whole[:, :runs] / whole[:, runs + under_of]
        score = own[:, :runs] / own[:, runs + under_of]
    made: Floats = seen.scores[None] - overall[:, None]
    made[np.arange(len(of)), of] = score - overall
    return made


def _slopes(
    means: Means, of: Ints, rows: Ints, groups: int, dimension: Dimension, drawing: AuditDraws
) -> tuple[Floats, Floats]:
    """Percentiles of the slope over samples of rows."""
    runs, width = means.runs, means.under.shape[1]
    wide = np.zeros((len(rows), groups, runs + width))
    wide[np.arange(len(rows)), of, :runs] = means.over[rows][:, :runs]
    wide[np.arange(len(rows)), of, runs:] = means.under[rows]
    seed = sub_seed(drawing.seed, "audit.resample")
    flat = wide.reshape(len(rows), -1)
    used = np.flatnonzero(flat.any(axis=0))
    totals = np.zeros((drawing.draws, groups * (runs + width)))
    totals[:, used] = resampled_totals(flat[:, used], draws=drawing.draws, seed=seed)
    drawn = _crude(totals.reshape(drawing.draws, groups, -1), runs, means.under_of)
    slopes = trend(drawn, np.array(dimension.ranks, np.float64))
    return percentile(slopes, (1 - drawing.level) / 2)


def _crude(sums: Floats, runs: int, under_of: Ints) -> Crude:
    return crude(sums[..., :runs], sums[..., runs:], under_of)


def scores_with_intervals(means: Means, rows: Ints, drawing: AuditDraws) -> list[Estimate]:
    """The score of each run over these patients, with the interval that `score` gives too."""
    means = means.of_runs()
    runs = means.runs
    sums = np.concatenate([means.over[rows], means.under[rows]], axis=1)

    measures = [
        share(means.metric, at, runs + under, bounds=means.bounds, counted=means.counted)
        for at, under in enumerate(means.under_of.tolist())
    ]
    seed = sub_seed(drawing.seed, "audit.resample")
    return estimates(measures, sums, Design(seed=seed, draws=drawing.draws, level=drawing.level))
