"""Tables of patients or of tracts: any number of columns, as text, nothing decided yet.

Nothing of a row is ever quoted in an error: a cell is an attribute of a person. Columns are named,
rows counted and numbered.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.visible import visible

__all__ = [
    "DOCUMENT_NAMES",
    "MISSING_WORDS",
    "PATIENT_NAMES",
    "TRACT_NAMES",
    "Table",
    "key_column",
    "read_table",
]

#: What means "not known" in a cell, whatever its case. Others are named with --missing.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", ".", "missing", "<na>"})
PATIENT_NAMES = (
    "patient",
    "patient_id",
    "patientid",
    "subject_id",
    "subjectid",
    "subject",
    "group",
)
DOCUMENT_NAMES = ("source_id", "document", "document_id", "pdf_md5", "md5", "source")
TRACT_NAMES = ("tract", "tract_id", "census_tract", "tract_fips", "geoid", "fips")

_MAX_BYTES = 1 << 30
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?$"
    r"|(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"  # YYYYMMDD
)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of stripped text by name, None where missing; which of them hold dates."""

    path: Path
    columns: Mapping[str, list[str | None]]
    dates: frozenset[str]
    rows: int


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
    elif kind in (".csv", ".tsv", ".txt"):
        raw, dates = _csv(path), set()
    else:
        raise SourceError(f"{path}: a table of groups is .csv, .tsv or .parquet")
    columns = {name: [_cell(value, words) for value in values] for name, values in raw.items()}
    rows = len(next(iter(columns.values()), []))
    if not rows:
        raise SourceError(f"{path}: holds no rows")
    dates |= {name for name, values in columns.items() if _are_dates(values)}
    return Table(path, columns, frozenset(dates), rows)


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


def _are_dates(values: Sequence[str | None]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(_DATE.match(value) for value in known)


def _csv(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _columns(path, _rows(path, file.readline, file))
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8; save it as UTF-8") from error
    except (OSError, csv.Error) as error:
        raise SourceError(f"{path}: cannot be read as CSV ({type(error).__name__})") from error


def _rows(path: Path, first: object, file: object) -> Iterator[list[str]]:
    head = first() if callable(first) else ""
    mark = max(",;\t", key=head.count)
    yield next(csv.reader([head], delimiter=mark, strict=True), [])
    yield from csv.reader(file, delimiter=mark, strict=True)  # type: ignore[arg-type]


def _columns(path: Path, rows: Iterator[list[str]]) -> dict[str, list[str]]:
    header = [name.strip() for name in next(rows, [])]
    if not any(header):
        raise SourceError(f"{path}: no header; the first row names the columns")
    _check_names(path, [name for name in header if name])
    made: list[list[str]] = [[] for _ in header]
    for number, row in enumerate(rows, 2):
        if not row or not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise SourceError(
                f"{path}: row {number} has {len(row)} cells, the header {len(header)}"
            )
        for column, cell in zip(made, row, strict=True):
            column.append(cell)
    # a column without a name is the row number that some tools write
    return {name: column for name, column in zip(header, made, strict=True) if name}


def _check_names(path: Path, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = sorted({visible(name) for name in names if names.count(name) > 1})
        raise SourceError(f"{path}: two columns are called {', '.join(twice)}")


def _parquet(path: Path) -> tuple[dict[str, list[str]], set[str]]:
    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{path}: cannot be read as Parquet ({type(error).__name__})") from error
    _check_names(path, table.column_names)
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
