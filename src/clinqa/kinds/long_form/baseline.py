"""Prior: what train says most often of that abnormality, asked in that way."""

from __future__ import annotations

from clinqa.kinds.facets.baseline import Baseline

__all__ = ["BASELINE"]

BASELINE = Baseline(
    columns=("category", "question_type", "answer"),
    stratum=lambda category, own: (category, own),
)
