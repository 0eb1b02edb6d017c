"""Parquet files, in batches small enough for long notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from clinqa.sources.reports.records import BrokenFile, RawRows, ReportColumns

__all__ = ["is_text", "open_parquet", "read_names", "read_parquet"]

_BATCH_ROWS = 4096
_TEXTS = {pa.string(), pa.large_string(), pa.string_view()}
_TEXTS |= {pa.binary(), pa.large_binary(), pa.binary_view()}
_BATCH_BYTES = 16 << 20
_BUFFER = 1 << 20


def open_parquet(path: Path) -> parquet.ParquetFile:
    """A Parquet file opened; BrokenFile where it is none."""
    try:
        if not path.is_file():
            raise BrokenFile("not a file" if path.exists() else "does not exist")
        if path.stat().st_size == 0:
            raise BrokenFile("is empty")
        # buffered, so that a large row group is not read whole
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except OSError as error:
        raise BrokenFile(f"cannot be opened ({error.strerror or type(error).__name__})") from error
    except pa.ArrowException as error:
        raise BrokenFile("is no whole Parquet file") from error
    except UnicodeEncodeError as error:  # Arrow's paths are UTF-8
        raise BrokenFile("has a name that is not UTF-8; rename it") from error


def read_names(path: Path) -> tuple[str, ...]:
    """The names of a Parquet file's columns."""
    with open_parquet(path) as file:
        return tuple(file.schema_arrow.names)


def read_parquet(path: Path, layout: ReportColumns) -> Iterator[RawRows]:
    """The rows of a Parquet file, each column in its own type."""
    with open_parquet(path) as file:
        names = {role: layout.names[place] for role, place in layout.roles.items()}
        kind = file.schema_arrow.field(layout.roles["text"]).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not is_text(kind):
            raise BrokenFile(f"column {names['text']} is {kind}, not text")
        meta = file.metadata
        size = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        each = max(1, size // max(1, meta.num_rows))
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // each))
        wanted = sorted(set(names.values()))
        before, broken = 0, []
        for group in range(meta.num_row_groups):
            # a damaged row group costs its own rows only
            try:
                for raw in _group(file, group, rows, wanted, names, before):
                    raw.share = raw.rows[-1].as_py() / meta.num_rows if len(raw.rows) else 0.0
                    yield raw
            except (pa.ArrowException, OSError):
                broken.append(f"{before + 1}-{before + meta.row_group(group).num_rows}")
            before += meta.row_group(group).num_rows
        if broken:
            raise BrokenFile(f"is damaged in rows {', '.join(broken[:9])}")


def _group(
    file: parquet.ParquetFile,
    group: int,
    size: int,
    wanted: list[str],
    names: dict[str, str],
    before: int,
) -> Iterator[RawRows]:
    for batch in file.iter_batches(batch_size=size, row_groups=[group], columns=wanted):
        columns = {role: batch.column(name) for role, name in names.items()}
        numbers = pa.array(np.arange(before + 1, before + len(batch) + 1), pa.int64())
        before += len(batch)
        yield RawRows(columns, numbers)


def is_text(kind: pa.DataType) -> bool:
    """Do values of this type hold a text, or its bytes?"""
    return kind in _TEXTS
