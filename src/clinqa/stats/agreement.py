"""Who agrees with whom: kappa of every two of many judges over the same items.

Per cluster it is counted how often two judges say the same; a resample only weighs the clusters
anew, so that a thousand of them are one product of matrices. The counts are whole numbers below
2^24, exact in single precision whatever the order of the sum, and the product runs on one thread:
on a busy machine several threads that wait for each other can take a thousand times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from clinqa.stats.bootstrap import cluster_weights

__all__ = ["Agreement", "agreement", "hierarchy"]

Floats = npt.NDArray[np.float64]
_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Agreement:
    """Kappa of judge a and judge b in row a, column b; NaN where chance alone would agree always.

    `samples` holds the kappa of each pair (in the order of `combinations`) in each resample.
    """

    value: Floats
    low: Floats
    high: Floats
    samples: Floats
    pairs: tuple[tuple[int, int], ...]
    n: int
    clusters: int
    signature: str


def agreement(
    codes: npt.NDArray[np.int8],
    groups: Sequence[str] | npt.NDArray[Any],
    *,
    seed: int,
    draws: int = 1000,
    level: float = 0.95,
) -> Agreement:
    """Cohen's kappa of every two rows of `codes` (judges by items), intervals over clusters.

    A code is a class of its own, "no answer" too: two that are silent on one item agree on it.
    """
    judges, n = codes.shape
    pairs = tuple(combinations(range(judges), 2))
    counts, classes = _counts(codes, groups, pairs)
    clusters = len(counts)
    total = counts.sum(axis=0, dtype=np.float64)[None]
    value = _kappas(total, pairs, judges, classes)[0]
    samples = np.full((0, len(pairs)), np.nan)
    low = high = np.full(len(pairs), np.nan)
    how = "one cluster: no interval"
    if clusters > 1 and pairs:
        with threadpool_limits(limits=1, user_api="blas"):
            totals = np.concatenate(
                [
                    (weights.astype(np.float32) @ counts).astype(np.float64)
                    for weights in cluster_weights(clusters, draws, seed, _AT_ONCE)
                ]
            )
        samples = _kappas(totals, pairs, judges, classes)
        tail = (1 - level) / 2
        low, high = np.full((2, len(pairs)), np.nan)
        some = np.flatnonzero(~np.isnan(samples).all(axis=0))
        if len(some):
            low[some], high[some] = np.nanquantile(samples[:, some], [tail, 1 - tail], axis=0)
        how = f"cluster bootstrap, percentile, {draws} draws|{level:g}"
    return Agreement(
        _square(value, pairs, judges, 1.0),
        _square(low, pairs, judges, np.nan),
        _square(high, pairs, judges, np.nan),
        samples,
        pairs,
        n,
        clusters,
        f"kappa|classes: {classes}|{how}",
    )


def _counts(
    codes: npt.NDArray[np.int8],
    groups: Sequence[str] | npt.NDArray[Any],
    pairs: Sequence[tuple[int, int]],
) -> tuple[npt.NDArray[np.float32], int]:
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


def _kappas(totals: Floats, pairs: Sequence[tuple[int, int]], judges: int, classes: int) -> Floats:
    n = totals[:, :1]
    agree = totals[:, 1 : 1 + len(pairs)]
    margins = totals[:, 1 + len(pairs) :].reshape(len(totals), judges, classes)
    left = np.array([a for a, _ in pairs], dtype=np.intp)
    right = np.array([b for _, b in pairs], dtype=np.intp)
    by_chance = np.einsum("dpc,dpc->dp", margins[:, left], margins[:, right])
    with np.errstate(invalid="ignore", divide="ignore"):
        under = n * n - by_chance
        made: Floats = np.where(under > 0, (agree * n - by_chance) / under, np.nan)
    return made


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
