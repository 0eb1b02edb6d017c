"""How rows hang together: what is drawn again, and from which seed.

A row is an item's numbers. Rows of one cluster (a patient, a pair, near-duplicates) stand or fall
together, so clusters are drawn again, never rows. Everything is a function of sums: a resample
only weighs the clusters' sums anew, so that a thousand of them are one matrix product, and nothing
is computed again from the items. One seed draws the same clusters whatever they are drawn for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clinqa.core.arrays import AnyArray, ArrayLike, Floats, Ints, UInt64s

__all__ = ["Design", "Labels", "cluster_sums", "cluster_weights", "resampled_totals"]

Labels = Sequence[Any] | AnyArray
_WEIGHTS_AT_ONCE = 1 << 22
_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What of some rows is drawn again.

    `clusters`: which cluster each row is of; None where each row is the sum of a cluster already.
    `strata`: clusters are drawn within strata (strata that share a cluster are drawn together).
    Ids of both are all text or all numbers. ValueError where some are of another type, or missing
    (None, NaN, an empty text): rows of unknown patients are no patient. Give each an id of its own.
    `weights`: what each row counts for. `crossed`: of models × questions (`crossed.Crossed`), what
    each model is a training of. `level` is that of intervals, `draws` how many samples are drawn.
    """

    clusters: Labels | None = None
    strata: Labels | None = None
    weights: ArrayLike | None = None
    crossed: Labels | None = None
    seed: int = 0
    draws: int = 1000
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.level < 1 or self.draws < 1:
            raise ValueError("a level between 0 and 1, and at least one draw")
        for name in ("clusters", "strata"):
            if (told := getattr(self, name)) is not None:
                object.__setattr__(self, name, _ids(name, told))

    def of(self, rows: AnyArray) -> Design:
        """The design of some rows, by their places or a mask."""
        parts = {name: getattr(self, name) for name in ("clusters", "strata", "weights")}
        chosen: dict[str, Any] = {
            name: np.asarray(own)[rows] for name, own in parts.items() if own is not None
        }
        return replace(self, **chosen)

    def sums(self, rows: ArrayLike) -> Floats:
        """The sum of the rows of each cluster, clusters in the order of their names."""
        table = np.asarray(rows, dtype=np.float64)
        if self.weights is not None:
            table = table * np.asarray(self.weights, dtype=np.float64)[:, None]
        return table if self.clusters is None else cluster_sums(table, self.clusters)

    def blocks(self) -> dict[int, Ints]:
        """Rows whose clusters are drawn among themselves, by the first of their strata."""
        strata = np.unique(np.asarray(self.strata), return_inverse=True)[1]
        every = np.arange(len(strata)) if self.clusters is None else np.asarray(self.clusters)
        groups = np.unique(every, return_inverse=True)[1]
        root = list(range(int(strata.max(initial=-1)) + 1))

        def top(at: int) -> int:
            while root[at] != at:
                at = root[at]
            return at

        first: dict[int, int] = {}
        for group, stratum in zip(groups.tolist(), strata.tolist(), strict=True):
            one, other = sorted((top(stratum), top(first.setdefault(group, stratum))))
            root[other] = one
        tops = np.array([top(stratum) for stratum in strata.tolist()], dtype=np.int64)
        return {at: np.flatnonzero(tops == at) for at in np.unique(tops).tolist()}

    def parts(self, rows: ArrayLike) -> list[tuple[int, Floats]]:
        """The sums of clusters that are drawn among themselves, each with its seed."""
        if self.strata is None:
            return [(self.seed, self.sums(rows))]
        table = np.asarray(rows, dtype=np.float64)
        blocks = self.blocks().items()
        return [(self.seed + at, self.of(own).sums(table[own])) for at, own in blocks]

    def totals(self, parts: Sequence[tuple[int, Floats]]) -> Floats:
        """The total of all parts in each sample, (draws, columns)."""
        first, *rest = (resampled_totals(sums, draws=self.draws, seed=at) for at, sums in parts)
        return sum(rest, first)


