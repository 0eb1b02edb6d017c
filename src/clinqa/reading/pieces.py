"""What a scan of report texts gives: the statements of a batch as columns, and their texts.

The columns of `statements.parquet`: each distinct statement, what it is read as, how often.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from clinqa.core.arrays import Bytes, Int32s, Ints

__all__ = ["STATEMENTS", "Bounds", "Pieces", "Scans", "Statements"]

Bounds = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The statements of a batch that can label, in text order; one column each.

    `study`: row of the text in the batch. `statement`: its number in `Statements`. `start`, `end`,
    `head`: code points of the text. `phase`: position in `PHASES`. Others as in `segment.Piece`.
    """

    study: Int32s
    statement: Int32s
    start: Ints
    end: Ints
    role: Bytes
    phase: Bytes
    section: Int32s
    head: Ints

    def __len__(self) -> int:
        return len(self.study)


@dataclass(slots=True)
class Statements:
    """Every distinct (structure, unwrapped text) of all batches, in the order first met."""

    texts: list[str] = field(default_factory=list)
    structures: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)


class Scans(Protocol):
    """An engine: the pieces of the texts, new statements added to the `Statements` it was given."""

    def scan(self, texts: pa.LargeStringArray, bounds: Bounds | None) -> Pieces: ...


STATEMENTS = pa.schema(
    [
        ("structure", pa.string()),
        ("text", pa.string()),
        ("count", pa.int64()),
        ("studies", pa.int64()),
        (
            "labels",
            pa.list_(
                pa.struct(
                    [
                        ("abnormality", pa.string()),
                        ("level", pa.int8()),
                        ("explicit", pa.bool_()),
                        ("hedged", pa.bool_()),
                        ("phase", pa.string()),
                    ]
                )
            ),
        ),
        ("method", pa.string()),
    ]
)
