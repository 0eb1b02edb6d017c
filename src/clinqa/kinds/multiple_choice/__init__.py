"""Items whose answer is one of several options (S-MedQA)."""

from __future__ import annotations

from clinqa.kinds.registry import ItemKind

__all__ = ["KIND"]

KIND = ItemKind(
    name="multiple_choice",
    title="multiple choice",
    package=__name__,
    facets=frozenset(
        {
            *("columns", "asks", "reads", "shows", "baseline", "describes", "trains"),
            *("judges", "measures"),
        }
    ),
    abilities=frozenset({"constrained", "first_token", "orders", "readers"}),
)
