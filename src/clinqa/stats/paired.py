"""Two runs compared by a statistic of several figures; `comparing` does it by named measures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clinqa.stats.bootstrap import Statistic, mean
from clinqa.stats.comparing import FLIPS, Difference, differences
from clinqa.stats.design import Design, Labels
from clinqa.stats.intervals import Floats

__all__ = ["compare"]


def compare(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    groups: Labels,
    statistic: Statistic = mean,
    *,
    seed: int,
    flips: int = FLIPS,
    draws: int = 1000,
    level: float = 0.95,
) -> list[Difference]:
    """Compare two runs over the same items, row by row; one difference for each figure."""
    ours, theirs = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if ours.shape != theirs.shape:
        raise ValueError("the two runs need the same items, in the same order")

    def values(totals: Floats) -> Floats:
        return np.asarray(statistic(totals)).reshape(len(totals), -1 if len(totals) else 1)

    design = Design(groups, seed=seed, draws=draws, level=level)
    return differences(values, ours, theirs, design, flips)
