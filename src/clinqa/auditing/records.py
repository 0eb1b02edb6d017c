"""A gap is no score: a record of its own, which cannot be made from a score's signature.

In the Table 4 of EchoQA (Moukheiber et al. 2025) three rows of gaps are those models' F1; here a
gap can't hold a score, nor a score a gap: each refuses the other's signature.

Performance against bias: which runs no other run beats on both.

Bias is the excess of the gap over what chance alone would give (the gap itself is larger for
noisier scores, fair or not). The front describes these runs on these patients; it tests nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from clinqa.stats.rank import frontier

__all__ = ["GAP", "MEAN", "Gap", "Point", "points_of"]

GAP = "gap|"


@dataclass(frozen=True, slots=True)
class Gap:
    """One measure of disparity of one run over one dimension.

    `expected` is its mean when the attribute is permuted, `null_low` and `null_high` the 5 and 95
    per cent points; `p` by itself, `p_max` over all dimensions and runs. None where a measure has
    no null. `repeats` are the gaps of the repeats and `sd` their standard deviation.
    """

    run: str
    model: str
    shots: int
    dimension: str
    metric: str
    measure: str
    value: float | None
    n: int
    clusters: int
    signature: str
    groups: int = 0
    units: int = 0
    expected: float | None = None
    excess: float | None = None
    null_low: float | None = None
    null_high: float | None = None
    p: float | None = None
    p_max: float | None = None
    low: float | None = None
    high: float | None = None
    repeats: Sequence[float | None] = field(default=())
    sd: float | None = None

    def __post_init__(self) -> None:
        if not self.signature.startswith(f"{GAP}{self.measure}|"):
            raise ValueError("the signature of a gap names its measure; a score is no gap")

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "repeats": list(self.repeats)}


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
