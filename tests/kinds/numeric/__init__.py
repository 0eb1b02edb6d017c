"""The example of a kind, and one for tests: the answer is a number, right within a tolerance."""

from __future__ import annotations

from clinqa.kinds.registry import ItemKind

__all__ = ["KIND"]

KIND = ItemKind(
    name="numeric",
    title="numeric",
    package="kinds.numeric",
    facets=frozenset(
        {
            *("columns", "describes", "exports", "asks", "reads", "baseline", "trains"),
            *("judges", "measures", "audited", "shows"),
        }
    ),
    abilities=frozenset({"free_text"}),
)
