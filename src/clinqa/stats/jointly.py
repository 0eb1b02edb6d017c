"""Intervals of many groups that hold together."""

from __future__ import annotations

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats

__all__ = ["simultaneous"]


def simultaneous(
    values: Floats, samples: Floats, clusters: ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """Both ends for figures (groups, …) from their samples (draws, groups, …).

    The reach of each is its standard error times one number, chosen so that those of all groups
    cover at once (max-t of the bootstrap). `clusters`: how many each group has.
    """
    away = samples - values
    many = np.asarray(clusters).reshape(-1, *[1] * (values.ndim - 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        there = ~np.isnan(away)
        spread = np.sqrt(np.where(there, away**2, 0.0).sum(axis=0) / there.sum(axis=0))
        # as many clusters, one less: the spread of a sample's own draws is a little too small
        spread = spread * np.sqrt(many / np.maximum(many - 1, 1))
        far = np.abs(away) / np.where(spread > 0, spread, np.nan)
    worst = np.max(np.where(np.isnan(far), 0.0, far), axis=1)
    reach = np.quantile(worst, level, axis=0) * spread
    return values - reach, values + reach
