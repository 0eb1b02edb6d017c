"""Intervals for precision and recall when findings come in clusters: many of one report.

Findings of one report stand or fall together, so a report, not a finding, is what is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.stats.estimates import Estimate

__all__ = ["Estimate", "PrecisionRecall", "precision_recall"]

_DRAWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Precision, recall and F1 over all clusters together (micro)."""

    precision: Estimate
    recall: Estimate
    f1: Estimate


def precision_recall(
    true_positives: npt.ArrayLike,
    false_positives: npt.ArrayLike,
    false_negatives: npt.ArrayLike,
    *,
    seed: int,
    draws: int = 2000,
    level: float = 0.95,
) -> PrecisionRecall:
    """Precision, recall and F1 from counts of each cluster, with cluster bootstrap intervals.

    The percentile interval over `draws` samples of clusters with replacement. The same counts in
    any order give the same interval. Where every cluster is all right (or all wrong) each sample
    gives the same figure and the bootstrap knows nothing; then the exact binomial bound over the
    clusters stands in, which treats each cluster as a single trial. NaN where the figure does not
    exist (nothing predicted, or nothing to find).

    >>> both = precision_recall([9, 8, 10], [1, 2, 0], [0, 0, 0], seed=1)
    >>> both.precision.value, both.recall.value
    (0.9, 1.0)
    """
    counts = np.stack(
        [
            np.asarray(column, dtype=np.int64)
            for column in (true_positives, false_positives, false_negatives)
        ],
        axis=1,
    )
    if counts.ndim != 2:
        raise ValueError("three sequences of counts, one number a cluster")
    if (counts < 0).any():
        raise ValueError("counts cannot be negative")
    if not 0 < level < 1 or draws < 1:
        raise ValueError("a level between 0 and 1, and at least one draw")
    # Sorted by content, so that the order of the reports has no part in the interval.
    counts = counts[np.lexsort(counts.T[::-1])]
    totals = counts.sum(axis=0)
    samples = _resampled(counts, seed, draws)
    # (numerator, denominator) of each figure in terms of tp, fp, fn
    figures = {
        "precision": ((1, 0, 0), (1, 1, 0)),
        "recall": ((1, 0, 0), (1, 0, 1)),
        "f1": ((2, 0, 0), (2, 1, 1)),
    }
    made = {
        name: _estimate(name, counts, totals, samples, np.array(top), np.array(bottom), level)
        for name, (top, bottom) in figures.items()
    }
    return PrecisionRecall(made["precision"], made["recall"], made["f1"])


def _resampled(counts: npt.NDArray[np.int64], seed: int, draws: int) -> npt.NDArray[np.int64]:
    """The totals of `draws` samples of as many clusters as there are."""
    size = len(counts)
    if not size:
        return np.zeros((draws, 3), dtype=np.int64)
    random = np.random.default_rng(seed)
    at_once = max(1, _DRAWS_AT_ONCE // size)
    parts = [
        counts[random.integers(0, size, (min(at_once, draws - done), size))].sum(axis=1)
        for done in range(0, draws, at_once)
    ]
    return np.concatenate(parts)


def _estimate(
    name: str,
    counts: npt.NDArray[np.int64],
    totals: npt.NDArray[np.int64],
    samples: npt.NDArray[np.int64],
    top: npt.NDArray[np.int64],
    bottom: npt.NDArray[np.int64],
    level: float,
) -> Estimate:
    part, whole = int(totals @ top), int(totals @ bottom)
    informative = int(((counts @ bottom) > 0).sum())
    if not whole:
        nan = float("nan")
        return Estimate(nan, nan, nan, 0, 0, f"{name}|micro|undefined")
    value = part / whole
    tail = (1 - level) / 2
    if part in (0, whole):
        # Clopper and Pearson's bound for 0 or n of n, in closed form.
        bound = tail ** (1 / informative)
        low, high = (bound, 1.0) if part else (0.0, 1 - bound)
        how = "exact over clusters"
    else:
        numerators, denominators = samples @ top, samples @ bottom
        drawn = numerators[denominators > 0] / denominators[denominators > 0]
        low, high = (float(q) for q in np.quantile(drawn, [tail, 1 - tail]))
        how = f"cluster bootstrap, percentile, {len(samples)} draws"
    return Estimate(value, low, high, whole, informative, f"{name}|micro|{how}|{level:g}")
