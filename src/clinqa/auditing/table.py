"""Tables of patients or of tracts: any number of columns, as text, nothing decided yet.

Nothing of a row is ever quoted in an error: a cell is an attribute of a person. Columns are named,
rows counted and numbered.

A CSV file as columns of text with the row of each cell; a fault names its row, never a cell.

What a column holds, told from its cells and its name: dates, ids and codes, or amounts.

A date near a tract points at a person, and the quartile of an id is a row of the table: both are
told apart before anything is cut or shown.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.inputs import read_parquet
from clinqa.core.visible import visible

__all__ = [
    "MISSING_WORDS",
    "TRACT_NAMES",
    "Table",
    "are_dates",
    "check_names",
    "holds_ids",
    "key_column",
    "looks_like_codes",
    "number_of",
    "read_csv",
    "read_table",
]

_MONTHS = (
    "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"
    "oct(ober)?|nov(ember)?|dec(ember)?"
)
_MONTH = r"(0?[1-9]|1[0-2])"
_TIME = r"([t ].*)?"
_DATE = re.compile(
    rf"\d{{4}}[-/.]{_MONTH}[-/.]\d{{1,2}}{_TIME}"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.](\d{{2}}|\d{{4}}){_TIME}"
    rf"|(18|19|20)\d\d[-/]{_MONTH}|{_MONTH}[-/](18|19|20)\d\d"
    r"|(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"  # YYYYMMDD
    rf"|([a-z]+,? )?(\d{{1,2}}(st|nd|rd|th)?[-./ ]+)?({_MONTHS})[-./, ]+"
    rf"(\d{{1,2}}(st|nd|rd|th)?,? +)?(\d{{2}}|\d{{4}}){_TIME}"
    r"|(18|19|20)\d\d[- ]?(w\d\d|q[1-4])(-\d)?|q[1-4][- /]?(18|19|20)\d\d"
)
_DATED = frozenset(
    {"date", "dates", "datetime", "dob", "dod", "birthdate", "birthday", "admittime", "dischtime",
     "timestamp"}
)  # fmt: skip
_CODED = frozenset(
    {"id", "ids", "mrn", "hadm", "uid", "uuid", "guid", "zip", "zipcode", "zip5", "zcta", "postal",
     "postcode", "plz", "fips", "geoid", "ssn", "accession", "phone", "telephone", "code"}
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
#: Whole numbers of so many digits, one each, are no amounts: record numbers, or ids of tracts.
_DIGITS = {"patient": 6, "tract": 9}
_ENOUGH = 20


def number_of(cell: str) -> float | None:
    """The number in a cell; None for what is none, or has more digits than a measurement has.

    >>> number_of("-2.5e3"), number_of("1_000"), number_of("9" * 300), number_of("inf")
    (-2500.0, None, None, None)
    """
    if not _NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def are_dates(name: str, cells: Collection[str]) -> bool:
    """Is half or more of what a column holds a date more exact than a year, or does its name say
    so? `cells` are the known ones.

    >>> are_dates("seen", {"2020-01", "5 Feb 2021", "unknown"}), are_dates("age", {"53", "54"})
    (True, False)
    """
    if not cells:
        return False
    if _words(name) & _DATED:
        return True
    dates = sum(_DATE.fullmatch(cell.casefold()) is not None for cell in cells)
    return 2 * dates >= len(cells)


def holds_ids(cells: Sequence[str | None], ids: Sequence[str]) -> bool:
    """Are these the ids of the patients themselves, in their rows or in another order?"""
    known = [cell for cell in cells if cell is not None]
    if 2 * sum(cell == own for cell, own in zip(cells, ids, strict=True)) > len(known):
        return True
    distinct = set(known)
    # ages are few different numbers, and short ones, even where patients are called 1, 2, 3
    unlike_ages = len(distinct) > 2 * _ENOUGH or min(map(len, distinct), default=0) > 3
    one_each = len(distinct) >= 0.9 * len(known)
    return unlike_ages and one_each and len(distinct & set(ids)) >= 0.9 * len(distinct)


def looks_like_codes(name: str, distinct: Sequence[str], units: int, unit: str) -> bool:
    """Numbers that count nothing: by the column's name, zeros in front, or one long number each.

    >>> looks_like_codes("zip", ["2118", "2119"], 50, "patient")
    True
    >>> looks_like_codes("income", ["45500", "55700"], 50, "patient")
    False
    """
    if _words(name) & _CODED:
        return True
    if not all(cell.isascii() and cell.isdigit() for cell in distinct):
        return False
    lengths = {len(cell) for cell in distinct}
    if len(lengths) > 1:
        return False
    length = lengths.pop()
    if length > 1 and any(cell.startswith("0") for cell in distinct):
        return True
    return length >= _DIGITS[unit] and units >= _ENOUGH and len(distinct) >= 0.95 * units


def _words(name: str) -> set[str]:
    """The words of a name: `subjectId`, `zip code` and `HADM_ID` have two each."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+\d*|\d+", parted.casefold()))


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
    dates |= {
        name
        for name, values in columns.items()
        if are_dates(name, {value for value in values if value is not None})
    }
    return Table(path, columns, frozenset(dates), numbers)


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
    table = read_parquet(path, error=SourceError, advice="is it a Parquet file?")
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


