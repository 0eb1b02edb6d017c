"""The cells of a small CSV file as somebody typed or saved it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from clinqa.core.errors import SourceError
from clinqa.core.yamlfile import read_bytes

__all__ = ["read_cells"]

_MOST = 1 << 20


def read_cells(path: Path) -> list[list[str]]:
    """Rows of cells without blanks around them; rows that hold nothing are left out."""
    try:
        # a mark of the byte order is no part of the first cell, and a line may end in any way
        text = read_bytes(path, _MOST).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8") from error
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, None))]
    except csv.Error as error:
        raise SourceError(f"{path}: cannot be read as CSV") from error
    return [row for row in rows if any(row)]
