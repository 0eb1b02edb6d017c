"""A kind for tests: the answer is a number, and one within a tolerance of it is right."""

from __future__ import annotations

from clinqa.kinds.registry import ItemKind

__all__ = ["KIND"]

KIND = ItemKind(
    name="numeric",
    title="numeric",
    package="kinds.numeric",
    facets=frozenset({"columns", "describes", "exports", "asks", "reads", "baseline", "trains"}),
    abilities=frozenset({"free_text"}),
)
