"""Figures of a two-way judgement, by the place that they had."""

from clinqa.stats.two_way import (
    MEASURES,
    Cells,
    contradictions,
    precision,
    sensitivity,
    specificity,
    true_share,
)

__all__ = [
    "MEASURES", "Cells", "contradictions", "precision", "sensitivity", "specificity", "true_share"
]  # fmt: skip
