"""The files that every dataset has: its items by split, and what did not become one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.core.durable import make_folder
from clinqa.core.records import SPLITS, Reject
from clinqa.core.schema import REJECTS
from clinqa.dataset.parquet import ShardedWriter, write_table
from clinqa.dataset.spool import encode, encoded_schema

__all__ = ["repeated", "rows_by_name", "write_rejects", "write_splits"]


def repeated(schema: pa.Schema) -> tuple[str, ...]:
    """The string columns but for the id, which never repeats."""
    return tuple(f.name for f in schema if f.type == pa.string() and f.name != "id")


def write_splits(
    partial: Path, splits: Mapping[str, Iterable[pa.Table]], schema: pa.Schema, *, private: bool
) -> dict[str, int]:
    """Write `data/*.parquet`, all three splits, from tables of `schema`; gives rows by file."""
    make_folder(partial / "data", private=private)
    strings = repeated(schema)
    rows: dict[Path, int] = {}
    for name in SPLITS:
        coded = encoded_schema(schema, strings)
        file = ShardedWriter(partial / "data", name, coded, private=private)
        for table in splits.get(name, ()):
            file.write(encode(table, schema, strings))
        rows |= file.close()
    return rows_by_name(partial, rows)


def write_rejects(partial: Path, rejects: Iterable[Reject], *, private: bool) -> dict[str, int]:
    """Write `rejects.parquet`, in an order that hangs on what was read alone."""
    rows = [asdict(one) for one in sorted(rejects, key=_order)]
    table = pa.Table.from_pylist(rows, schema=REJECTS)
    path = partial / "rejects.parquet"
    return rows_by_name(partial, write_table(path, table, REJECTS, private=private))


def _order(one: Reject) -> tuple[Any, ...]:
    where = (one.source_id, one.part, one.page or 0, -1 if one.row is None else one.row)
    return (one.stage, one.reason.value, *where, one.detail)


def rows_by_name(partial: Path, rows: Mapping[Path, int]) -> dict[str, int]:
    """Rows by the name of a file inside the folder."""
    return {path.relative_to(partial).as_posix(): n for path, n in rows.items()}
