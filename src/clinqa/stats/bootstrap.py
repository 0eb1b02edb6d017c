"""Statistics of several figures with intervals; `estimates` does the same of named measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from clinqa.stats.design import Design, Labels, cluster_sums, cluster_weights, resampled_totals
from clinqa.stats.estimates import FEW, RULE, Estimate, drawn
from clinqa.stats.intervals import SHARE, SIGNED, Bounds, Floats

__all__ = [
    "FEW",
    "RULE",
    "SHARE",
    "SIGNED",
    "Bounds",
    "Floats",
    "Method",
    "Statistic",
    "bootstrap",
    "bootstrap_sums",
    "cluster_sums",
    "cluster_weights",
    "mean",
    "resampled_totals",
]

#: From sums of rows, shape (m, columns), the figures: shape (m,) or (m, figures).
Statistic = Callable[[Floats], Floats]
Method = Literal["bca", "logit"]


def mean(totals: Floats) -> Floats:
    """The statistic of rows (1, x): the mean of x over items."""
    with np.errstate(divide="ignore", invalid="ignore"):
        made: Floats = totals[..., 1] / totals[..., 0]
    return made


def bootstrap(
    rows: npt.ArrayLike,
    groups: Labels,
    statistic: Statistic = mean,
    *,
    seed: int,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "bca",
    bounds: Bounds | list[Bounds] = SHARE,
) -> list[Estimate]:
    """Each figure of a statistic over items, with its interval over clusters."""
    table = np.asarray(rows, dtype=np.float64)
    sums = cluster_sums(table, groups)
    return bootstrap_sums(
        sums, statistic, n=len(table), seed=seed, draws=draws, level=level, method=method,
        bounds=bounds,
    )  # fmt: skip


def bootstrap_sums(
    sums: Floats,
    statistic: Statistic,
    *,
    n: int,
    seed: int,
    draws: int = 1000,
    level: float = 0.95,
    method: Method = "bca",
    bounds: Bounds | Sequence[Bounds] = SHARE,
) -> list[Estimate]:
    """Each figure of a statistic with its interval, from the sums of `cluster_sums`."""
    design = Design(seed=seed, draws=draws, level=level)
    found = drawn(lambda totals: _table(statistic, totals), [(seed, sums)], design)
    each = bounds if isinstance(bounds, list) else [bounds] * len(found.values)
    made = []
    for at, within in enumerate(each):
        low, high, how = found.interval(at, within, few=method == "logit")
        made.append(Estimate(found.value(at), low, high, n, len(sums), how))
    return made


def _table(statistic: Statistic, totals: Floats) -> Floats:
    made = np.asarray(statistic(totals), dtype=np.float64)
    return made.reshape(len(totals), -1 if len(totals) else 1)
