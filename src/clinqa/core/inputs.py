"""The one door to the tables that stages read: what is read is opened here, and nowhere else.

So that what holds for every input (that it can be read, and later that it is what its folder's
manifest says) is checked in one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ClinqaError, ConfigError

__all__ = ["read_parquet"]


def read_parquet(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    advice: str = "",
    error: type[ClinqaError] = ConfigError,
) -> pa.Table:
    """All rows of a file, of these columns or all.

    Raises `error`, which names the file and gives `advice`, where it is gone, damaged, no Parquet
    or lacks a column.
    """
    try:
        # memory_map off: another process may rewrite the folder while we read
        return pq.ParquetFile(path).read(columns=None if columns is None else list(columns))
    except (OSError, KeyError, pa.ArrowException) as exc:
        said = f"; {advice}" if advice else ""
        raise error(f"{path}: cannot be read ({type(exc).__name__}){said}") from exc
