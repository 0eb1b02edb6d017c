"""Agreement beyond chance: kappa of two labellings, or of every two of many judges.

Of two labellings everything comes from the table of how often a gave which class and b which, so
kappa too is a statistic of sums over clusters, and it may be weighted.

Of many judges it is counted per cluster how often two of them say the same, so that the kappas
without one cluster in turn are a subtraction. The counts are whole numbers below 2^24, exact in
single precision.

Majority votes of several judges, and all of them of one size at once.

More than half of the members must say it: a tie, or too many who are silent, is no answer. A
search counts bits: for each set of k - 1 members it is kept which items have already t right votes
(t up to the majority), as 64 items a word, so that the last member costs one "and" and one "or".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np

from clinqa.core.arrays import Bools, Float32s, Floats, Int8s, Int16s, Ints, UInt64s
from clinqa.stats.design import Design, Labels
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.intervals import SIGNED, of_figure
from clinqa.stats.measure import Measure, ratio

__all__ = [
    "Agreement",
    "Searched",
    "Weights",
    "agreement",
    "confusion_sums",
    "hierarchy",
    "kappa",
    "kappa_measure",
    "kappa_of_tables",
    "majority",
    "search",
]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kappa of judge a and judge b in row a, column b; NaN where chance alone would agree always.

    `counts` are those of each cluster (`_counts`), from which means of pairs are made.
    """

    value: Floats
    low: Floats
    high: Floats
    counts: Float32s
    classes: int
    pairs: tuple[tuple[int, int], ...]
    n: int
    clusters: int
    signature: str

    def mean(self, chosen: Sequence[tuple[int, int]], level: float = 0.95) -> Estimate:
        """The mean kappa of some pairs; those for which it does not exist are left out."""
        known = [pair for pair in chosen if np.isfinite(self.value[pair])]
        if not known:
            nan = float("nan")
            return Estimate(nan, nan, nan, self.n, self.clusters, "mean kappa|undefined")
        value = float(np.mean([self.value[pair] for pair in known]))
        pairs = _Pairs(self.counts, self.pairs, self.classes)
        places = {pair: at for at, pair in enumerate(self.pairs)}
        made = [pairs.kappa(places[pair]) for pair in known]
        left_out = np.mean([own for own, _ in made], axis=0)
        moves = float(np.mean([moves for _, moves in made]))
        low, high, how = of_figure(value, left_out, pairs.sizes, level, SIGNED, moves=moves)
        return Estimate(value, low, high, self.n, self.clusters, f"mean kappa|{how}")


def agreement(codes: Int8s, groups: Labels, *, level: float = 0.95) -> Agreement:
    """Cohen's kappa of every two rows of `codes` (judges by items), intervals over clusters.

    A code is a class of its own, "no answer" too: two that are silent on one item agree on it.
    """
    judges, n = codes.shape
    pairs = tuple(combinations(range(judges), 2))
    counts, classes = _counts(codes, groups, pairs)
    value = np.full(len(pairs), np.nan)
    low, high, how = value.copy(), value.copy(), "no pair"
    of = _Pairs(counts, pairs, classes)
    for at in range(len(pairs)):
        value[at] = of.value(at)
        if np.isfinite(value[at]):
            left_out, moves = of.kappa(at)
            low[at], high[at], how = of_figure(
                float(value[at]), left_out, of.sizes, level, SIGNED, moves=moves
            )
    return Agreement(
        _square(value, pairs, judges, 1.0),
        _square(low, pairs, judges, np.nan),
        _square(high, pairs, judges, np.nan),
        counts,
        classes,
        pairs,
        n,
        len(counts),
        f"kappa|classes: {classes}|{how}",
    )


class _Pairs:
    """The kappa of each pair of judges, of all clusters and without one in turn."""

    def __init__(self, counts: Float32s, pairs: Sequence[tuple[int, int]], classes: int) -> None:
        self._pairs, self._classes, self._counts = pairs, classes, counts
        self._total = counts.sum(axis=0, dtype=np.float64)
        self.sizes: Floats = counts[:, 0].astype(np.float64)

    def value(self, at: int) -> float:
        """Of all clusters."""
        return float(_kappa_of(*self._parts(self._total[None], at))[0])

    def kappa(self, at: int) -> tuple[Floats, float]:
        """Without each cluster, and how far it moves where all items turn out otherwise."""
        rest = self._total - self._counts
        n, _, by_chance = self._parts(self._total[None], at)
        apart = float(1 - by_chance[0] / n[0] ** 2)
        return _kappa_of(*self._parts(rest, at)), 1 / apart if apart > 0 else 1.0

    def _parts(self, totals: Floats, at: int) -> tuple[Floats, Floats, Floats]:
        """Items, how many are agreed on, and by chance times the items."""
        a, b = self._pairs[at]
        first, size = 1 + len(self._pairs), self._classes
        one, other = (
            totals[:, first + judge * size : first + (judge + 1) * size] for judge in (a, b)
        )
        return totals[:, 0], totals[:, 1 + at], np.einsum("dc,dc->d", one, other)


