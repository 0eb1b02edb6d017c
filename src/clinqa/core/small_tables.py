"""The one door to tables that people bring: of patients, of tracts, of verdicts, of names.

CSV with `,`, `;`, tab or `|`, Parquet, either packed with gzip or not, in whatever usual encoding:
columns of text with the row of each cell. Nothing of a cell is decided here, and none is ever
quoted: a fault names its row. Raw reports and banks, which are large, have readers of their own
in `clinqa.sources`.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from clinqa.core.encodings import Encoding, encoding_of
from clinqa.core.errors import ClinqaError, SourceError
from clinqa.core.inputs import read_parquet
from clinqa.core.visible import visible

__all__ = ["SmallTable", "column_named", "delimiter_of", "read_small_table", "text_of"]

_MAX_BYTES = 1 << 30
_LONGEST = 1 << 17  # of a cell: that of Python's csv
_TRIED = 20  # rows by which a delimiter is told
_HEAD = 1 << 20
_TURNED = 1024  # rows that become columns at once
#: Characters that no table means to hold; cells with them compare and print as something else.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_FORMULA = re.compile(r'="(.*)"', re.DOTALL)
_TEXTS, _PARQUET = (".csv", ".tsv", ".tab", ".txt"), (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class SmallTable:
    """Columns of text as they stand in the file, by name; `numbers` are the rows of the cells.

    `temporal` are columns that the file itself says hold dates. `comma` is whether a comma parts
    the cells, so that one inside a cell is no decimal mark. `told` is what a reader must know.
    """

    path: Path
    columns: Mapping[str, list[str]]
    numbers: Sequence[int]
    temporal: frozenset[str] = frozenset()
    comma: bool = True
    told: Sequence[str] = ()


def column_named(names: Sequence[str], wanted: str) -> str | None:
    """The column of this name; if there is none, the only one that differs in case alone.

    >>> column_named(["SEX", "age"], "sex"), column_named(["SEX", "Sex"], "sex")
    ('SEX', None)
    """
    if wanted in names:
        return wanted
    alike = [name for name in names if name.casefold() == wanted.casefold()]
    return alike[0] if len(alike) == 1 else None


def read_small_table(
    path: Path, what: str = "a table", *, error: type[ClinqaError] = SourceError
) -> SmallTable:
    """The table in a file; `error` names the file, and the row where there is one."""
    try:
        return _read(path, what, error)
    except OSError as caught:
        raise error(f"{path}: cannot be read ({type(caught).__name__})") from caught


def _read(path: Path, what: str, error: type[ClinqaError]) -> SmallTable:
    if not path.is_file():
        raise error(f"{path}: no such file; {what} is CSV or Parquet")
    if path.stat().st_size > _MAX_BYTES:
        raise error(f"{path}: over 1 GB, which {what} never is")
    inner = path.with_suffix("") if path.suffix.casefold() == ".gz" else path
    kind = inner.suffix.casefold()
    if kind in _PARQUET and inner == path:
        table = _parquet(path, error)
    elif kind in _TEXTS:
        table = _text(path, inner != path, error)
    else:
        raise error(f"{path}: {what} is .csv, .tsv or .parquet")
    if not table.numbers:
        raise error(f"{path}: holds no rows")
    _check_characters(table, error)
    return table


def _check_characters(table: SmallTable, error: type[ClinqaError]) -> None:
    for name, values in table.columns.items():
        if _CONTROL.search(name):
            raise error(
                f"{table.path}: the name of column {visible(name)} holds control characters"
            )
        if _CONTROL.search("\n".join(values)):
            rows = [
                at for at, cell in zip(table.numbers, values, strict=True) if _CONTROL.search(cell)
            ]
            raise error(
                f"{table.path}: {len(rows):,} cells of column {visible(name)} hold control "
                f"characters (NUL or the like), the first in row {rows[0]:,}; is the file damaged?"
            )


def _check_names(path: Path, names: Sequence[str], error: type[ClinqaError]) -> None:
    if len(set(names)) < len(names):
        twice = sorted({visible(name) for name in names if names.count(name) > 1})
        raise error(f"{path}: two columns are called {', '.join(twice)}")


def _parquet(path: Path, error: type[ClinqaError]) -> SmallTable:
    table = read_parquet(path, error=error, advice="is it a Parquet file?")
    _check_names(path, table.column_names, error)
    made: dict[str, list[str]] = {}
    dates: set[str] = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name.startswith("__index_level_"):
            continue
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise error(f"{path}: column {visible(name)} holds no plain values")
        if pa.types.is_temporal(kind):
            dates.add(name)
        made[name] = [_written(value) for value in column.to_pylist()]
    rows = len(next(iter(made.values()), []))
    return SmallTable(path, made, range(1, rows + 1), frozenset(dates))


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(value, ".15g")
    return str(value)


def text_of(
    path: Path, data: bytes, *, error: type[ClinqaError] = SourceError
) -> tuple[str, Encoding]:
    """The text of a file's bytes in their own encoding; `error` where they are damaged."""
    encoding = encoding_of(io.BytesIO(data))
    if encoding.broken:
        raise error(f"{path}: row {encoding.broken:,} is not UTF-8; save the file as UTF-8")
    try:
        return data.decode(encoding.name), encoding
    except UnicodeDecodeError as caught:
        raise error(f"{path}: not {encoding.title} throughout; save it as UTF-8") from caught


