"""Models trained on one thing each and tested on all: figures that know of questions and of seeds.

A figure is a weighted sum of the cells "trained on t, tested on j", each the mean over training
seeds of the share of right answers; orders of one question's options are one number, their mean.
Two things would be otherwise in another study, and both stand in the interval:

- the questions. They are drawn again within each test set, near-duplicates together and the same
  ones for every model, so that what is hard for all cancels out (bootstrap). With m clusters of
  questions a spread is widened by m / (m - 1).
- the training. Each row's seeds differ by the trainings' chance; the variance of their mean is
  s²/S. That part of s² which the questions already account for (a seed's own luck with these
  questions) is taken out.

Both variances are added and the interval is Student's, its degrees of freedom by Satterthwaite:
three seeds a row are few, and say little of how far seeds go apart.

A square matrix of who was trained on what (rows) and tested on what (columns): is its diagonal
higher than the rest?

Three ways to say how much: the gap, mean of the diagonal minus mean of all else; the double-centred
diagonal, what a cell is above what its row and its column let one expect; and their mean, which is
(k - 1) / k of the gap whatever the matrix holds. Rows that are good at everything and columns that
are easy for everyone cancel out of each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats, Ints
from clinqa.stats.design import Design, resampled_totals
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.intervals import SHARE, student, two_sided
from clinqa.stats.measure import mean, ratio

__all__ = [
    "FEWEST_PERMUTED",
    "FEWEST_SEEDS",
    "Combination",
    "Crossed",
    "Permuted",
    "centred_diagonal",
    "gap",
    "gap_weights",
    "interaction_weights",
    "permutation_test",
]

#: With fewer rows no arrangement is rare: three have 6, so that p cannot be below 1/6.
FEWEST_PERMUTED = 5
#: Up to so many rows all arrangements are gone through: 8 have 40,320.
_MOST_EXACT = 8
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Permuted:
    """The gap, and how often one at least as large comes about by naming the rows otherwise."""

    gap: float
    p: float
    as_large: int
    arrangements: int
    exact: bool


def gap(matrix: ArrayLike) -> float:
    """Mean of the diagonal minus mean of all other cells.

    >>> gap([[3, 1], [1, 3]])
    2.0
    """
    table = _square(matrix)
    return float((gap_weights(len(table)) * table).sum())


def centred_diagonal(matrix: ArrayLike) -> Floats:
    """Each diagonal cell less the means of its row and column, plus the mean of all.

    >>> centred_diagonal([[5, 1], [1, 3]]).tolist()
    [1.5, 1.5]
    """
    table = _square(matrix)
    made: Floats = np.diag(table) - table.mean(axis=1) - table.mean(axis=0) + table.mean()
    return made


def gap_weights(k: int) -> Floats:
    """What each cell counts for in the gap.

    >>> gap_weights(2).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    _check(k)
    own = np.eye(k)
    return own / k - (1 - own) / (k * (k - 1))


def interaction_weights(k: int, at: int | None = None) -> Floats:
    """What each cell counts for in the double-centred diagonal at a place, or in their mean."""
    _check(k)
    flat = np.full(k, 1 / k)
    if at is None:
        return sum((interaction_weights(k, one) for one in range(k)), np.zeros((k, k))) / k
    unit = np.eye(k)[at] - flat
    return np.outer(unit, unit)


def permutation_test(matrix: ArrayLike, *, seed: int = 0, arrangements: int = 9999) -> Permuted:
    """One-sided: is the gap larger than when rows are named by chance?

    Of all k! namings where there are at most 8 rows (the real one is among them, so that p is at
    least 1 / k!), else of some by chance and p = (b + 1) / (B + 1). It takes the matrix as it is:
    that its cells are counts of some questions, and its rows single trainings, it cannot know.

    >>> permutation_test([[2, 1, 1], [1, 2, 1], [1, 1, 2]])
    Traceback (most recent call last):
    ...
    ValueError: 3 rows have 6 arrangements, so that p cannot be below 1/6: five rows are needed
    """
    table = _square(matrix)
    k = len(table)
    if k < FEWEST_PERMUTED:
        many = int(np.prod(np.arange(1, k + 1)))
        raise ValueError(
            f"{k} rows have {many} arrangements, so that p cannot be below 1/{many}: "
            "five rows are needed"
        )
    exact = k <= _MOST_EXACT
    if exact:
        named = np.array(list(permutations(range(k))))
    else:
        random = np.random.default_rng(seed)
        named = np.argsort(random.random((arrangements, k)), axis=1)
    # the sum of all cells does not change, so that the diagonal's alone decides
    diagonals = table[np.arange(k)[None, :], named].sum(axis=1)
    own = float(np.trace(table))
    near = _NEAR * max(1.0, float(np.abs(table).max()))
    as_large = int((diagonals >= own - near).sum())
    if not exact:
        return Permuted(gap(table), (as_large + 1) / (len(named) + 1), as_large, len(named), False)
    return Permuted(gap(table), as_large / len(named), as_large, len(named), True)


