"""Performance against bias: which runs no other run beats on both.

Bias is the excess of the gap over what chance alone would give (the gap itself is larger for
noisier scores, fair or not). The front describes these runs on these patients; it tests nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clinqa.stats.rank import frontier

__all__ = ["MEAN", "Point", "points_of"]

MEAN = "mean over dimensions"


@dataclass(frozen=True, slots=True)
class Point:
    """One run in one dimension: how good it is, how uneven, and whether any other beats it."""

    run: str
    dimension: str
    metric: str
    performance: float
    bias: float
    front: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def points_of(
    metric: str,
    dimension: str,
    runs: Sequence[tuple[str, float | None, float | None]],
    *,
    lower: bool = False,
) -> list[Point]:
    """The points of runs given as (id, performance, bias); those without a figure are left out.

    >>> [p.front for p in points_of("f1", "age", [("a", 0.8, 0.1), ("b", 0.7, 0.2)])]
    [True, False]
    """
    known = [(run, one, two) for run, one, two in runs if one is not None and two is not None]
    sign = -1.0 if lower else 1.0
    front = frontier([(sign * one, -two) for _, one, two in known]) if known else ()
    return [
        Point(run, dimension, metric, performance, bias, bool(best))
        for (run, performance, bias), best in zip(known, front, strict=True)
    ]
