"""Are two tables of rows the same set of rows?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from measure import say

__all__ = ["shared_rows"]


def shared_rows(ours: pa.Table, theirs: pa.Table, keys: Sequence[str]) -> tuple[int, int, int]:
    """Rows of ours, of theirs, and rows that are equal in every column; `keys` name a row."""
    rest = [name for name in ours.column_names if name not in keys]
    theirs = theirs.select(ours.column_names).cast(ours.schema)
    theirs = theirs.rename_columns([n if n in keys else f"their_{n}" for n in theirs.column_names])
    both = ours.join(theirs, list(keys), join_type="inner")
    equal = sum(
        all(one == other for one, other in pairs)
        for batch in both.to_batches(max_chunksize=1 << 16)
        for pairs in zip(
            *(
                zip(batch[name].to_pylist(), batch[f"their_{name}"].to_pylist(), strict=True)
                for name in rest
            ),
            strict=True,
        )
    )
    return len(ours), len(theirs), equal


def main(ours: Path, theirs: Path, keys: Sequence[str], columns: Sequence[str]) -> None:
    tables = [_plain(path, columns) for path in (ours, theirs)]
    ours_rows, their_rows, equal = shared_rows(*tables, keys)
    say(ours=ours_rows, theirs=their_rows, equal=equal)


def _plain(path: Path, columns: Sequence[str]) -> pa.Table:
    table = ds.dataset(path).to_table(list(columns)) if path.is_dir() else pq.read_table(path)
    return table.select(list(columns)) if columns else table


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        sys.argv[3].split(","),
        sys.argv[4].split(",") if sys.argv[4:] else (),
    )
