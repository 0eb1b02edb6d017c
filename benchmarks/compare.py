"""Are two tables of rows the same set of rows?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from measure import say

__all__ = ["shared_rows"]


def shared_rows(ours: pa.Table, theirs: pa.Table, keys: Sequence[str]) -> dict[str, int]:
    """Rows of ours, of theirs, and rows that are equal in every column; `keys` name a row."""
    numbers = [
        table.select(list(keys)).append_column(name, pa.array(np.arange(len(table))))
        for name, table in (("our_row", ours), ("their_row", theirs))
    ]
    pairs = numbers[0].join(numbers[1], list(keys), join_type="inner")
    ours_flat, theirs_flat = _flat(ours), _flat(theirs)
    equal = np.ones(len(pairs), bool)
    for name, column in ours_flat.items():
        one = column.take(pairs["our_row"])
        other = theirs_flat[name].take(pairs["their_row"]).cast(one.type)
        same = pc.equal(one, other).fill_null(False).to_numpy()
        neither = pc.and_(one.is_null(), other.is_null()).to_numpy()
        equal &= same | neither
    return {"ours": len(ours), "theirs": len(theirs), "equal": int(equal.sum())}


def _flat(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Columns without nesting: of a list its length, its first element and its last."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        if not pa.types.is_list(column.type):
            columns[name] = column.cast(pa.string()) if _is_text(column.type) else column
            continue
        array = column.combine_chunks()
        columns[f"{name} length"] = pa.chunked_array([pc.list_value_length(array)])
        values = array.flatten()
        ends = np.cumsum(pc.list_value_length(array).to_numpy())
        first = np.concatenate([[0], ends[:-1]])
        for which, rows in (("first", first), ("last", ends - 1)):
            chosen = values.take(pa.array(rows))
            for field in chosen.type:
                part = pa.chunked_array([chosen.field(field.name)])
                columns[f"{name} {which} {field.name}"] = part
    return columns


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or pa.types.is_large_string(kind)


def main(ours: Sequence[str], theirs: Sequence[str], keys: Sequence[str]) -> None:
    total = {"ours": 0, "theirs": 0, "equal": 0}
    for one, other in zip(ours, theirs, strict=True):
        for name, number in shared_rows(pq.read_table(one), pq.read_table(other), keys).items():
            total[name] += number
    say(**total)


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:3]]
    files = sys.argv[4:] or [""]
    main(*([str(folder / name) for name in files] for folder in folders), sys.argv[3].split(","))
