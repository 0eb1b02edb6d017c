"""McNemar's exact test, for items that are each a cluster of their own."""

from __future__ import annotations

from scipy.stats import binomtest

__all__ = ["mcnemar"]


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of there being no difference; of the items that one alone has right.

    Twins are not independent: use it only where no two items share a cluster.

    >>> round(mcnemar(8, 2), 4)
    0.1094
    """
    if only_a + only_b == 0:
        return 1.0
    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)