_LONGEST = 1 << 17  # that of Python's csv


def read_csv(path: Path) -> tuple[dict[str, list[str]], list[int]]:
    """Columns by name, and the number of each row in the file; the header is row 1."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _columns(path, _rows(path, file))
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: {_undecoded(path)}; save it as UTF-8") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({type(error).__name__})") from error


def check_names(path: Path, names: list[str]) -> None:
    """SourceError where two columns are called alike."""
    if len(set(names)) < len(names):
        twice = sorted({visible(name) for name in names if names.count(name) > 1})
        raise SourceError(f"{path}: two columns are called {', '.join(twice)}")


def _rows(path: Path, file: TextIO) -> Iterator[list[str]]:
    head = file.readline()
    mark = max(",;\t", key=head.count)
    number = 1
    csv.field_size_limit(_LONGEST)  # Python's own default, which a reader of banks raises
    try:
        yield next(csv.reader([head], delimiter=mark, strict=True), [])
        for row in csv.reader(file, delimiter=mark, strict=True):
            number += 1
            yield row
            # what is raised from here on is of the row after it
    except csv.Error as error:
        at = number + 1 if number > 1 or head.count('"') % 2 == 0 else 1
        raise SourceError(f"{path}: row {at:,}: {_fault(str(error))}") from error


def _fault(said: str) -> str:
    """What Python's csv says, in words; it quotes no cell, and neither do we."""
    if "unexpected end" in said:
        return "a quotation mark is opened there and never closed"
    if "larger than field limit" in said:
        return (
            f"a cell of over {_LONGEST:,} characters; is a quotation mark opened there and "
            "not closed?"
        )
    if "expected after" in said:
        return "something follows a closing quotation mark; write a mark inside a cell twice"
    return "no CSV"


def _undecoded(path: Path) -> str:
    """Where a file stops being UTF-8."""
    with path.open("rb") as file:
        start = file.read(2)
        if start in (b"\xff\xfe", b"\xfe\xff"):
            return "is UTF-16, not UTF-8"
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return f"row {number:,} is not UTF-8"
    return "not UTF-8"


def _columns(path: Path, rows: Iterator[list[str]]) -> tuple[dict[str, list[str]], list[int]]:
    header = [name.strip() for name in next(rows, [])]
    if not any(header):
        raise SourceError(f"{path}: no header; the first row names the columns")
    check_names(path, [name for name in header if name])
    made: list[list[str]] = [[] for _ in header]
    numbers: list[int] = []
    for number, row in enumerate(rows, 2):
        if not row or not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            cells = f"{len(row)} cell{'s' if len(row) > 1 else ''}"
            raise SourceError(f"{path}: row {number:,} has {cells}, the header {len(header)}")
        numbers.append(number)
        for column, cell in zip(made, row, strict=True):
            column.append(cell)
    # a column without a name is the row number that some tools write
    return {name: column for name, column in zip(header, made, strict=True) if name}, numbers
