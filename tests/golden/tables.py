"""Tables of rows as they are kept: whole where they are small, else a digest a column."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from golden.plain import Plain, canonical, coarse, shorter

__all__ = ["digest", "kept_rows", "kept_table", "rows_of"]

_WHOLE = 12_000
"""Characters of a table that is kept row by row."""
_FEW = 15
"""Different values of a column that are counted one by one."""
_TIMES = frozenset({"seconds"})


def digest(value: Any) -> str:
    """A short hash of a value, whose numbers count to eight digits."""
    return hashlib.sha256(canonical(coarse(value)).encode("utf-8", "surrogatepass")).hexdigest()[
        :20
    ]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    found: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
    return found


def kept_table(
    path: Path, plain: Plain, prompts: Mapping[str, str] | None = None, *, whole: bool = False
) -> dict[str, Any]:
    """A Parquet file: its columns with their types, and its rows in an order of their own.

    `prompts` names each prompt by what it says, so that how prompts are hashed does not matter.
    """
    schema = pq.ParquetFile(path).schema_arrow
    rows = rows_of(path)
    for row in rows:
        for name in _TIMES & row.keys():
            row[name] = None
        if prompts is not None and "prompt_sha256" in row:
            row["prompt_sha256"] = prompts.get(row["prompt_sha256"], "of no prompt")
    kept = kept_rows(rows, plain, whole=whole)
    return {"columns": [f"{field.name}: {field.type}" for field in schema], **kept}


def kept_rows(
    rows: Sequence[Mapping[str, Any]], plain: Plain, *, whole: bool = False
) -> dict[str, Any]:
    """Rows sorted by what they say."""
    made = sorted((plain.value(dict(row), frozenset()) for row in rows), key=canonical)
    if whole or sum(len(canonical(row)) for row in made) <= _WHOLE:
        return {"rows": made}
    names = sorted({name for row in made for name in row})
    columns = {name: _column([row.get(name) for row in made]) for name in names}
    return {"count": len(made), "digest": digest(made), "by column": columns}


def _column(values: Sequence[Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"digest": digest(list(values))}
    counts = Counter(canonical(value) for value in values)
    if len(counts) <= _FEW and all(len(value) < 100 for value in counts):
        kept["counts"] = dict(sorted(counts.items()))
    numbers = [value for value in values if type(value) in (int, float)]
    if numbers:
        kept["sum"] = shorter(math.fsum(numbers))
    return kept
