"""Cluster-aware statistics; numpy and scipy only. Every interval and test there is, is made here.

`estimate(values, clusters)` is the short form for a share or a mean. Nothing is loaded before use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clinqa.stats.comparing import compare
    from clinqa.stats.design import Design
    from clinqa.stats.estimates import Estimate, estimate
    from clinqa.stats.measure import Measure

__all__ = ["Design", "Estimate", "Measure", "compare", "estimate"]

_FROM = {
    "Design": "design",
    "Estimate": "estimates",
    "Measure": "measure",
    "compare": "comparing",
    "estimate": "estimates",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
