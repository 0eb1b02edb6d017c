"""The commonest number of a category; the middle of nothing, for want of a better idea."""

from __future__ import annotations

from clinqa.kinds.facets.baseline import Baseline

BASELINE = Baseline(others={"sixty": lambda own: "60"})
