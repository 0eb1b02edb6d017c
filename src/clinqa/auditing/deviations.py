"""Intervals: of each group's score, and of all deviations of a dimension together.

The deviation of a group from all groups together can be above or below 0, so its interval means
what intervals mean; that of a gap, which cannot be below 0, would not. Patients are drawn again,
with all their items and repeats; the same draws for every group, so that the intervals of one
dimension and run hold together: the reach of each is its standard error times one number, chosen so
that all of them cover at once.
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
from clinqa.stats.intervals import percentile, simultaneous
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
    runs, width = means.runs, means.under.shape[1]
    wide = np.zeros((len(rows), groups, runs + width))
    wide[np.arange(len(rows)), codes[rows], :runs] = means.over[rows]
    wide[np.arange(len(rows)), codes[rows], runs:] = means.under[rows]
    seed = sub_seed(drawing.seed, "audit.resample")
    flat = wide.reshape(len(rows), -1)
    used = np.flatnonzero(flat.any(axis=0))
    totals = np.zeros((drawing.draws, groups * (runs + width)))
    totals[:, used] = resampled_totals(flat[:, used], draws=drawing.draws, seed=seed)
    drawn = _crude(totals.reshape(drawing.draws, groups, -1), runs, means.under_of)
    seen = _crude(wide.sum(axis=0), runs, means.under_of)
    patients = np.bincount(codes[rows], minlength=groups)
    low, high = simultaneous(seen.deviations, drawn.deviations, patients, drawing.level)
    slope_low = slope_high = np.full(runs, np.nan)
    if dimension.ordered:
        slopes = trend(drawn, np.array(dimension.ranks, np.float64))
        slope_low, slope_high = percentile(slopes, (1 - drawing.level) / 2)
    entering = groups - len(dimension.small)
    return Interval(
        low,
        high,
        slope_low,
        slope_high,
        f"simultaneous over {entering} groups, max-t of the bootstrap over {drawing.who}, "
        f"{drawing.draws} draws|{drawing.level:g}",
    )


def _crude(sums: Floats, runs: int, under_of: Ints) -> Crude:
    return crude(sums[..., :runs], sums[..., runs:], under_of)


def scores_with_intervals(means: Means, rows: Ints, drawing: AuditDraws) -> list[Estimate]:
    """The score of each run over these patients, with the interval that `score` gives too."""
    means = means.of_runs()
    runs = means.runs
    sums = np.concatenate([means.over[rows], means.under[rows]], axis=1)

    measures = [
        share(means.metric, at, runs + under, bounds=means.bounds)
        for at, under in enumerate(means.under_of.tolist())
    ]
    seed = sub_seed(drawing.seed, "audit.resample")
    return estimates(measures, sums, Design(seed=seed, draws=drawing.draws, level=drawing.level))
