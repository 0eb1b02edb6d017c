"""Is one run better than another on the same items? Tests that respect patients.

Both runs answered the same items, so only the difference counts, and items of one patient go
together: the sign of a patient's difference is what chance would decide if the runs were alike.
Families of tests are declared before the tests are seen, and adjusted by Holm (1979).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from clinqa.core.arrays import ArrayLike, Bools, Floats, Ints
from clinqa.core.figures import PairedTest
from clinqa.stats.design import Design
from clinqa.stats.intervals import ROUNDING, Interval, of_difference, too_few_of
from clinqa.stats.measure import Measure, Of

__all__ = [
    "FLIPS",
    "Difference",
    "adjusted",
    "compare",
    "family_tests",
    "holm",
    "mcnemar",
]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given (Holm 1979): reject where one is below the level.

    The chance of a single false rejection in the whole family stays below the level, whatever
    the dependence between the tests. The family must be declared before the tests are seen; a
    test that could not be made has no place in it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("p-values lie between 0 and 1")
    made = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        made[at] = highest
    return made


def adjusted(p_values: Sequence[float], families: Sequence[Hashable]) -> list[float | None]:
    """Holm's p-values within each family, in the order given; None of what is in no family (None).

    >>> adjusted([0.01, 0.04, 0.03], ["one", None, "one"])
    [0.02, None, 0.03]
    """
    made: list[float | None] = [None] * len(p_values)
    for family in dict.fromkeys(families):
        own = [at for at, one in enumerate(families) if one == family and one is not None]
        for at, p in zip(own, holm([p_values[at] for at in own]), strict=True):
            made[at] = p
    return made


def family_tests(
    tests: Iterable[PairedTest], family_of: Callable[[PairedTest], Hashable]
) -> list[PairedTest]:
    """The tests of families with their adjusted p, then the others, which decide nothing.

    `family_of` gives the family of a test, None (or False) where it is in none.
    """
    every = list(tests)
    families = [family_of(test) or None for test in every]
    made = [
        replace(test, p_holm=p)
        for test, p in zip(every, adjusted([test.p for test in every], families), strict=True)
    ]
    return sorted(made, key=lambda test: test.p_holm is None)


#: Random sign flips of a test that decides.
FLIPS = 9999
#: With so many clusters that differ, or fewer, all their sign flips are gone through.
EXACT_CLUSTERS = 12
_SIGNS_AT_ONCE = 1 << 22
_ROWS = 1 << 13
_Change = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference a - b of one figure, its interval, and the p-value of there being none.

    `test` says in a word which test it is; NaN where there is none.
    """

    difference: float
    low: float
    high: float
    p: float
    n: int
    clusters: int
    signature: str
    test: str = "sign-flip"

    def as_test(self, a: str, b: str, metric: str, signature: str) -> PairedTest | None:
        """As a record without an adjusted p; None where any of its numbers does not exist."""
        if not all(map(isfinite, (self.difference, self.low, self.high, self.p))):
            return None
        return PairedTest(
            a, b, metric, self.difference, self.low, self.high, self.p, None, self.n,
            self.clusters, signature,
        )  # fmt: skip


