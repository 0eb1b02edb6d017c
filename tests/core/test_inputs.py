"""What a stage reads comes through one door."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clinqa
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.inputs import read_parquet


def test_a_table_is_read_whole_or_by_column(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet").equals(table)
    assert read_parquet(tmp_path / "t.parquet", ("b",)).column_names == ["b"]


def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    with pytest.raises(ConfigError, match=r"t\.parquet: cannot be read \(FileNotFoundError\)$"):
        read_parquet(path)
    path.write_bytes(b"PAR1 no table")
    with pytest.raises(SourceError, match=r"cannot be read \(.*\); score again"):
        read_parquet(path, advice="score again", error=SourceError)


def test_tables_are_opened_by_the_two_doors() -> None:
    opened = re.compile(r"\bpq\.(ParquetFile\(|read_\w+)|\bpl\.(read|scan)_parquet")
    home = Path(clinqa.__file__).parent
    found = [
        str(path.relative_to(home))
        for path in home.rglob("*.py")
        if path.relative_to(home).parts[0] != "sources"  # of which nothing was promised
        and opened.search(path.read_text("utf-8"))
    ]
    assert sorted(found) == ["core/finished.py", "core/inputs.py"]