def _kappa_of(n: Floats, agree: Floats, by_chance: Floats) -> Floats:
    return ratio(agree * n - by_chance, n * n - by_chance)


def _counts(
    codes: Int8s,
    groups: Labels,
    pairs: Sequence[tuple[int, int]],
) -> tuple[Float32s, int]:
    """By cluster: items, how often each pair agrees, how often each judge says each class."""
    _, coded = np.unique(np.asarray(groups), return_inverse=True)
    order = np.argsort(coded, kind="stable")
    first = np.flatnonzero(np.diff(coded[order], prepend=-1))
    said = np.unique(codes)
    own = np.ascontiguousarray(codes[:, order])
    columns = np.empty((1 + len(pairs) + len(said) * len(codes), len(first)), np.float32)
    columns[0] = np.diff(np.append(first, own.shape[1]))
    for at, (a, b) in enumerate(pairs, start=1):
        columns[at] = np.add.reduceat((own[a] == own[b]).view(np.int8), first, dtype=np.int32)
    at = 1 + len(pairs)
    for judge in range(len(codes)):
        for code in said:
            columns[at] = np.add.reduceat((own[judge] == code).view(np.int8), first, dtype=np.int32)
            at += 1
    return np.ascontiguousarray(columns.T), len(said)


def _square(
    values: Floats, pairs: Sequence[tuple[int, int]], judges: int, diagonal: float
) -> Floats:
    made = np.full((judges, judges), diagonal)
    for value, (a, b) in zip(values.tolist(), pairs, strict=True):
        made[a, b] = made[b, a] = value
    return made


