"""What is computed of the scores of groups; every function takes one dataset or many permuted ones.

`over` and `under` are sums by group (…, groups, columns); columns are runs and their repeats. A
group that nobody is in has no score and no part in a measure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Floats, Ints

__all__ = ["Crude", "between_variance", "crude", "equality_difference", "trend"]


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
