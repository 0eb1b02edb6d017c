"""Parquet files as a dataset folder holds them.

Zstandard; strings that repeat are written from Arrow dictionaries, each value once a row group;
the Arrow schema is not stored, so that every reader sees plain strings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.outfolder import create_file

__all__ = ["ShardedWriter", "compact", "write_table"]

ROW_GROUP_ROWS = 100_000
ROW_GROUP_BYTES = 96 << 20
SHARD_BYTES = 450 << 20
# Beyond it the writer falls back to storing a context once an item instead of once a study.
DICTIONARY_PAGE_BYTES = 1 << 30
# Text columns get no minimum and maximum: nobody filters on them, and they swell the footer.
_STATISTICS = ("id", "group", "category", "source_id")


def compact(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values with a dictionary of those that occur, each once, as they first occur.

    Values that do not occur must go: a test file would carry the contexts of train in its
    dictionary pages. Values that occur twice must go: the Parquet writer makes room for both,
    fills in one, and writes the rest of the room as it found it, which is memory of anything. And
    with an order that hangs on the rows alone, equal rows are equal bytes.
    """
    size = len(array)
    codes = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
    missing = array.indices.is_null().to_numpy(zero_copy_only=False)
    first = np.full(max(len(array.dictionary), 1), size, dtype=np.int64)
    here = np.flatnonzero(~missing)[::-1]
    first[codes[here]] = here  # the last one assigned stays, and that is the first row
    used = np.flatnonzero(first < size)
    order = used[np.argsort(first[used])]
    values = array.dictionary.take(pa.array(order)).dictionary_encode()
    place = np.zeros(len(first), dtype=np.int64)
    place[order] = np.arange(len(order))
    wanted = pa.array(place[codes], mask=missing if missing.any() else None)
    return pa.DictionaryArray.from_arrays(values.indices.take(wanted), values.dictionary)


def _open_writer(file: IO[bytes], schema: pa.Schema) -> pq.ParquetWriter:
    plain = [f.name for f in schema if f.name != "id" and not pa.types.is_nested(f.type)]
    nested = [name for name in ("spans",) if name in schema.names]
    inner = [f"{name}.list.element.{part}" for name in nested for part in ("part", "text")]
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[*plain, *inner],
        dictionary_pagesize_limit=DICTIONARY_PAGE_BYTES,
        write_statistics=[
            f.name for f in schema if f.name in _STATISTICS or pa.types.is_primitive(f.type)
        ],
        store_schema=False,
    )


class ShardedWriter:
    """Write rows of one split as `NAME-00000-of-00003.parquet`, …, each a bounded size.

    `schema` is that of the tables given, dictionaries included. With `sharded=False` there is one
    file, `NAME.parquet`.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        schema: pa.Schema,
        *,
        private: bool,
        sharded: bool = True,
    ) -> None:
        self._folder, self._name, self._schema = folder, name, schema
        self._private, self._sharded = private, sharded
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._waiting_bytes = 0
        self._file: IO[bytes] | None = None
        self._writer: pq.ParquetWriter | None = None
        self._shards: list[tuple[Path, int]] = []
        self.rows = 0

    def write(self, table: pa.Table) -> None:
        """Add rows; they reach the disk a row group at a time."""
        if table.num_rows == 0:
            return
        columns = [
            pa.chunked_array([compact(chunk) for chunk in column.chunks], column.type)
            if pa.types.is_dictionary(column.type)
            else column
            for column in table.columns
        ]
        table = pa.table(columns, names=table.column_names)
        self._waiting.append(table)
        self._waiting_rows += table.num_rows
        self._waiting_bytes += table.nbytes
        self.rows += table.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS or self._waiting_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> dict[Path, int]:
        """Finish; gives the files' final paths and their numbers of rows."""
        self._flush()
        if self._writer is None and not self._shards:
            self._next_shard()
        self._close_shard()
        if not self._sharded:
            return dict(self._shards)
        total = len(self._shards)
        named = {}
        for number, (path, rows) in enumerate(self._shards):
            final = self._folder / f"{self._name}-{number:05d}-of-{total:05d}.parquet"
            os.replace(path, final)
            named[final] = rows
        return named

    def _flush(self) -> None:
        if not self._waiting:
            return
        # A row group takes one dictionary a column; with several the writer stores plain values.
        table = pa.concat_tables(self._waiting).unify_dictionaries().combine_chunks()
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0
        if self._file is not None and self._sharded and self._file.tell() >= SHARD_BYTES:
            self._close_shard()
        if self._writer is None:
            self._next_shard()
        assert self._writer is not None
        self._writer.write_table(table, row_group_size=table.num_rows)
        path, rows = self._shards[-1]
        self._shards[-1] = (path, rows + table.num_rows)

    def _next_shard(self) -> None:
        if self._sharded:
            path = self._folder / f"{self._name}-{len(self._shards):05d}.parquet.part"
        else:
            path = self._folder / f"{self._name}.parquet"
        self._file = os.fdopen(create_file(path, private=self._private), "wb")
        self._writer = _open_writer(self._file, self._schema)
        self._shards.append((path, 0))

    def _close_shard(self) -> None:
        if self._writer is not None and self._file is not None:
            self._writer.close()
            self._file.close()
        self._writer, self._file = None, None


def write_table(
    path: Path, table: pa.Table, schema: pa.Schema, *, private: bool
) -> dict[Path, int]:
    """Write a small table as one Parquet file."""
    writer = ShardedWriter(path.parent, path.stem, schema, private=private, sharded=False)
    writer.write(table.select(schema.names).cast(schema))
    return writer.close()
