"""Conformal sets of labels: a threshold from calibration items, and what sets it gives.

A label's score is 1 - its probability, so that low is likely; a set holds every label whose score
is at most the threshold (inclusive). An item's own score is that of its gold labels: the lowest if
the set is to hold any of them, the highest if it is to hold all. With n exchangeable calibration
items the k-th smallest score, k = ceil((n + 1)(1 - alpha)), covers a new item with probability
at least 1 - alpha (Vovk; Papadopoulos); where k > n no score is high enough and the set is full.
A set may come out empty: nothing is put into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.special import betaln, gammaln

from clinqa.core.arrays import ArrayLike, Bools, Floats
from clinqa.stats.estimates import Estimate
from clinqa.stats.intervals import wilson

__all__ = [
    "Cover",
    "Coverage",
    "Rule",
    "Threshold",
    "beta_binomial_band",
    "class_thresholds",
    "coverage",
    "cross_sets",
    "fewest_a_class",
    "gold_scores",
    "randomised_sets",
    "rank_of",
    "sets",
    "shift",
    "threshold",
]

Cover = Literal["any", "all"]
Rule = Literal["conformal", "plain"]
_FULL = math.inf


@dataclass(frozen=True, slots=True)
class Threshold:
    """The highest score a set takes in; `k` of `n` calibration scores are at most it.

    `full`: k > n, so every label goes in. Under the rule `plain` (the paper's quantile, with no
    guarantee of its own) there is no k.
    """

    value: float
    k: int | None
    n: int
    alpha: float
    rule: Rule = "conformal"

    @property
    def full(self) -> bool:
        return self.value == _FULL


@dataclass(frozen=True, slots=True)
class Coverage:
    """What sets are worth on items that did not set the threshold.

    `band`: where 95 of 100 such coverages lie if the promise holds exactly (beta-binomial);
    `f1`, `precision` and `recall` are over all pairs of item and label (micro).
    """

    covered: Estimate
    band: tuple[float, float] | None
    within_band: bool | None
    mean_size: float
    empty: int
    f1: float
    precision: float
    recall: float


def rank_of(n: int, alpha: float) -> int:
    """k = ceil((n + 1)(1 - alpha)), exactly: 0.1 is a tenth here and not its nearest double.

    >>> rank_of(9, 0.1), rank_of(99, 0.05), rank_of(8, 0.1)
    (9, 95, 9)
    """
    if not 0 < alpha < 1:
        raise ValueError("alpha lies between 0 and 1")
    return math.ceil((n + 1) * (1 - Fraction(str(alpha))))


def threshold(scores: ArrayLike, alpha: float, rule: Rule = "conformal") -> Threshold:
    """The threshold that these calibration scores give.

    >>> threshold([0.1, 0.2, 0.3, 0.4], 0.2).value, threshold([0.1, 0.2, 0.3], 0.2).full
    (0.4, True)
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    n = len(ordered)
    if np.isnan(ordered).any():
        raise ValueError("a calibration score is not a number")
    if rule == "plain":
        value = float(np.quantile(ordered, float(1 - Fraction(str(alpha))))) if n else _FULL
        return Threshold(value, None, n, alpha, rule)
    k = rank_of(n, alpha)
    return Threshold(_FULL if k > n else float(ordered[k - 1]), k, n, alpha, rule)


def gold_scores(probabilities: Floats, gold: Bools, cover: Cover = "any") -> Floats:
    """The score of each item: of its likeliest gold label (any) or its unlikeliest (all).

    >>> p, gold = np.array([[0.8, 0.1, 0.1]]), np.array([[True, True, False]])
    >>> [round(float(gold_scores(p, gold, which)[0]), 6) for which in ("any", "all")]
    [0.2, 0.9]
    """
    if gold.shape != probabilities.shape or not gold.any(axis=1).all():
        raise ValueError("every calibration item needs a gold label among the classes")
    scores = 1 - probabilities
    if cover == "any":
        lowest: Floats = np.where(gold, scores, np.inf).min(axis=1)
        return lowest
    highest: Floats = np.where(gold, scores, -np.inf).max(axis=1)
    return highest


def sets(probabilities: Floats, limit: Threshold | Floats) -> Bools:
    """Which labels each item's set holds; `limit` may be one value a class."""
    value = limit.value if isinstance(limit, Threshold) else limit
    # scores as in `gold_scores`, by the same expression: equal ones stay equal to the last bit
    return (1 - probabilities) <= value


def fewest_a_class(alpha: float) -> int:
    """ceil(1 / alpha) - 1: with fewer items of a class its sets are full and say nothing.

    >>> fewest_a_class(0.1), fewest_a_class(0.05)
    (9, 19)
    """
    return math.ceil(1 / Fraction(str(alpha))) - 1


