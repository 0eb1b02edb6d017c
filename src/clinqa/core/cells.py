r"""Cells of CSV and TSV files that people open in a spreadsheet, and the writing of such files.

A cell that a spreadsheet would run as a formula gets an apostrophe before it; so does one that
begins with an apostrophe, so that reading it back is certain. In TSV, tabs, line ends and
backslashes are written \t, \n, \r and \\; a cell that begins with a quotation mark is quoted, and
one that a spreadsheet quoted on saving is read without its quotes.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.outfolder import write_durably
from clinqa.core.records import DataClass

__all__ = ["csv_text", "is_private", "read_cell", "safe_cell", "tsv_cell", "write_file"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_WRITTEN = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_READ = {written: char for char, written in _WRITTEN.items()}


def safe_cell(text: str) -> str:
    """The text as a cell that no spreadsheet runs.

    >>> safe_cell("=1+1"), safe_cell("+ MR"), safe_cell("Mild MR.")
    ("'=1+1", "'+ MR", 'Mild MR.')
    """
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def tsv_cell(text: str) -> str:
    r"""The text as a cell of a TSV file.

    >>> tsv_cell("a\tb")
    'a\\tb'
    """
    cell = safe_cell(re.sub(r"[\\\t\n\r]", lambda found: _WRITTEN[found[0]], text))
    return '"' + cell.replace('"', '""') + '"' if cell.startswith('"') else cell


def read_cell(cell: str) -> str:
    r"""What `tsv_cell` was given. A cell typed by a person may hold an apostrophe of its own.

    >>> read_cell("'=1+1"), read_cell(r"a\tb"), read_cell("'quoted'")
    ('=1+1', 'a\tb', "'quoted'")
    """
    if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', ""):
        cell = cell[1:-1].replace('""', '"')
    if cell.startswith("'") and cell[1:].lstrip(" ").startswith(_FORMULA):
        cell = cell[1:]
    return re.sub(r"\\[\\tnr]", lambda found: _READ[found[0]], cell)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file: numbers as they are, None as nothing, text as safe cells."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()


def is_private(data_class: str) -> bool:
    """Whether files of this class are for their owner alone; an unknown class is."""
    return data_class not in {DataClass.PUBLIC.value, DataClass.LICENSED.value}


def write_file(path: Path, content: str | bytes, *, private: bool) -> None:
    """Write a result file whole or not at all, readable by its owner alone where private."""
    body = content.encode("utf-8") if isinstance(content, str) else content
    if path.is_symlink():
        raise ConfigError(f"{path}: is a symbolic link; give the file itself")
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; give a file")
    try:
        write_durably(path, body, private=private)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({os.strerror(error.errno or 0)})") from error
