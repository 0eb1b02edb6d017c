"""Tables put aside on disk while a dataset is being built, and read again one piece at a time.

Repeated strings (a study's context above all) are kept as dictionaries, so that each is stored
once a piece. Pieces are separate Arrow files, read without mapping, so that memory holds one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from clinqa.core.outfolder import create_file

__all__ = ["Spool", "as_dictionary", "encode", "encoded_schema"]

DICTIONARY = pa.dictionary(pa.int32(), pa.string())
PIECE_BYTES = 48 << 20
PIECE_ROWS = 1 << 17


def as_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of strings as dictionary<int32, string>, whatever string type it came as."""
    if column.type == DICTIONARY:
        return column
    if pa.types.is_dictionary(column.type):
        if pa.types.is_string(column.type.value_type):
            return column.cast(DICTIONARY)
        column = column.cast(column.type.value_type)
    if column.type != pa.string():
        column = column.cast(pa.string())
    return column.dictionary_encode()


def encode(table: pa.Table, schema: pa.Schema, repeated: Sequence[str]) -> pa.Table:
    """The columns of `schema`, in its types, those in `repeated` as dictionaries."""
    return pa.table(
        {
            field.name: as_dictionary(table[field.name])
            if field.name in repeated
            else table[field.name].cast(field.type)
            for field in schema
        }
    )


def encoded_schema(schema: pa.Schema, repeated: Sequence[str]) -> pa.Schema:
    """The schema of what `encode` gives."""
    return pa.schema(
        [pa.field(f.name, DICTIONARY if f.name in repeated else f.type) for f in schema]
    )


class Spool:
    """Append tables of one shape; read them back in order, in pieces of bounded size."""

    def __init__(self, folder: Path, name: str, *, private: bool) -> None:
        self._folder = folder
        self._name = name
        self._private = private
        self._waiting: list[pa.Table] = []
        self._waiting_bytes = 0
        self._waiting_rows = 0
        self._files: list[Path] = []
        self.rows = 0

    def add(self, table: pa.Table) -> None:
        """Put a table aside. All tables must have the same columns and types."""
        if table.num_rows == 0:
            return
        self._waiting.append(table)
        self._waiting_bytes += table.nbytes  # of the rows alone: not of buffers that they share
        self._waiting_rows += table.num_rows
        self.rows += table.num_rows
        if self._waiting_bytes >= PIECE_BYTES or self._waiting_rows >= PIECE_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting; called before reading."""
        if not self._waiting:
            return
        # An Arrow file holds one dictionary a column.
        table = pa.concat_tables(self._waiting).unify_dictionaries()
        path = self._folder / f"{self._name}-{len(self._files):05d}.arrow"
        with (
            os.fdopen(create_file(path, private=self._private), "wb") as file,
            pa.ipc.new_file(file, table.schema) as writer,
        ):
            writer.write_table(table)
        self._files.append(path)
        self._waiting, self._waiting_bytes, self._waiting_rows = [], 0, 0

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The pieces in the order they were added; only `columns` are read from disk."""
        self.flush()
        for path in self._files:
            with pa.OSFile(str(path), "rb") as file:
                options = pa.ipc.IpcReadOptions()
                if columns is not None:
                    schema = pa.ipc.open_file(file).schema
                    wanted = [schema.get_field_index(name) for name in columns]
                    options = pa.ipc.IpcReadOptions(included_fields=wanted)
                yield pa.ipc.open_file(file, options=options).read_all()

    def remove(self) -> None:
        """Delete the pieces."""
        for path in self._files:
            path.unlink(missing_ok=True)
        self._files = []
