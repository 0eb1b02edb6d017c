"""A figure is never a bare number: it has an interval, what it stands on, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeVar

__all__ = ["Figure", "GapPair", "PairedTest", "known", "marked", "signed"]


def known(value: float) -> float | None:
    """The number, or None where there is none (NaN, infinite).

    >>> known(0.5), known(float("nan"))
    (0.5, None)
    """
    return float(value) if math.isfinite(value) else None


class _Signed(Protocol):
    @property
    def signature(self) -> str: ...


SIGNED = TypeVar("SIGNED", bound=_Signed)


def signed(figure: SIGNED, mark: str) -> SIGNED:
    """The figure (or test) with a mark at the end of its signature, there once at most."""
    if figure.signature.endswith(mark):
        return figure
    signature = figure.signature + mark
    return replace(figure, signature=signature)  # type: ignore[type-var]


def marked(value: Any, mark: str) -> Any:
    """The same for figures as JSON, wherever a signature stands in it.

    >>> marked({"a": [{"signature": "f1", "value": 1}]}, "|x")
    {'a': [{'signature': 'f1|x', 'value': 1}]}
    """
    if not mark:
        return value
    if isinstance(value, Mapping):
        return {
            key: one + mark
            if key == "signature" and isinstance(one, str) and not one.endswith(mark)
            else marked(one, mark)
            for key, one in value.items()
        }
    return [marked(one, mark) for one in value] if isinstance(value, list | tuple) else value


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
