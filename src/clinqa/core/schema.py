"""What every dataset and run has in common: columns of items, rejects and predictions.

Columns that one kind of item adds stand with it, in `kinds/KIND/columns.py`.
"""

from __future__ import annotations

import pyarrow as pa

__all__ = ["PREDICTIONS", "REJECTS", "SPAN", "items_schema"]


SPAN = pa.struct(
    [
        ("part", pa.string()),
        ("page", pa.int32()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("text", pa.string()),
    ]
)

_ITEM = [
    ("id", pa.string()),
    ("kind", pa.string()),
    ("group", pa.string()),
    ("question", pa.string()),
    ("context", pa.string()),
    ("answer", pa.string()),
    ("category", pa.string()),
    ("source_id", pa.string()),
    ("spans", pa.list_(SPAN)),
    ("method", pa.string()),
]


def items_schema(*own: tuple[str, pa.DataType]) -> pa.Schema:
    """The columns of a kind's items: those of every item, then its own.

    >>> items_schema(("level", pa.int8())).names[-2:]
    ['method', 'level']
    """
    return pa.schema([*_ITEM, *own])


REJECTS = pa.schema(
    [
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("source_id", pa.string()),
        ("part", pa.string()),
        ("page", pa.int32()),
        ("row", pa.int64()),
        ("detail", pa.string()),
    ]
)

PREDICTIONS = pa.schema(
    [
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("shots", pa.int32()),
        ("repeat", pa.int32()),
        ("variant", pa.int32()),
        ("prompt_sha256", pa.string()),
        ("output", pa.string()),
        ("finish_reason", pa.string()),
        ("answer", pa.string()),
        ("answer_status", pa.string()),
        ("input_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)
