"""How a statement is judged: True against False."""

from __future__ import annotations

import pyarrow as pa

from clinqa.kinds.facets.asks import Asks, Shots, Weighs

__all__ = ["ASKS"]


def _candidates(table: pa.Table) -> pa.Table:
    """Shots alternate between True and False."""
    level = pa.nulls(table.num_rows, pa.int8())  # of another kind: a hash over three draws shots
    names = ["id", "group", "answer", "level", "category"]
    return table.append_column("level", level).select(names)


ASKS = Asks(
    shots=Shots(("category",), _candidates),
    weighs=Weighs(lambda own: ("True", "False"), "True and False"),
)
