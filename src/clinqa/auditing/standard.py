"""Groups are asked different things: their scores at the same mix of abnormalities and levels.

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

__all__ = ["Standardised", "StrataCells", "cells_of", "hardness", "standardised"]


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