def class_thresholds(probabilities: Floats, gold: Bools, alpha: float) -> Floats:
    """One threshold a class, from the items that have it: coverage within each class.

    ValueError naming the classes (by place) that have too few items.
    """
    few = np.flatnonzero(gold.sum(axis=0) < fewest_a_class(alpha))
    if len(few):
        raise ValueError(
            f"classes with fewer than {fewest_a_class(alpha)} calibration items: {few.tolist()}"
        )
    scores = 1 - probabilities
    return np.array(
        [threshold(scores[gold[:, at], at], alpha).value for at in range(gold.shape[1])]
    )


def randomised_sets(probabilities: Floats, scores: Floats, alpha: float, *, seed: int) -> Bools:
    """Sets whose coverage is 1 - alpha exactly, ties and all: one draw an item breaks them.

    A label goes in if its smoothed p-value, (#higher + u (#equal + 1)) / (n + 1), is over alpha.
    """
    ordered = np.sort(scores)
    own = 1 - probabilities
    higher = len(ordered) - np.searchsorted(ordered, own, side="right")
    equal = np.searchsorted(ordered, own, side="right") - np.searchsorted(ordered, own, side="left")
    draw = np.random.default_rng(seed).random((len(own), 1))
    chance = (higher + draw * (equal + 1)) / (len(ordered) + 1)
    return chance > alpha


def cross_sets(
    fold_probabilities: Sequence[Floats], fold_scores: Sequence[Floats], alpha: float
) -> Bools:
    """Cross-conformal sets (Vovk 2015): each fold's scores against the model that left it out.

    `fold_probabilities[k]` are the new items' under model k, `fold_scores[k]` those of the items
    that model k has not seen. What is proven is 1 - 2 alpha and a little less, not 1 - alpha; in
    practice it comes near 1 - alpha, with every labelled item used for both.
    """
    higher = np.zeros(fold_probabilities[0].shape)
    n = 0
    for probabilities, scores in zip(fold_probabilities, fold_scores, strict=True):
        ordered = np.sort(scores)
        higher += len(ordered) - np.searchsorted(ordered, 1 - probabilities, side="left")
        n += len(ordered)
    return (higher + 1) / (n + 1) > alpha


def beta_binomial_band(
    limit: Threshold, items: int, level: float = 0.95
) -> tuple[float, float] | None:
    """Where the coverage of `items` new ones lies with probability `level`, over both draws.

    With continuous scores the covered count is beta-binomial (items, k, n + 1 - k). None where it
    is not: the full set covers everything, and the plain quantile promises nothing.
    """
    if limit.k is None or limit.full or not items:
        return None
    a, b = limit.k, limit.n + 1 - limit.k
    counts = np.arange(items + 1, dtype=np.float64)
    log_mass = (
        gammaln(items + 1)
        - gammaln(counts + 1)
        - gammaln(items - counts + 1)
        + betaln(counts + a, items - counts + b)
        - betaln(a, b)
    )
    below = np.cumsum(np.exp(log_mass))
    tail = (1 - level) / 2
    low = int(np.searchsorted(below, tail))
    high = int(np.searchsorted(below, 1 - tail))
    return low / items, min(high, items) / items


def coverage(
    held: Bools,
    gold: Bools,
    limit: Threshold,
    *,
    cover: Cover = "any",
    level: float = 0.95,
) -> Coverage:
    """How often the sets hold the gold labels, how large they are, and their F1 over labels.

    Each item counts once: pass items that had no part in the threshold.
    """
    items = len(gold)
    good = (held & gold).any(axis=1) if cover == "any" else (~gold | held).all(axis=1)
    share = float(good.mean()) if items else math.nan
    low, high = wilson(int(good.sum()), items, level)
    how = f"coverage|{cover} gold label|split conformal {limit.rule}|Wilson|{level:g}"
    band = beta_binomial_band(limit, items, level)
    both, wanted, said = int((held & gold).sum()), int(gold.sum()), int(held.sum())
    precision = both / said if said else math.nan
    recall = both / wanted if wanted else math.nan
    return Coverage(
        covered=Estimate(share, low, high, items, items, how),
        band=band,
        within_band=None if band is None else bool(band[0] <= share <= band[1]),
        mean_size=float(held.sum(axis=1).mean()) if items else math.nan,
        empty=int((~held.any(axis=1)).sum()),
        f1=2 * both / (said + wanted) if said + wanted else math.nan,
        precision=precision,
        recall=recall,
    )


def shift(calibration: Floats, use: Floats) -> tuple[float, bool]:
    """How far apart the highest probabilities of two sets of questions are: Kolmogorov and
    Smirnov's distance, and whether it is more than chance gives (5 %)."""
    one, other = np.sort(calibration.max(axis=1)), np.sort(use.max(axis=1))
    if not len(one) or not len(other):
        return 0.0, False
    points = np.concatenate([one, other])
    apart = np.searchsorted(one, points, side="right") / len(one)
    apart = apart - np.searchsorted(other, points, side="right") / len(other)
    distance = float(np.abs(apart).max())
    return distance, distance > 1.358 * math.sqrt((len(one) + len(other)) / len(one) / len(other))
