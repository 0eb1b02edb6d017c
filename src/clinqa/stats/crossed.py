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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, stdtr, stdtrit

from clinqa.stats.bootstrap import bootstrap, cluster_sums, resampled_totals
from clinqa.stats.cluster import Estimate

__all__ = ["FEWEST_SEEDS", "Combination", "Crossed"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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

    `right` has an entry a row (what was trained on): an array of seeds × questions, each number
    the share of orders that were answered rightly. A row of one seed is a model as it is (the
    base), which no training would make otherwise. `column` says which test set each question is
    of, `groups` which questions go together.
    """

    def __init__(
        self,
        right: Sequence[npt.ArrayLike],
        column: npt.ArrayLike,
        groups: Sequence[str] | npt.NDArray[Any],
        *,
        seed: int,
        draws: int = 2000,
        level: float = 0.95,
    ) -> None:
        self._right = [np.atleast_2d(np.asarray(row, dtype=np.float64)) for row in right]
        self._column = np.asarray(column, dtype=np.int64)
        self._groups = np.asarray(groups)
        self.columns = int(self._column.max()) + 1 if len(self._column) else 0
        self._check()
        self._sort()
        self.draws, self.level, self._seed = draws, level, seed
        self._row = np.repeat(np.arange(len(self._right)), [len(row) for row in self._right])
        flat = np.concatenate(self._right)
        places = [np.flatnonzero(self._column == at) for at in range(self.columns)]
        self.questions = [len(place) for place in places]
        #: models × test sets: the share of right answers of each training
        self.models: Floats = np.stack([flat[:, place].mean(axis=1) for place in places], axis=1)
        self.matrix: Floats = np.stack(
            [self.models[self._row == at].mean(axis=0) for at in range(len(self._right))]
        )
        self._blocks = self._connected()
        self._drawn, self.clusters = self._resampled(flat)

    def _check(self) -> None:
        sizes = {row.shape[1] for row in self._right}
        if sizes != {len(self._column)} or len(self._groups) != len(self._column):
            raise ValueError("every row needs a number for each question, with column and group")
        if not all(np.isfinite(row).all() for row in self._right):
            raise ValueError("every model needs an answer to every question")
        if np.bincount(self._column, minlength=self.columns).min() < 1:
            raise ValueError("a test set without questions")

    def _sort(self) -> None:
        """Questions by content, so that the order in which they come touches no last digit."""
        _, coded = np.unique(self._groups, return_inverse=True)
        keys = [model for row in self._right for model in row]
        order = np.lexsort([*keys, coded, self._column])
        self._right = [row[:, order] for row in self._right]
        self._column, self._groups = self._column[order], self._groups[order]

    def _connected(self) -> list[list[int]]:
        """Test sets that share no cluster are drawn apart; those that do, together."""
        root = list(range(self.columns))

        def top(at: int) -> int:
            while root[at] != at:
                at = root[at]
            return at

        first: dict[Any, int] = {}
        for group, column in zip(self._groups.tolist(), self._column.tolist(), strict=True):
            root[top(column)] = top(first.setdefault(group, column))
        blocks: dict[int, list[int]] = {}
        for at in range(self.columns):
            blocks.setdefault(top(at), []).append(at)
        return list(blocks.values())

    def _resampled(self, flat: Floats) -> tuple[Floats, list[int]]:
        """How far each model's share on each test set is from itself in each sample."""
        drawn = np.zeros((self.draws, len(flat), self.columns))
        clusters = [0] * self.columns
        for block in self._blocks:
            inside = np.flatnonzero(np.isin(self._column, block))
            one_hot = (self._column[inside][:, None] == np.array(block)).astype(np.float64)
            rows = [one_hot, *(one_hot * model[inside][:, None] for model in flat)]
            sums = cluster_sums(np.concatenate(rows, axis=1), self._groups[inside])
            totals = resampled_totals(sums, draws=self.draws, seed=self._seed + block[0])
            totals = totals.reshape(self.draws, -1, len(block))
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = totals[:, 1:] / totals[:, :1]
            for at, column in enumerate(block):
                clusters[column] = many = int((sums[:, at] > 0).sum())
                widened = math.sqrt(many / (many - 1)) if many > 1 else math.nan
                # a sample without any question of a small test set tells nothing of it
                apart = np.nan_to_num(shares[:, :, at] - self.models[:, column])
                drawn[:, :, column] = widened * apart
        return drawn, clusters

    def seeds(self, row: int) -> int:
        """How many trainings a row has."""
        return len(self._right[row])

    def combine(self, weights: npt.ArrayLike) -> Combination:
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
        if not math.isfinite(variance):
            nan = math.nan
            why = f"{how}|one cluster: no interval"
            return Combination(Estimate(value, nan, nan, n, sum(clusters), why), nan, nan, nan, nan)
        error = math.sqrt(variance) if variance > _ROUNDING else 0.0
        if error == 0:  # the same on every question: how it would vary, nobody can tell
            nan, p = math.nan, 1.0 if value == 0 else math.nan
            how = f"{how}|no spread: no interval"
            return Combination(Estimate(value, nan, nan, n, sum(clusters), how), p, 0.0, freedom, 0)
        reach = float(stdtrit(freedom, 0.5 + self.level / 2)) * error
        p = 2 * float(stdtr(freedom, -abs(value) / error))
        estimate = Estimate(value, value - reach, value + reach, n, sum(clusters), how)
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
            f"bootstrap over questions within test sets, {self.draws} draws, {told}, "
            f"Student's t|{self.level:g}"
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
        reach = float(stdtrit(found.freedom, 0.5 + self.level / 2)) * found.error
        reach /= value * (1 - value)
        low, high = expit(logit(value) - reach), expit(logit(value) + reach)
        how = how.replace("Student's t", "Student's t on the logit scale")
        return Estimate(value, float(low), float(high), n, clusters, how)

    def _exact(self, row: int, column: int) -> Estimate:
        """All right or all wrong: the exact bounds over clusters."""
        inside = np.flatnonzero(self._column == column)
        mean = self._right[row][:, inside].mean(axis=0)
        rows = np.stack([np.ones(len(inside)), mean], axis=1)
        (found,) = bootstrap(
            rows, self._groups[inside], seed=self._seed, draws=self.draws, level=self.level
        )
        return found
