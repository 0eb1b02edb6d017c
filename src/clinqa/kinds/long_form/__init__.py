"""Items whose answer is free text: an abnormality of a report and its level (EchoQA)."""

from __future__ import annotations

from clinqa.kinds.registry import ItemKind

__all__ = ["KIND"]

KIND = ItemKind(
    name="long_form",
    title="long form",
    package=__name__,
    facets=frozenset(
        {
            *("columns", "asks", "reads", "shows", "baseline", "describes", "trains"),
            *("judges", "measures", "audited"),
        }
    ),
    abilities=frozenset({"free_text", "corrected", "dangers"}),
)
