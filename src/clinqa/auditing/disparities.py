"""What is computed of the scores of groups; every function takes one dataset or many permuted ones.

`over` and `under` are sums by group (…, groups, columns); columns are runs and their repeats. A
group that nobody is in has no score and no part in a measure.

Groups are asked different things: their scores at the same mix of abnormalities and levels.

Directly standardised: within each stratum (abnormality × level of the reference) a group's score is
set against that of all groups, and the strata are weighted by their share of all answers. A
stratum in which a group was asked nothing says nothing of it: no difference there, and the share of
answers in strata where the group was asked (`covered`) is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.auditing.answers import Means
from clinqa.core.arrays import Floats, Ints

__all__ = [
    "Crude",
    "Standardised",
    "StrataCells",
    "between_variance",
    "cells_of",
    "crude",
    "equality_difference",
    "hardness",
    "standardised",
    "trend",
]


@dataclass(frozen=True, slots=True)
class Crude:
    """Scores of groups and their deviations from the score of all of them together."""

    scores: Floats  # (…, groups, columns)
    overall: Floats  # (…, columns)
    deviations: Floats
    under: Floats

    @property
    def equality_difference(self) -> Floats:
        """EchoQA's F1 equality difference: the mean absolute deviation."""
        return equality_difference(self.deviations)

    @property
    def max_min(self) -> Floats:
        """The highest score less the lowest."""
        return self.highest - self.lowest

    @property
    def ratio(self) -> Floats:
        """The lowest score over the highest."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.lowest / self.highest

    @property
    def highest(self) -> Floats:
        """The highest score of a group; NaN unless two groups or more have one."""
        made: Floats = self._end(-np.inf).max(axis=-2) + self._none()
        return made

    @property
    def lowest(self) -> Floats:
        """The lowest score of a group."""
        made: Floats = self._end(np.inf).min(axis=-2) + self._none()
        return made

    def _end(self, instead: float) -> Floats:
        return np.where(np.isnan(self.scores), instead, self.scores)

    def _none(self) -> Floats:
        return np.where((~np.isnan(self.scores)).sum(axis=-2) > 1, 0.0, np.nan)


def crude(over: Floats, under: Floats, under_of: Ints) -> Crude:
    """The scores of groups from their sums."""
    below = under[..., under_of]
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = over / below
        overall = over.sum(axis=-2) / below.sum(axis=-2)
    return Crude(scores, overall, scores - overall[..., None, :], below)


def equality_difference(deviations: Floats) -> Floats:
    """The mean over groups of the absolute deviations; NaN unless two groups or more have one.

    >>> equality_difference(np.array([[0.1], [-0.3]])).tolist()
    [0.2]
    """
    there = ~np.isnan(deviations)
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Floats = np.where(there, np.abs(deviations), 0).sum(axis=-2) / there.sum(axis=-2)
    return np.where(there.sum(axis=-2) > 1, made, np.nan)


def trend(of: Crude, ranks: Floats) -> Floats:
    """The slope of the score from one group to the next (least squares, weighted by answers)."""
    weight = np.where(np.isnan(of.scores), 0.0, of.under)
    rank = ranks[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (weight * rank).sum(axis=-2) / weight.sum(axis=-2)
        away = rank - centre[..., None, :]
        top = (weight * away * np.nan_to_num(of.deviations)).sum(axis=-2)
        made: Floats = top / (weight * away**2).sum(axis=-2)
    return made


def between_variance(scores: Floats, noise: Floats) -> Floats:
    """The variance between groups net of sampling noise; below 0 where noise alone explains it.

    `noise` is the sampling variance of each group's score. The variance of the scores is, on
    average, that of the true scores and the mean of the noise.
    """
    there = ~np.isnan(scores) & ~np.isnan(noise)
    groups = there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = np.where(there, scores, 0).sum(axis=0) / groups
        seen = np.where(there, (scores - centre) ** 2, 0).sum(axis=0) / (groups - 1)
        made: Floats = seen - np.where(there, noise, 0).sum(axis=0) / groups
    return made


@dataclass(frozen=True, slots=True)
class StrataCells:
    """Sums by row (unit) and stratum, strata lying together; `starts` is where each begins.

    `columns` are those of the runs (above the line) and then the distinct ones below it.
    """

    row: Ints
    starts: Ints
    sums: Floats
    runs: int
    under_of: Ints
    pooled: Floats  # (strata, runs): the score of all groups together
    weights: Floats  # (strata, runs): the share of all answers


@dataclass(frozen=True, slots=True)
class Standardised:
    """Deviations of groups at the common mix, and the share of answers each group covers."""

    deviations: Floats  # (…, groups, runs)
    covered: Floats


def cells_of(means: Means, rows: Ints, strata: Ints) -> StrataCells:
    """Sums by row and stratum, from items; `rows` is -1 for items that do not enter."""
    means = means.of_runs()
    kept = np.flatnonzero(rows >= 0)
    width = int(rows.max(initial=0)) + 1
    keys, cell = np.unique(strata[kept] * width + rows[kept], return_inverse=True)
    summed = means.rows(kept).summed(cell, len(keys))
    stratum = keys // width
    starts = np.flatnonzero(np.diff(stratum, prepend=-1))
    over = np.add.reduceat(summed.over, starts, axis=0)
    under = np.add.reduceat(summed.under, starts, axis=0)[:, means.under_of]
    with np.errstate(invalid="ignore", divide="ignore"):
        pooled = np.where(under > 0, over / under, 0.0)
        weights = under / under.sum(axis=0)
    sums = np.concatenate([summed.over, summed.under], axis=1)
    return StrataCells(keys % width, starts, sums, means.runs, means.under_of, pooled, weights)


def standardised(cells: StrataCells, codes: Ints, groups: int) -> Standardised:
    """Deviations for each row of `codes` (permutations, rows), or for one assignment."""
    single = codes.ndim == 1
    table = np.atleast_2d(codes)[:, cells.row]
    ends = np.append(cells.starts[1:], len(cells.row))
    made = np.zeros((len(table), groups, cells.runs))
    covered = np.zeros_like(made)
    columns = np.ascontiguousarray(cells.sums.T)
    for group in range(groups):
        member = (table == group).astype(np.float64)
        for at, (start, end) in enumerate(zip(cells.starts, ends, strict=True)):
            sums = np.einsum("bc,kc->bk", member[:, start:end], columns[:, start:end])
            under = sums[:, cells.runs :][:, cells.under_of]
            there = under > 0
            score = np.divide(sums[:, : cells.runs], under, out=np.zeros_like(under), where=there)
            weight = cells.weights[at] * there
            made[:, group] += weight * (score - cells.pooled[at])
            covered[:, group] += weight
    return Standardised(made[0], covered[0]) if single else Standardised(made, covered)


def hardness(means: Means, strata: Ints) -> tuple[Floats, Floats]:
    """What each item scores on average, given what it asks: the mean over runs of its stratum's
    score; and the answers it stands for."""
    means = means.of_runs()
    summed = means.summed(strata, int(strata.max(initial=0)) + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = summed.over / summed.under[:, summed.under_of]
        overall = summed.over.sum(axis=0) / summed.under[:, summed.under_of].sum(axis=0)
    expected = np.where(np.isnan(scores), overall, scores).mean(axis=1)[strata]
    asked = means.under[:, means.under_of].mean(axis=1)
    return expected * asked, asked
