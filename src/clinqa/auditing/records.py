"""A gap is no score: a record of its own, which cannot be made from a score's signature.

In the Table 4 of EchoQA (Moukheiber et al. 2025) three rows of gaps are those models' F1; here a
gap can't hold a score, nor a score a gap: each refuses the other's signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["GAP", "Gap"]

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
