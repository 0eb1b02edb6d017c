"""A measure: a figure as a named function of summed rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.stats.intervals import SHARE, Bounds

__all__ = ["Measure", "Of", "mean", "ratio", "share"]

Of = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of rows (…, columns): a value for each, whether rows of items or sums of many.

    `of` gives it; `count` how many items it is of; `columns` are those of the rows that both look
    at (None: all). `signature` says how it is computed: figures of different signatures are not
    comparable. `lower`: a low figure is the good one. `bounds`: between what it lies.

    What decides its interval (`stats.intervals`): `over`, of a share or a mean, is what stands
    above the line where `count` stands below it; `counted` says that each item is all or nothing.
    Of other figures, `classes` gives how many items there are of each class that it is a mean over,
    and `reach` how far it moves where all items turn out otherwise (1 if not given).
    `parts`, of a mean: the columns above and below the line.
    """

    name: str
    of: Of
    count: Of
    columns: tuple[int, ...] | None = None
    bounds: Bounds = SHARE
    signature: str = ""
    over: Of | None = None
    counted: bool = False
    classes: Of | None = None
    reach: Of | None = None
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
    counted: bool = True,
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
        over=lambda rows: rows[..., over],
        counted=counted,
        parts=(over, under),
        lower=lower,
    )


def mean(
    name: str = "mean", *, bounds: Bounds = SHARE, signature: str = "", counted: bool = False
) -> Measure:
    """The mean of x over items, from rows (1, x)."""
    return share(name, 1, 0, bounds=bounds, signature=signature, counted=counted)