def compare(
    measures: Sequence[Measure],
    a: ArrayLike,
    b: ArrayLike,
    design: Design,
    *,
    flips: int = FLIPS,
    both: bool = False,
    twofold: Collection[str] = (),
    columns: Ints | None = None,
    width: int = 0,
) -> list[Difference]:
    """Compare two runs over the same items, row by row; a difference for each measure.

    The test changes the runs over within clusters: of a mean, that is the sign of each cluster's
    summed difference; of BLEU, which is no mean, the counts change sides. All flips where at most
    12 clusters differ, else `flips` random ones and p = (b + 1) / (B + 1). The interval is the
    jackknife's t over clusters. With `both`, each measure is over the items that it is of in both
    runs, and NaN where there are none. `twofold` names measures that are 0 or 1 of each item:
    where each item is a cluster of its own, McNemar's exact test stands in. `columns` says which
    of the `width` columns that measures number the rows hold, where they do not hold all: others
    are 0.

    >>> from clinqa.stats.measure import mean
    >>> same = [[1, 1.0], [1, 0.5], [1, 0.0]]
    >>> (none,) = compare([mean()], same, same, Design(["p1", "p2", "p3"]))
    >>> none.difference, none.p
    (0.0, 1.0)
    """
    ours, theirs = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if ours.shape != theirs.shape:
        raise ValueError("the two runs need the same items, in the same order")
    if ours.ndim != 2:
        raise ValueError("a row of numbers for each item")
    held = np.arange(ours.shape[1]) if columns is None else np.asarray(columns)
    layout = _Layout(held, width or ours.shape[1])
    made: dict[int, Difference] = {}
    for mask, places in _alike(measures, ours, theirs, layout, both):
        among = [measures[at] for at in places]
        if mask.all():
            found = _compared(among, ours, theirs, layout, design, flips)
        else:
            found = _compared(among, ours[mask], theirs[mask], layout, design.of(mask), flips)
        made |= dict(zip(places, found, strict=True))
    own = design.clusters
    alone = own is None or len(np.unique(np.asarray(own))) == len(ours)
    for at, measure in enumerate(measures):
        if alone and measure.name in twofold:
            one, other = (layout.above([measure.of], rows)[0] for rows in (ours, theirs))
            p = mcnemar(int((one & ~other).sum()), int((other & ~one).sum()))
            made[at] = replace(made[at], p=p, test="McNemar")
    return [made[at] for at in range(len(measures))]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which of the columns that measures number are held; rows with all of them are never kept."""

    held: Ints
    width: int

    def wide(self, rows: Floats, held: Ints | None = None) -> Floats:
        made = np.zeros((*rows.shape[:-1], self.width))
        made[..., self.held if held is None else held] = rows
        return made

    def above(self, of: Sequence[Of], rows: Floats) -> Bools:
        """Of which rows (the second axis) each function (the first) is above 0."""
        made = np.zeros((len(of), len(rows)), np.bool_)
        for at in range(0, len(rows), _ROWS):
            wide = self.wide(rows[at : at + _ROWS])
            for row, one in zip(made, of, strict=True):
                row[at : at + _ROWS] = one(wide) > 0
        return made


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of there being no difference; of the items that one alone has right.

    Twins are not independent: use it only where no two items share a cluster.

    >>> round(mcnemar(8, 2), 4)
    0.1094
    """
    from scipy.stats import binomtest

    if only_a + only_b == 0:
        return 1.0
    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def _alike(
    measures: Sequence[Measure], ours: Floats, theirs: Floats, layout: _Layout, both: bool
) -> list[tuple[Bools, list[int]]]:
    """Measures of the same items in both runs, with the mask of those items."""
    if not both:
        return [(np.ones(len(ours), np.bool_), list(range(len(measures))))]
    found: dict[bytes, list[int]] = {}
    counts = [measure.count for measure in measures]
    for at, mask in enumerate(layout.above(counts, ours) & layout.above(counts, theirs)):
        found.setdefault(mask.tobytes(), []).append(at)
    return [(np.frombuffer(mask, np.bool_), places) for mask, places in found.items()]