def _square(matrix: ArrayLike) -> Floats:
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
        raise ValueError("a square matrix of numbers, rows and columns in the same order")
    _check(len(table))
    return table


def _check(k: int) -> None:
    if k < 2:
        raise ValueError("at least two rows: one has nothing to be compared with")


#: Of each trained row; with fewer, seeds say nothing of themselves.
FEWEST_SEEDS = 3
_ROUNDING = 1e-24  # of a variance


@dataclass(frozen=True, slots=True)
class Combination:
    """A weighted sum of cells with its interval, and the p-value of its being 0."""

    estimate: Estimate
    p: float
    error: float  # standard error
    freedom: float  # degrees of freedom
    from_seeds: float  # share of the variance that is the trainings'


class Crossed:
    """The answers of every model to every question, and what of them is drawn again.

    `right` is models × questions, each number the share of orders that were answered rightly. Of
    the design, `crossed` says what each model was trained on (a row; None: each is one): models
    of one row are its seeds, and a row of one is a model as it is (the base), which no training
    would make otherwise. `strata` says which test set each question is of (a column; None: one for
    all), `clusters` which questions go together.
    """

    def __init__(self, right: ArrayLike, design: Design) -> None:
        flat = np.atleast_2d(np.asarray(right, dtype=np.float64))
        many = flat.shape[1]
        groups = np.asarray(range(many) if design.clusters is None else design.clusters)
        strata = np.asarray(np.zeros(many) if design.strata is None else design.strata)
        rows = np.asarray(range(len(flat)) if design.crossed is None else design.crossed)
        if len(groups) != many or len(strata) != many or len(rows) != len(flat) or not many:
            raise ValueError("every row needs a number for each question, with column and group")
        if not np.isfinite(flat).all():
            raise ValueError("every model needs an answer to every question")
        # questions by content, so that the order in which they come touches no last digit
        order = np.lexsort([*flat, np.unique(groups, return_inverse=True)[1], strata])
        self._right = flat[:, order]
        self._design = replace(design, clusters=groups[order], strata=strata[order])
        self._column = np.unique(strata[order], return_inverse=True)[1]
        self._row = np.unique(rows, return_inverse=True)[1]
        places = [np.flatnonzero(self._column == at) for at in range(self._column.max() + 1)]
        self.questions = [len(place) for place in places]
        #: models × test sets: the share of right answers of each training
        self.models: Floats = np.stack(
            [self._right[:, place].mean(axis=1) for place in places], axis=1
        )
        self.matrix: Floats = np.stack(
            [self.models[self._row == at].mean(axis=0) for at in range(self._row.max() + 1)]
        )
        self._blocks: list[list[int]] = []
        self._drawn, self.clusters = self._resampled()

    def _resampled(self) -> tuple[Floats, list[int]]:
        """How far each model's share on each test set is from itself in each sample. Test sets that
        share no cluster are drawn apart; those that do, together."""
        design = self._design
        drawn = np.zeros((design.draws, *self.models.shape))
        clusters = [0] * len(self.questions)
        for first, inside in design.blocks().items():
            block = np.unique(self._column[inside])
            self._blocks.append(block.tolist())
            one_hot = (self._column[inside][:, None] == block).astype(np.float64)
            rows = [one_hot, *(one_hot * model[inside][:, None] for model in self._right)]
            sums = design.of(inside).sums(np.concatenate(rows, axis=1))
            totals = resampled_totals(sums, draws=design.draws, seed=design.seed + first)
            totals = totals.reshape(design.draws, -1, len(block))
            shares = ratio(totals[:, 1:], totals[:, :1])
            for at, column in enumerate(block.tolist()):
                clusters[column] = many = int((sums[:, at] > 0).sum())
                widened = math.sqrt(many / (many - 1)) if many > 1 else math.nan
                # a sample without any question of a small test set tells nothing of it
                apart = np.nan_to_num(shares[:, :, at] - self.models[:, column])
                drawn[:, :, column] = widened * apart
        return drawn, clusters

    def seeds(self, row: int) -> int:
        """How many trainings a row has."""
        return int((self._row == row).sum())

    def combine(self, weights: ArrayLike) -> Combination:
        """The sum of weights × cells; `weights` is rows × test sets."""
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != self.matrix.shape:
            raise ValueError("a weight for each row and test set")
        value = float((given * self.matrix).sum())
        used = np.flatnonzero((given != 0).any(axis=0))
        clusters = [self.clusters[at] for at in used]
        n = sum(self.questions[at] for at in used)
        variance, freedom, trained, seeds = self._variance(given, used)
        how = self._how(seeds)
        nan, level = math.nan, self._design.level
        if not math.isfinite(variance):
            why = f"{how}|one cluster: no interval"
            return Combination(Estimate(value, nan, nan, n, sum(clusters), why), nan, nan, nan, nan)
        error = math.sqrt(variance) if variance > _ROUNDING else 0.0
        if error == 0:  # the same on every question: how it would vary, nobody can tell
            p = 1.0 if value == 0 else nan
            how = f"{how}|no spread: no interval"
            return Combination(Estimate(value, nan, nan, n, sum(clusters), how), p, 0.0, freedom, 0)
        low, high = student(value, error, freedom, level)
        p = two_sided(value, error, freedom)
        estimate = Estimate(value, low, high, n, sum(clusters), how)
        return Combination(estimate, p, error, freedom, trained / variance)

    def _variance(self, given: Floats, used: Ints) -> tuple[float, float, float, list[int]]:
        """Of the sum: its variance, degrees of freedom, the trainings' part, seeds of its rows."""
        rows = np.flatnonzero((given != 0).any(axis=1)).tolist()
        per_model = np.einsum("bmc,mc->bm", self._drawn, given[self._row])
        shares = np.array([1 / self.seeds(at) for at in self._row.tolist()])
        asked = spread = 0.0
        for block in self._blocks:
            if not np.isin(block, used).any():
                continue
            own = np.zeros_like(given)
            own[:, block] = given[:, block]
            by_block = np.einsum("bmc,mc,m->b", self._drawn, own[self._row], shares)
            part = float(by_block.var())
            asked += part
            many = max(1, min(self.clusters[at] for at in block if at in used) - 1)
            spread += part**2 / many
        trained = overlap = noise = 0.0
        for at in rows:
            many = self.seeds(at)
            if many < 2:
                continue
            mine = self._row == at
            found = (self.models[mine] * given[at]).sum(axis=1)
            own_part = float(found.var(ddof=1)) / many
            trained += own_part
            noise += own_part**2 / (many - 1)
            apart = per_model[:, mine] - per_model[:, mine].mean(axis=1, keepdims=True)
            overlap += float(apart.var(axis=0).mean()) / (many - 1)
        trained = max(0.0, trained - overlap)
        variance = asked + trained
        doubt = spread + noise
        freedom = variance**2 / doubt if doubt > 0 else math.inf
        freedom = min(max(freedom, 1.0), 1e6)
        return variance, freedom, trained, [self.seeds(at) for at in rows]

    def _how(self, seeds: list[int]) -> str:
        trained = sorted({many for many in seeds if many > 1})
        told = f"seeds: {', '.join(map(str, trained))} a row" if trained else "no seeds"
        return (
            f"bootstrap over questions within test sets, {self._design.draws} draws, {told}, "
            f"Student's t|{self._design.level:g}"
        )

    def cell(self, row: int, column: int) -> Estimate:
        """One cell with its interval, which stays between 0 and 1 (t on the logit scale)."""
        weights = np.zeros_like(self.matrix)
        weights[row, column] = 1
        found = self.combine(weights)
        value, how = found.estimate.value, found.estimate.signature
        n, clusters = self.questions[column], self.clusters[column]
        if math.isnan(found.error):
            return found.estimate
        if not 0 < value < 1 or found.error == 0:
            return self._exact(row, column)
        low, high = student(value, found.error, found.freedom, self._design.level, SHARE)
        how = how.replace("Student's t", "Student's t on the logit scale")
        return Estimate(value, low, high, n, clusters, how)

    def _exact(self, row: int, column: int) -> Estimate:
        """All right or all wrong: the exact bounds over clusters."""
        inside = np.flatnonzero(self._column == column)
        right = self._right[self._row == row][:, inside].mean(axis=0)
        rows = np.stack([np.ones(len(inside)), right], axis=1)
        (found,) = estimates(
            [mean(counted=bool(np.isin(right, (0.0, 1.0)).all()))],
            rows,
            replace(self._design.of(inside), strata=None),
        )
        return found