def hierarchy(value: Floats) -> list[int]:
    """An order in which those that agree stand together: leaves of average linkage over 1 - kappa.

    >>> hierarchy(np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.2], [0.9, 0.2, 1.0]]))
    [1, 0, 2]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(value) < 3:
        return list(range(len(value)))
    apart = 1 - np.nan_to_num(value, nan=0.0)
    np.fill_diagonal(apart, 0.0)
    order: list[int] = leaves_list(linkage(squareform(apart, checks=False), "average")).tolist()
    return order


Weights = Literal["none", "linear", "quadratic"]


def kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    classes: Sequence[Hashable],
    design: Design,
    weights: Weights = "none",
) -> Estimate:
    """Kappa of two labellings of the same items, with its interval over the design's clusters.

    `classes` is the fixed list, in order of degree for the weighted kinds: a disagreement counts
    by how far apart the two stand in the list (`linear`) or by the square of it (`quadratic`).
    NaN where chance alone would agree always (both used one class only).

    >>> made = kappa("yyn", "ynn", "yn", Design(["p1", "p2", "p3"], seed=1))
    >>> round(made.value, 3)
    0.4
    """
    groups = range(len(a)) if design.clusters is None else design.clusters
    sums = confusion_sums(a, b, classes, groups)
    measure = kappa_measure("kappa", lambda rows: rows, len(classes), weights)
    (made,) = estimates([measure], sums, replace(design, clusters=None))
    return replace(made, signature=f"kappa|{weights}|{made.signature}")


def kappa_measure(
    name: str, table: Callable[[Floats], Floats], classes: int, weights: Weights, **more: Any
) -> Measure:
    """Kappa of tables of counts, each a row of classes × classes that `table` gives of rows."""
    statistic = kappa_of_tables(classes, weights)

    def moves(rows: Floats) -> Floats:
        return 1 / np.maximum(_disagreements(table(rows), classes, weights)[1], 1e-9)

    return Measure(
        name,
        lambda rows: statistic(table(rows)),
        lambda rows: table(rows).sum(axis=-1),
        bounds=SIGNED,
        reach=moves,
        **more,
    )


def confusion_sums(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    classes: Sequence[Hashable],
    groups: Labels,
) -> Floats:
    """For each group, the table (class of a × class of b) as one row; groups by name."""
    if not len(a) == len(b) == len(groups):
        raise ValueError("two labels and a group for each item")
    codes = {name: code for code, name in enumerate(classes)}
    if len(codes) != len(classes):
        raise ValueError("the classes must differ")
    try:
        cells = np.array(
            [codes[one] * len(codes) + codes[other] for one, other in zip(a, b, strict=True)],
            dtype=np.int64,
        )
    except KeyError:
        raise ValueError("a label is none of the classes") from None
    names, coded = np.unique(np.asarray(groups), return_inverse=True)
    width = len(codes) ** 2
    counts = np.bincount(coded * width + cells, minlength=len(names) * width)
    return counts.reshape(len(names), width).astype(np.float64)


def kappa_of_tables(classes: int, weights: Weights) -> Callable[[Floats], Floats]:
    """Kappa as a statistic of tables, each a row of classes × classes counts."""

    def statistic(totals: Floats) -> Floats:
        seen, by_chance = _disagreements(totals, classes, weights)
        return 1 - ratio(seen, by_chance)

    return statistic


def _disagreements(totals: Floats, classes: int, weights: Weights) -> tuple[Floats, Floats]:
    """Mean weight of the disagreement seen, and of what the two margins give by chance."""
    apart = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
    cost = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    cost = cost / max(cost.max(initial=0.0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = totals.reshape(-1, classes, classes)
        table = table / table.sum(axis=(1, 2), keepdims=True)
    by_a, by_b = table.sum(axis=2), table.sum(axis=1)
    seen = np.einsum("mij,ij->m", table, cost)
    by_chance = np.einsum("mi,mj,ij->m", by_a, by_b, cost)
    return seen, by_chance


def majority(codes: Int8s) -> Int8s:
    """The vote over the rows of `codes` (1 True, 0 False, -1 no answer); -1 for a tie.

    >>> majority(np.array([[1, 1, 0, 1], [1, 0, 0, -1], [0, -1, 1, 0]], dtype=np.int8)).tolist()
    [1, -1, 0, -1]
    """
    true, false = (codes == 1).sum(axis=0), (codes == 0).sum(axis=0)
    made = np.full(codes.shape[1], -1, dtype=np.int8)
    made[2 * true > len(codes)] = 1
    made[2 * false > len(codes)] = 0
    return made


@dataclass(frozen=True, slots=True)
class Searched:
    """Every set of `size` members: who they are, and how many True and False items it judges
    right."""

    size: int
    members: Int16s
    true_right: Ints
    false_right: Ints
    true: int
    false: int

    def __len__(self) -> int:
        return len(self.members)

    @property
    def accuracy(self) -> Floats:
        """The share of items judged right, by set."""
        return (self.true_right + self.false_right) / (self.true + self.false)

    def best(self) -> int:
        """The set with the highest accuracy; of equals the first by its members."""
        return int(np.argmax(self.true_right + self.false_right))


def search(right: Bools, gold: Bools, size: int) -> Searched:
    """All sets of `size` of the rows of `right` (judges by items: did it judge the item right?).

    >>> one = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], dtype=bool)
    >>> search(one, np.array([True, True, False, False]), 3).accuracy.tolist()
    [0.75]
    """
    judges = len(right)
    if not 1 <= size <= judges:
        raise ValueError("a size between 1 and the number of judges")
    sets = comb(judges, size)
    parts = [_packed(right[:, gold]), _packed(right[:, ~gold])]
    border = parts[0].shape[1]
    words = np.concatenate(parts, axis=1)
    members = np.empty((sets, size), dtype=np.int16)
    counts = np.empty((sets, 2), dtype=np.int64)
    done = 0
    need = size // 2 + 1
    empty = [np.full(words.shape[1], np.iinfo(np.uint64).max)]
    empty += [np.zeros(words.shape[1], dtype=np.uint64) for _ in range(need)]
    for chosen, votes in _prefixes(words, size - 1, need, (), empty):
        start = chosen[-1] + 1 if chosen else 0
        last = words[start:]
        # right: enough votes without the last, or one too few and the last has it
        bits = np.bitwise_count(votes[need] | (votes[need - 1] & last))
        end = done + len(last)
        members[done:end, :-1] = chosen
        members[done:end, -1] = np.arange(start, judges)
        counts[done:end, 0] = bits[:, :border].sum(axis=1, dtype=np.int32)
        counts[done:end, 1] = bits[:, border:].sum(axis=1, dtype=np.int32)
        done = end
    return Searched(size, members, counts[:, 0], counts[:, 1], int(gold.sum()), int((~gold).sum()))


def _prefixes(
    words: UInt64s, length: int, need: int, chosen: tuple[int, ...], votes: list[UInt64s]
) -> Iterator[tuple[tuple[int, ...], list[UInt64s]]]:
    """Every set of `length` members in order, with the items that have at least t right votes."""
    if not length:
        yield chosen, votes
        return
    for member in range(chosen[-1] + 1 if chosen else 0, len(words) - length):
        more = [
            votes[0],
            *(votes[t] | (votes[t - 1] & words[member]) for t in range(1, need + 1)),
        ]
        yield from _prefixes(words, length - 1, need, (*chosen, member), more)


def _packed(right: Bools) -> UInt64s:
    """Bits by row, 64 a word, the last word filled up with zeros."""
    width = -(-right.shape[1] // 64) * 64
    padded = np.zeros((len(right), width), dtype=np.bool_)
    padded[:, : right.shape[1]] = right
    return np.packbits(padded, axis=1).view(np.uint64)