def _ids(name: str, told: Labels) -> AnyArray:
    """Ids as an array that sorts, without those that would fall together by mistake."""
    held = np.asarray(told, dtype=object if isinstance(told, list | tuple) else None)
    if held.dtype.kind == "O":  # text and numbers together would be text to numpy: 1 is "1"
        kinds = {_kind(one) for one in held.tolist()}
        if ("missing" not in kinds and len(kinds) > 1) or "other" in kinds:
            raise ValueError(f"{name}: ids of several types; give all as text, or all as numbers")
        missing = sum(_kind(one) == "missing" for one in held.tolist()) if "missing" in kinds else 0
        held = held if missing else np.asarray(held.tolist())
    elif held.dtype.kind == "f":
        missing = int(np.isnan(held).sum())
    else:
        missing = int((held == "").sum()) if held.dtype.kind == "U" else 0
    if missing:
        raise ValueError(
            f"{name}: {missing:,} of {len(held):,} rows have no id (None, NaN or empty), and would "
            "be taken for one; give each an id of its own, or leave them out"
        )
    return held


def _kind(one: object) -> str:
    """What an id is: text, a number, nothing at all, or what cannot be put in an order."""
    if isinstance(one, str):
        return "text" if one else "missing"
    if one is None or one != one:  # NaN is not itself
        return "missing"
    return "number" if isinstance(one, int | float | np.number | np.bool_) else "other"


def cluster_sums(rows: ArrayLike, groups: Labels) -> Floats:
    """The sum of the rows of each group, groups in the order of their names.

    The rows of a group are put in an order of their content first, so that the order in which
    they come does not even touch the last digit.

    >>> cluster_sums([[1, 0.5], [1, 1.0], [1, 0.0]], ["b", "a", "b"]).tolist()
    [[1.0, 1.0], [2.0, 0.5]]
    """
    table = np.asarray(rows, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(groups):
        raise ValueError("a row of numbers and a group for each item")
    if not len(table):
        return table
    _, coded = np.unique(np.asarray(groups), return_inverse=True)
    order = np.lexsort((_row_hashes(table), coded))
    starts = np.flatnonzero(np.diff(coded[order], prepend=-1))
    return np.add.reduceat(table[order], starts, axis=0)


def _row_hashes(table: Floats) -> UInt64s:
    """A number for the content of each row; whole numbers, so exact in any order."""
    odd = np.cumprod(np.full(table.shape[1], 0x9E3779B97F4A7C15, dtype=np.uint64))  # wraps
    made = np.empty(len(table), np.uint64)
    for start in range(0, len(table), _ROWS_AT_ONCE):
        bits = np.ascontiguousarray(table[start : start + _ROWS_AT_ONCE]).view(np.uint64)
        # The low bits of a number are mostly zeros; its high ones are mixed in.
        made[start : start + len(bits)] = ((bits ^ (bits >> np.uint64(29))) * odd).sum(axis=1)
    return made


def resampled_totals(sums: Floats, *, draws: int, seed: int) -> Floats:
    """The total of each of `draws` samples of as many clusters as there are, with replacement."""
    columns = np.ascontiguousarray(sums.T)
    # einsum and not @: as fast here, one thread, and the same last digits on every machine.
    parts = [
        np.einsum("bc,kc->bk", block, columns) for block in cluster_weights(len(sums), draws, seed)
    ]
    return np.concatenate(parts)


def cluster_weights(
    clusters: int, draws: int, seed: int, at_once: int | None = None
) -> Iterator[Floats]:
    """How often each sample holds each cluster, a few hundred samples at a time.

    One seed gives the same samples whatever they are for, and however many come at once.
    """
    random = np.random.default_rng(seed)
    at_once = at_once or max(1, _WEIGHTS_AT_ONCE // clusters)
    for done in range(0, draws, at_once):
        size = min(at_once, draws - done)
        drawn = random.integers(0, clusters, (size, clusters))
        drawn += np.arange(size)[:, None] * clusters
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)