def _text(path: Path, packed: bool, error: type[ClinqaError]) -> SmallTable:
    data = _unpacked(path, error) if packed else path.read_bytes()
    text, encoding = text_of(path, data, error=error)
    mark = delimiter_of(text)
    columns, numbers = _columns(path, _rows(path, text, mark, error), error)
    if '="' in text:
        columns = {name: list(map(_bare_text, cells)) for name, cells in columns.items()}
    told = [f"{path.name}: not UTF-8, so it was read as {encoding.title}: check its letters"]
    return SmallTable(
        path, columns, numbers, comma=mark == ",", told=told if encoding.guessed else ()
    )


def _unpacked(path: Path, error: type[ClinqaError]) -> bytes:
    try:
        with gzip.open(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as caught:
        raise error(f"{path}: no whole gzip file") from caught
    if len(data) > _MAX_BYTES:
        raise error(f"{path}: over 1 GB when unpacked, which no such table is")
    return data


def _bare_text(cell: str) -> str:
    """The text of ="0101", which is how a spreadsheet is told that a number is text."""
    whole = _FORMULA.fullmatch(cell.strip())
    return whole[1] if whole else cell


def delimiter_of(text: str) -> str:
    """What parts the cells: of `,`, `;`, tab and `|` the one that gives the first rows as many
    cells as the header, and most; a name or a cell may hold one of the others.

    >>> delimiter_of("id;Income, USD, net\\n1;5\\n"), delimiter_of("id,a;b\\n1,2\\n")
    (';', ',')
    """
    found = {mark: _widths(text, mark) for mark in ",;\t|"}

    def fits(mark: str) -> tuple[int, int]:
        widths = found[mark]
        alike = sum(width == widths[0] for width in widths) if widths and widths[0] > 1 else 0
        return alike, widths[0] if widths else 0

    return max(found, key=fits)


def _widths(text: str, mark: str) -> list[int]:
    made: list[int] = []
    csv.field_size_limit(_LONGEST)
    try:
        for row in csv.reader(io.StringIO(text[:_HEAD], None), delimiter=mark):
            if any(cell.strip() for cell in row):
                made.append(len(row))
            if len(made) > _TRIED:
                break
    except csv.Error:
        pass  # read again, and told, with the delimiter that fits best
    # the last row may be cut
    return made[:-1] if len(text) > _HEAD and 1 < len(made) <= _TRIED else made


def _rows(path: Path, text: str, mark: str, error: type[ClinqaError]) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST)  # Python's own default, which a reader of banks raises
    number = 0
    opened = text.split("\n", 1)[0].count('"') % 2
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True):
            number += 1
            yield row
            # what is raised from here on is of the row after it
    except csv.Error as caught:
        at = number + 1 if number or not opened else 1
        raise error(f"{path}: row {at:,}: {_fault(str(caught))}") from caught


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


def _columns(
    path: Path, rows: Iterator[list[str]], error: type[ClinqaError]
) -> tuple[dict[str, list[str]], list[int]]:
    header = [name.strip() for name in next(rows, [])]
    if not any(header):
        raise error(f"{path}: no header; the first row names the columns")
    _check_names(path, [name for name in header if name], error)
    made: list[list[str]] = [[] for _ in header]
    numbers: list[int] = []
    held: list[list[str]] = []
    same: dict[str, str] = {}  # a table of tracts has millions of cells, and few different ones

    def turn() -> None:
        for column, cells in zip(made, zip(*held, strict=True), strict=True):
            column.extend(map(same.setdefault, cells, cells))
        held.clear()

    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            if not any(map(str.strip, row)):
                continue
            cells = f"{len(row)} cell{'s' if len(row) > 1 else ''}"
            raise error(f"{path}: row {number:,} has {cells}, the header {len(header)}")
        if not any(map(str.strip, row)):
            continue
        numbers.append(number)
        held.append(row)
        if len(held) == _TURNED:
            turn()
    if held:
        turn()
    # a column without a name is the row number that some tools write
    return {name: column for name, column in zip(header, made, strict=True) if name}, numbers
