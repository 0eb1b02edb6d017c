"""Agreement of two labellings beyond chance: Cohen's kappa, plain and weighted, with intervals.

Everything comes from the table of how often a gave which class and b which, so kappa too is a
statistic of sums over clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.stats.design import Design, Labels
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.intervals import exact
from clinqa.stats.measure import Measure, ratio

__all__ = ["Weights", "confusion_sums", "kappa", "kappa_of_tables"]

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
    NaN where chance alone would agree always (both used one class only). Perfect agreement has
    no spread; its lower bound then takes the exact bound on the share of items in disagreement
    over clusters, each disagreement being of the worst kind.

    >>> made = kappa("yyn", "ynn", "yn", Design(["p1", "p2", "p3"], seed=1))
    >>> round(made.value, 3)
    0.4
    """
    groups = range(len(a)) if design.clusters is None else design.clusters
    sums, level = confusion_sums(a, b, classes, groups), design.level
    statistic = kappa_of_tables(len(classes), weights)
    measure = Measure("kappa", statistic, lambda rows: rows.sum(axis=-1), bounds=None)
    (made,) = estimates([measure], sums, replace(design, clusters=None))
    low, how = made.low, made.signature
    if made.clusters > 1 and made.value == 1 and made.low == made.high:
        by_chance = _disagreements(sums.sum(axis=0)[None], len(classes), weights)[1][0]
        low = max(-1.0, 1 - exact(0.0, made.clusters, level)[1] / float(by_chance))
        how = f"exact over clusters|{level:g}"
    return replace(made, low=low, signature=f"kappa|{weights}|{how}")


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
