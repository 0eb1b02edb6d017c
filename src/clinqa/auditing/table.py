"""Tables of patients or of tracts: any number of columns, as text, nothing decided yet.

Nothing of a row is ever quoted in an error: a cell is an attribute of a person. Columns are named,
rows counted and numbered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.auditing.column_content import are_dates
from clinqa.auditing.csvfile import check_names, read_csv
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.visible import visible

__all__ = [
    "MISSING_WORDS",
    "TRACT_NAMES",
    "Table",
    "key_column",
    "read_table",
]

#: What means "not known" in a cell, whatever its case. Others are named with --missing.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", ".", "missing", "<na>"})
TRACT_NAMES = ("tract", "tract_id", "census_tract", "tract_fips", "geoid", "fips")

_MAX_BYTES = 1 << 30
#: Characters that no table means to hold; cells with them compare and print as something else.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of stripped text by name, None where missing; which of them hold dates, and the
    number of each row in the file."""

    path: Path
    columns: Mapping[str, list[str | None]]
    dates: frozenset[str]
    numbers: Sequence[int]


def read_table(path: Path, missing: Sequence[str] = ()) -> Table:
    """The table in a CSV or Parquet file."""
    words = MISSING_WORDS | {word.strip().casefold() for word in missing}
    kind = path.suffix.casefold()
    if not path.is_file():
        raise SourceError(f"{path}: no such file; a table of groups is CSV or Parquet")
    if path.stat().st_size > _MAX_BYTES:
        raise SourceError(f"{path}: over 1 GB; a table of groups has one row a patient or tract")
    if kind in (".parquet", ".pq"):
        raw, dates = _parquet(path)
        numbers: Sequence[int] = range(1, len(next(iter(raw.values()), [])) + 1)
    elif kind in (".csv", ".tsv", ".txt"):
        dates = set()
        raw, numbers = read_csv(path)
    else:
        raise SourceError(f"{path}: a table of groups is .csv, .tsv or .parquet")
    _check_characters(path, raw, numbers)
    columns = {name: [_cell(value, words) for value in values] for name, values in raw.items()}
    if not numbers:
        raise SourceError(f"{path}: holds no rows")
    dates |= {name for name, values in columns.items() if are_dates(name, _known(values))}
    return Table(path, columns, frozenset(dates), numbers)


def _known(values: Sequence[str | None]) -> set[str]:
    return {value for value in values if value is not None}


def _check_characters(path: Path, raw: Mapping[str, list[str]], numbers: Sequence[int]) -> None:
    for name, values in raw.items():
        if _CONTROL.search(name):
            raise SourceError(
                f"{path}: the name of column {visible(name)} holds control characters"
            )
        if _CONTROL.search("\n".join(values)):
            rows = [at for at, cell in zip(numbers, values, strict=True) if _CONTROL.search(cell)]
            raise SourceError(
                f"{path}: {len(rows):,} cells of column {visible(name)} hold control characters "
                f"(NUL or the like), the first in row {rows[0]:,}; is the file damaged?"
            )


def key_column(table: Table, known: Sequence[str], named: str | None, what: str) -> str | None:
    """The column that holds the ids; the one that was named, or one whose name says so."""
    if named is not None and named in table.columns:
        return named
    found = [name for name in table.columns if name.casefold() in known]
    if len(found) > 1:
        raise ConfigError(
            f"{table.path}: columns {', '.join(map(visible, found))} could all be the {what}; "
            f"name it with --{what}-column"
        )
    return found[0] if found else None


def _cell(value: str, words: frozenset[str]) -> str | None:
    text = " ".join(value.split())
    return None if text.casefold() in words else text


def _parquet(path: Path) -> tuple[dict[str, list[str]], set[str]]:
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{path}: cannot be read as Parquet ({type(error).__name__})") from error
    check_names(path, table.column_names)
    made: dict[str, list[str]] = {}
    dates: set[str] = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name.startswith("__index_level_"):
            continue
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise SourceError(f"{path}: column {visible(name)} holds no plain values")
        if pa.types.is_temporal(kind):
            dates.add(name)
        made[name] = [_written(value) for value in column.to_pylist()]
    return made, dates


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(value, ".15g")
    return str(value)
