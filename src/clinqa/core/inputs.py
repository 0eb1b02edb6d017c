"""The one door to the tables that people bring: what is read is opened here, and nowhere else.

So that what holds for every input (that it can be read, and is what its name says) is checked in
one place. What another stage made is opened by `core.finished`, against its manifest. Raw reports
and banks have readers of their own in `clinqa.sources`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ClinqaError, ConfigError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["open_parquet", "read_parquet", "readable", "scan_parquet"]


@contextmanager
def readable(
    path: Path, *, advice: str = "", error: type[ClinqaError] = ConfigError
) -> Iterator[None]:
    """Reading a table. Raises `error`, which names the file and gives `advice`, where it is gone,
    damaged, no Parquet or lacks a column."""
    try:
        yield
    except (OSError, KeyError, pa.ArrowException) as exc:
        said = f"; {advice}" if advice else ""
        raise error(f"{path}: cannot be read ({type(exc).__name__}){said}") from exc


def open_parquet(source: Path | BinaryIO, *, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
    """A file to be read piece by piece, inside `readable`; some columns as dictionaries."""
    # memory_map off: another process may rewrite the folder while we read
    return pq.ParquetFile(source, read_dictionary=list(dictionaries))


def read_parquet(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    dictionaries: Sequence[str] = (),
    advice: str = "",
    error: type[ClinqaError] = ConfigError,
) -> pa.Table:
    """All rows of a file, of these columns or all; raises what `readable` does."""
    with (
        readable(path, advice=advice, error=error),
        open_parquet(path, dictionaries=dictionaries) as file,
    ):
        return file.read(columns=None if columns is None else list(columns))


def scan_parquet(path: Path) -> pl.LazyFrame:
    """A file to be asked by polars; what is wrong with it is found when it is."""
    import polars as pl  # not for stages that need none

    return pl.scan_parquet(path, glob=False)  # a folder may be named [a]