def _compared(
    measures: Sequence[Measure],
    ours: Floats,
    theirs: Floats,
    layout: _Layout,
    design: Design,
    flips: int,
) -> list[Difference]:
    looked_at = np.unique([at for one in measures for at in one.columns or range(layout.width)])
    # a column of nothing adds nothing; of a table of classes most cells are empty
    filled = ours.any(axis=0) | theirs.any(axis=0)
    places = np.flatnonzero(np.isin(layout.held, looked_at) & filled)
    width = len(places)

    def wide(totals: Floats) -> Floats:
        return layout.wide(totals, layout.held[places])

    def values(totals: Floats) -> Floats:
        whole = wide(totals)
        return np.stack([measure.of(whole) for measure in measures], axis=-1)

    def change(totals: Floats) -> Floats:
        return values(totals[:, :width]) - values(totals[:, width:])

    beside = np.empty((len(ours), 2 * width))
    beside[:, :width], beside[:, width:] = ours[:, places], theirs[:, places]
    parts = [own for _, own in design.parts(beside)]
    del beside
    sums = np.concatenate(parts)
    blocks = np.repeat(np.arange(len(parts)), [len(own) for own in parts])
    total = sums.sum(axis=0)
    observed = change(total[None])[0] if len(sums) else np.full(len(measures), np.nan)
    chances, how = np.full(len(observed), np.nan), "undefined"
    if not np.isnan(observed).all():
        chances, how = _flipped(sums, change, observed, flips, design.seed)
        chances = np.where(np.isnan(observed), np.nan, chances)
    rest = total - sums
    left_out = change(np.where(np.abs(rest) < ROUNDING, 0.0, rest))
    one, other = wide(sums[:, :width]), wide(sums[:, width:])
    made = []
    for at, (measure, p) in enumerate(zip(measures, chances.tolist(), strict=True)):
        value = float(observed[at])
        low, high, told = math.nan, math.nan, "undefined"
        if not math.isnan(value):
            low, high, told = _interval(measure, value, left_out[:, at], one, other, blocks, design)
        signature = f"{how}; interval: {told}"
        made.append(Difference(value, low, high, p, len(ours), len(sums), signature))
    return made


def _interval(
    measure: Measure,
    value: float,
    left_out: Floats,
    ours: Floats,
    theirs: Floats,
    blocks: Ints,
    design: Design,
) -> Interval:
    """Of a difference over those clusters that the figure is of in either run."""
    sizes = np.maximum(measure.count(ours), measure.count(theirs))
    own = sizes > 0
    moved = np.abs(ours - theirs).max(axis=1, initial=0.0)
    if measure.over is not None:
        moved = np.abs(measure.over(ours) - measure.over(theirs))
        moved += np.abs(measure.count(ours) - measure.count(theirs))
    total = ours.sum(axis=0)[None]
    return of_difference(
        value,
        left_out[own],
        sizes[own],
        int((moved[own] > ROUNDING).sum()),
        design.level,
        measure.bounds,
        hidden=0.0
        if measure.classes is None
        else too_few_of(measure.classes(ours[own]), design.level),
        moves=None if measure.reach is None else float(measure.reach(total)[0]),
        blocks=blocks[own],
    )


def _flipped(
    sums: Floats, change: _Change, observed: Floats, flips: int, seed: int
) -> tuple[Floats, str]:
    """p-values when the runs change sides within a random half of the clusters."""
    width = sums.shape[1] // 2
    total = sums.sum(axis=0)
    moving = sums[:, width:] - sums[:, :width]
    moving = moving[(moving != 0).any(axis=1)]
    many = len(moving)
    if many <= EXACT_CLUSTERS:
        every = np.arange(1 << many)[:, None] >> np.arange(many)[None, :] & 1
        as_far = _as_far(every.astype(np.float64), moving, total, change, observed)
        return as_far / len(every), f"sign-flip, all {len(every)}"
    random = np.random.default_rng(seed)
    at_once = max(1, _SIGNS_AT_ONCE // many)
    as_far = np.zeros(len(observed))
    for done in range(0, flips, at_once):
        sides = random.integers(0, 2, (min(at_once, flips - done), many), dtype=np.int8)
        as_far += _as_far(sides.astype(np.float64), moving, total, change, observed)
    return (as_far + 1) / (flips + 1), f"sign-flip, {flips} random"


def _as_far(
    sides: Floats, moving: Floats, total: Floats, change: _Change, observed: Floats
) -> Floats:
    """How many of the flips are as far from 0 as what was observed, for each figure."""
    width = moving.shape[1]
    # the last digits may differ from machine to machine; what is compared is wider than they are
    moved = sides @ moving
    flipped = np.concatenate([total[:width] + moved, total[width:] - moved], axis=1)
    made = np.abs(change(flipped))
    # Sums in another order differ in their last digits; equal differences count as equal.
    made_as_far: Floats = np.sum(made >= np.abs(observed) - ROUNDING, axis=0).astype(np.float64)
    return made_as_far
