"""Prior: the label that is more frequent in that category; bag-of-words tells True from False; no
sentence of a text is one of the two, so there is no retrieval."""

from __future__ import annotations

from clinqa.kinds.facets.baseline import Baseline

__all__ = ["BASELINE"]

BASELINE = Baseline(words=("False", "True"), passage=None)
