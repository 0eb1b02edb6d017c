"""The door to small tables: delimiters, encodings, marks of the byte order, packed files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.small_tables import read_small_table

TEXT = "id,name\n1,Señor\n2,Köln\n"


def write(folder: Path, data: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"]
)
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_table_is_the_same_in_every_encoding_and_with_every_delimiter(
    tmp_path: Path, encoding: str, mark: str
) -> None:
    table = read_small_table(write(tmp_path, TEXT.replace(",", mark).encode(encoding)))
    assert table.columns == {"id": ["1", "2"], "name": ["Señor", "Köln"]}
    assert list(table.numbers) == [2, 3]
    guessed = encoding in ("latin-1", "cp1252")
    assert ("read as Windows-1252" in " ".join(table.told)) is guessed


def test_a_delimiter_inside_names_or_cells_does_not_part_them(tmp_path: Path) -> None:
    header = "id;Income, USD, net, yearly;Sex\n"
    table = read_small_table(write(tmp_path, (header + "1;5,0;F\n2;6,5;M\n").encode()))
    assert list(table.columns) == ["id", "Income, USD, net, yearly", "Sex"]
    assert table.columns["Sex"] == ["F", "M"] and not table.comma


def test_a_packed_table_is_read_and_a_torn_one_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT.encode())
    table = read_small_table(write(tmp_path, packed, "patients.csv.gz"))
    assert table.columns["name"] == ["Señor", "Köln"]
    with pytest.raises(SourceError, match="no whole gzip file"):
        read_small_table(write(tmp_path, packed[:-9], "torn.csv.gz"))


def test_a_damaged_utf_8_file_names_the_row_and_is_read_as_nothing_else(tmp_path: Path) -> None:
    damaged = "id,name\n1,Señor\n2,".encode() + b"K\xf6ln\n"
    with pytest.raises(ConfigError, match="row 3 is not UTF-8"):
        read_small_table(write(tmp_path, damaged), error=ConfigError)


def test_numbers_that_a_spreadsheet_was_told_are_text_are_text(tmp_path: Path) -> None:
    table = read_small_table(write(tmp_path, b'id,x\n="0101",1\n"=""0102""",2\n'))
    assert table.columns["id"] == ["0101", "0102"]


def test_lines_that_end_in_any_way_are_rows(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        table = read_small_table(write(tmp_path, TEXT.replace("\n", end).encode()))
        assert table.columns["id"] == ["1", "2"]
