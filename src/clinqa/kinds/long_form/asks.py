"""How a question about a report is asked: as it is."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from clinqa.kinds.facets.asks import Asks, Shots

__all__ = ["ASKS"]

_APART = ("question_type", "level", "category")


def _types(table: pa.Table) -> Iterable[str]:
    return (text or "" for text in table["question_type"].to_pylist())


ASKS = Asks(
    shots=Shots(_APART, lambda table: table.select(["id", "group", *_APART])),
    columns=("question_type",),
    own=_types,
)
