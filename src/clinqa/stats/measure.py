"""A measure: a figure as a named function of summed rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.stats.intervals import SHARE, Bounds

__all__ = ["Measure", "Rule", "mean", "ratio", "share"]

#: What stands where samples know little of a figure. `exact`: the exact bound over clusters where
#: no sample differs. `ends`: that bound for none or all of something only; another share has no
#: width, what is no share and at its end no interval. `own`: a share is over those clusters only
#: that it is of; of few of them it has Student's interval, and where none differs the exact bound;
#: what is no share has no interval then.
Rule = Literal["exact", "ends", "own"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of rows (…, columns): a value for each, whether rows of items or sums of many.

    `of` gives it; `count` how many items it is of; `columns` are those of the rows that both look
    at (None: all). `signature` says how it is computed: figures of different signatures are not
    comparable. `parts`, of a mean: the columns above and below the line. `lower`: a low figure is
    the good one.
    """

    name: str
    of: Callable[[Floats], Floats]
    count: Callable[[Floats], Floats]
    columns: tuple[int, ...] | None = None
    bounds: Bounds = SHARE
    signature: str = ""
    rule: Rule = "exact"
    parts: tuple[int, int] | None = None
    lower: bool = False

    @property
    def is_share(self) -> bool:
        """Of items, between 0 and 1."""
        return self.bounds == SHARE


def ratio(over: Floats, under: Floats) -> Floats:
    """over / under; NaN where there is nothing under the line."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(under > 0, over / under, np.nan)


def share(
    name: str,
    over: int,
    under: int,
    *,
    signature: str = "",
    rule: Rule = "exact",
    bounds: Bounds = SHARE,
    lower: bool = False,
) -> Measure:
    """The sum of one column over that of another.

    >>> share("accuracy", 1, 0).of(np.array([[4.0, 3.0]])).tolist()
    [0.75]
    """
    return Measure(
        name,
        lambda rows: ratio(rows[..., over], rows[..., under]),
        lambda rows: rows[..., under],
        (over, under),
        bounds,
        signature,
        rule,
        (over, under),
        lower,
    )


def mean(name: str = "mean", *, bounds: Bounds = SHARE, signature: str = "") -> Measure:
    """The mean of x over items, from rows (1, x)."""
    return share(name, 1, 0, bounds=bounds, signature=signature)
