"""A figure is never a bare number: it has an interval, what it stands on, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Figure", "GapPair", "PairedTest", "known"]


def known(value: float) -> float | None:
    """The number, or None where there is none (NaN, infinite).

    >>> known(0.5), known(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Figure:
    """One value of one metric for one run and subset of items; 0 to 1.

    `n` items (or what the metric is a mean of) in `clusters` patients. `low` and `high` are None
    where the interval does not exist. The signature says how the value was computed; figures with
    different signatures never stand in one column.
    """

    run: str
    model: str
    shots: int
    metric: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    signature: str
    subset: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "subset": dict(self.subset)}


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A difference of one metric between two runs over the same items."""

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float | None = None
    n: int = 0
    clusters: int = 0
    signature: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GapPair:
    """How far the excess gaps of two runs lie apart over one dimension, the first less the second;
    `p` by itself, `p_max` over all dimensions and pairs of runs in that metric."""

    a: str
    b: str
    dimension: str
    metric: str
    difference: float | None
    p: float | None
    p_max: float | None
    signature: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
