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

import numpy as np
from threadpoolctl import threadpool_limits

from clinqa.core.arrays import Float32s, Floats, Int8s
from clinqa.stats.design import Labels, cluster_weights
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import of_samples, percentile
from clinqa.stats.measure import ratio

__all__ = ["Agreement", "agreement", "hierarchy"]

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

    def mean(self, chosen: Sequence[tuple[int, int]], level: float = 0.95) -> Estimate:
        """The mean kappa of some pairs; those for which it does not exist are left out."""
        places = {pair: at for at, pair in enumerate(self.pairs)}
        known = [pair for pair in chosen if np.isfinite(self.value[pair])]
        columns = [places[pair] for pair in known]
        value = float(np.mean([self.value[pair] for pair in known])) if known else np.nan
        means = self.samples[:, columns].mean(axis=1) if known else np.zeros(0)
        low, high, how = of_samples(means, level)
        return Estimate(value, low, high, self.n, self.clusters, f"mean kappa|{how}")


def agreement(
    codes: Int8s,
    groups: Labels,
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
        low, high = percentile(samples, (1 - level) / 2)
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


def _kappas(totals: Floats, pairs: Sequence[tuple[int, int]], judges: int, classes: int) -> Floats:
    n = totals[:, :1]
    agree = totals[:, 1 : 1 + len(pairs)]
    margins = totals[:, 1 + len(pairs) :].reshape(len(totals), judges, classes)
    left = np.array([a for a, _ in pairs], dtype=np.intp)
    right = np.array([b for _, b in pairs], dtype=np.intp)
    by_chance = np.einsum("dpc,dpc->dp", margins[:, left], margins[:, right])
    return ratio(agree * n - by_chance, n * n - by_chance)


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
