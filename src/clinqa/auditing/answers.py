"""The answers of all runs in one metric, as what is above and below the line of a mean.

Scored by `score`, answer by answer; here they are only laid side by side. Any score that is a mean
over answers can be audited: token F1, level accuracy, each kind of error, dangerous errors (each
over the items that could run into it). Corpus BLEU, macro-F1 and kappa are no means: refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clinqa.core.arrays import Bools, Floats, Ints
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import SplitItems
from clinqa.stats.intervals import SHARE, Bounds

__all__ = ["Column", "Means", "label_of", "lay_out", "means_of", "strata_of"]


@dataclass(frozen=True, slots=True)
class Column:
    """One run, or one repeat of it: `repeat` is None for the mean over its repeats."""

    run: int
    repeat: int | None


@dataclass(frozen=True, slots=True)
class Means:
    """One metric of every run and repeat over the same rows (items, or patients once summed).

    `over` has a column for each of `columns`; those of `under` are the distinct ones, and
    `under_of` says which belongs to which. The first columns are the means over repeats, one a run.
    `lower`: a low mean is the good one. It lies between `bounds`.
    """

    metric: str
    signature: str
    columns: tuple[Column, ...]
    over: Floats
    under: Floats
    under_of: Ints
    lower: bool = False
    bounds: Bounds = SHARE

    @property
    def runs(self) -> int:
        """How many runs."""
        return sum(column.repeat is None for column in self.columns)

    def repeats_of(self, run: int) -> list[int]:
        """The columns of a run's repeats."""
        return [
            at
            for at, column in enumerate(self.columns)
            if column.run == run and column.repeat is not None
        ]

    def summed(self, places: Ints, size: int) -> Means:
        """The same, summed over the rows of each place; rows of place -1 are left out."""
        kept = np.flatnonzero(places >= 0)
        order = kept[np.argsort(places[kept], kind="stable")]
        over, under = np.zeros((size, self.over.shape[1])), np.zeros((size, self.under.shape[1]))
        if len(order):
            first = np.flatnonzero(np.diff(places[order], prepend=-1))
            at = places[order][first]
            over[at] = np.add.reduceat(self.over[order], first, axis=0)
            under[at] = np.add.reduceat(self.under[order], first, axis=0)
        return replace(self, over=over, under=under)

    def rows(self, chosen: Bools | Ints) -> Means:
        """Some of the rows."""
        return replace(self, over=self.over[chosen], under=self.under[chosen])

    def of_runs(self) -> Means:
        """The means over repeats only."""
        runs = self.runs
        used, under_of = np.unique(self.under_of[:runs], return_inverse=True)
        return replace(
            self,
            columns=self.columns[:runs],
            over=self.over[:, :runs],
            under=self.under[:, used],
            under_of=under_of,
        )


def means_of(
    item: Ints, repeat: Ints, above: Floats, below: Floats, items: int
) -> tuple[list[Floats], list[Floats]]:
    """Above and below the line by item: the mean over the repeats first, then each repeat.

    `item` and `repeat` say whose each answer is; `above` and `below` are its two numbers.
    """
    numbers = np.unique(repeat)
    which = np.searchsorted(numbers, repeat)
    asked = np.zeros((items, len(numbers)))
    asked[item, which] = 1
    times = np.maximum(asked.sum(axis=1), 1)
    made: list[list[Floats]] = []
    for values in (above, below):
        table = np.zeros((items, len(numbers)))
        table[item, which] = values
        made.append([table.sum(axis=1) / times, *table.T])
    return made[0], made[1]


def lay_out(
    runs: Sequence[tuple[list[Floats], list[Floats]]],
    metric: str,
    signature: str,
    lower: bool = False,
    bounds: Bounds = SHARE,
) -> Means:
    """The runs side by side. One repeat only is its own mean: it has no columns of repeats."""
    columns = [Column(run, None) for run in range(len(runs))]
    over, under = [above[0] for above, _ in runs], [below[0] for _, below in runs]
    for run, (above, below) in enumerate(runs):
        if len(above) > 2:
            columns += [Column(run, at) for at in range(len(above) - 1)]
            over += above[1:]
            under += below[1:]
    known: dict[bytes, int] = {}
    under_of = [known.setdefault(one.tobytes(), len(known)) for one in under]
    distinct = dict(zip(under_of, under, strict=True))
    return Means(
        metric,
        signature,
        tuple(columns),
        np.stack(over, axis=1),
        np.stack([distinct[code] for code in range(len(known))], axis=1),
        np.array(under_of, np.int64),
        lower,
        bounds,
    )


def label_of(run: FinishedRun) -> str:
    """How a run is called in words."""
    return f"{run.model}, {run.shots}-shot"


def strata_of(items: SplitItems, asks: Sequence[str]) -> Ints:
    """What each item asks, as a number: the columns that say it, together."""
    told = list(zip(*(map(str, items.column(name)) for name in asks), strict=True))
    number = {one: at for at, one in enumerate(sorted(set(told)))}
    return np.array([number[one] for one in told], np.int64)
