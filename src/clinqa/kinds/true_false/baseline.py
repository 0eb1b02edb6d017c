"""Prior: the label that is more frequent in that category; bag-of-words tells True from False."""

from __future__ import annotations

from clinqa.kinds.facets.baseline import Baseline

__all__ = ["BASELINE"]

BASELINE = Baseline(words=("False", "True"))
