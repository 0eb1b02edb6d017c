"""Are models ranked alike on two sets? Kendall's tau-b, with an interval from resamples of both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clinqa.stats.cluster import Estimate

__all__ = ["kendall", "ranking_kept"]

Floats = npt.NDArray[np.float64]


def kendall(a: Floats, b: Floats) -> Floats:
    """Tau-b of two lists of scores, or of each row of two tables; NaN where one is all ties.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).round(3).tolist()
    0.333
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    left, right = np.triu_indices(a.shape[-1], k=1)
    x, y = (np.sign(s[..., left] - s[..., right]) for s in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        under = np.sqrt((x != 0).sum(axis=-1) * (y != 0).sum(axis=-1))
        made: Floats = np.where(under > 0, (x * y).sum(axis=-1) / under, np.nan)
    return made


def ranking_kept(
    a: Floats, b: Floats, a_samples: Floats, b_samples: Floats, *, level: float = 0.95
) -> Estimate:
    """Tau of the figures of the same models on two sets, drawn apart from each other.

    `a_samples` and `b_samples` are resamples by models. `n` is the number of models: the interval
    tells what other items would have given, not what other models would.
    """
    value = float(kendall(a, b))
    draws = min(len(a_samples), len(b_samples))
    found = kendall(a_samples[:draws], b_samples[:draws])
    found = found[~np.isnan(found)]
    low = high = float("nan")
    how = "no interval"
    if len(found) >= 100:
        tail = (1 - level) / 2
        low, high = (float(one) for one in np.quantile(found, [tail, 1 - tail]))
        how = f"resamples of both sets, percentile, {len(found)} draws|{level:g}"
    return Estimate(value, low, high, a.shape[-1], a.shape[-1], f"kendall tau-b|{how}")
