"""The columns of `statements.parquet`: each distinct statement, what it is read as, how often."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["STATEMENTS"]

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
