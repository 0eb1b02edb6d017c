"""One occurrence of a term, and the Arrow schemas of the folders that `clinqa terms` writes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["CONCEPTS", "OCCURRENCES", "Occurrence"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One term in one part of one item; `start` and `end` are code points of the part."""

    item: str
    group: str
    split: str
    specialty: str
    part: str
    start: int
    end: int
    concept: str


OCCURRENCES = pa.schema(
    [
        ("item_id", pa.string()),
        ("group", pa.string()),
        ("split", pa.string()),
        # of the item; the term's own are in the table of concepts
        ("category", pa.string()),
        ("part", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("concept", pa.string()),
    ]
)

CONCEPTS = pa.schema(
    [
        ("concept", pa.string()),
        ("name", pa.string()),
        ("kind", pa.string()),
        ("specialties", pa.list_(pa.string())),
        ("path", pa.string()),
        ("general", pa.bool_()),
        ("occurrences", pa.int64()),
        ("items", pa.int64()),
    ]
)
