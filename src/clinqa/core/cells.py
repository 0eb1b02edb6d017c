r"""Cells of CSV and TSV files that people open in a spreadsheet, and the writing of such files.

A cell that a spreadsheet would run as a formula gets an apostrophe before it; so does one that
begins with an apostrophe, so that reading it back is certain. In TSV, a backslash is written \\
and what does not print \t, \n, \x1b, \u202e and so on, so that looking at the file on a terminal
runs nothing; a cell that begins with a quotation mark is quoted, and one that a spreadsheet quoted
on saving is read without its quotes.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.outfolder import is_ours, write_durably
from clinqa.core.visible import visible

__all__ = [
    "csv_text",
    "read_cell",
    "refuse_existing",
    "safe_cell",
    "tsv_cell",
    "write_file",
]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_ESCAPE = re.compile(r"\\([\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_SHORT = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


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
    cell = safe_cell(visible(text.replace("\\", "\\\\")))
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
    return _ESCAPE.sub(_unescaped, cell)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return _SHORT[code] if code in _SHORT else chr(min(int(code[1:], 16), sys.maxunicode))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file: numbers as they are, None as nothing, text as safe cells."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()


def refuse_existing(path: Path, *endings: str) -> None:
    """Raise ConfigError unless `path` can be a new file with one of these endings.

    What is there already may be anybody's, the reports themselves too; and a file inside a folder
    of clinqa's makes that folder fail its check.
    """
    if endings and path.suffix.lower() not in endings:
        raise ConfigError(f"{path}: the name must end in {' or '.join(endings)}")
    if path.exists() or path.is_symlink():
        raise ConfigError(f"{path}: is there already; give another file, or move it away")
    for folder in Path(os.path.abspath(path)).parents:
        if is_ours(folder):
            raise ConfigError(f"{path}: lies inside {folder}, a folder clinqa made; give another")


def write_file(path: Path, content: str | bytes, *, private: bool) -> None:
    """Write a result file whole or not at all, readable by its owner alone where private."""
    body = content.encode("utf-8") if isinstance(content, str) else content
    if path.is_symlink():
        raise ConfigError(f"{path}: is a symbolic link; give the file itself")
    if path.is_dir():
        raise ConfigError(f"{path}: is a folder; give a file")
    try:
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        write_durably(path, body, private=private, through=beside)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"{path}: cannot be written ({why})") from error
