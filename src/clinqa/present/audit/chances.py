"""What an audit says in words that a non-statistician reads right.

A gap is never told alone: beside it stands what chance alone would give, and how often. What is
found is a difference between groups in these answers; its cause, and whether it matters for care,
no figure here can say.
"""

from __future__ import annotations

import math

__all__ = ["by_chance"]


def by_chance(p: float | None) -> str:
    """How often chance alone gives a gap of this size, as people count.

    >>> by_chance(0.41), by_chance(0.04), by_chance(0.001), by_chance(0.97)
    ('in 4 of 10 such samples', 'in 4 of 100 such samples', 'in 1 of 1,000 such samples or fewer', \
'in nearly all such samples')
    """
    if p is None or not math.isfinite(p):
        return ""
    if p >= 0.95:
        return "in nearly all such samples"
    if p >= 0.095:
        return f"in {round(10 * p)} of 10 such samples"
    if p >= 0.0095:
        return f"in {round(100 * p)} of 100 such samples"
    if p >= 0.0015:
        return f"in {round(1000 * p)} of 1,000 such samples"
    return "in 1 of 1,000 such samples or fewer"
