"""A CSV file as columns of text with the row of each cell; a fault names its row, never a cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from clinqa.core.errors import SourceError
from clinqa.core.visible import visible

__all__ = ["check_names", "read_csv"]

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
