"""Items whose answer is True or False: statements in pairs (ECGQuest)."""

from __future__ import annotations

from clinqa.kinds.registry import ItemKind

__all__ = ["KIND"]

KIND = ItemKind(
    name="true_false",
    title="True/False",
    package=__name__,
    facets=frozenset(
        {
            *("columns", "asks", "reads", "shows", "baseline", "describes", "exports"),
            *("trains", "judges", "measures", "codes", "audited"),
        }
    ),
    abilities=frozenset({"constrained", "two_classes"}),
)
