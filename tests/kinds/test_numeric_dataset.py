"""A kind of another package has its datasets checked, shown and exported, and no room knows it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clinqa.cli import main
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.verify import verify
from clinqa.kinds import registry
from clinqa.kinds.registry import register
from kinds.numeric import KIND
from kinds.numeric.columns import NUMERIC
from kinds.numeric.made import dataset
from sealing import list_again


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(registry, "_MORE", {})
    register(KIND)
    return dataset(tmp_path / "numbers")


def test_its_kind_is_read_from_its_items(folder: Path) -> None:
    assert open_dataset(folder).kind is KIND


def test_its_card_and_croissant_tell_its_columns(folder: Path) -> None:
    assert "| `tolerance` | How far from it is still right |" in (folder / "README.md").read_text()
    body = json.loads((folder / "croissant.json").read_text())
    fields = {field["name"]: field for field in body["recordSet"][0]["field"]}
    assert fields["value"]["dataType"] == "sc:Float"
    assert fields["tolerance"]["description"] == "How far from it is still right"


def test_it_is_verified_by_what_every_dataset_and_its_own_must_hold(folder: Path) -> None:
    assert verify(folder) == []
    path = folder / "data/test-00000-of-00001.parquet"
    rows = pq.ParquetFile(path).read().to_pylist()
    changed = pa.Table.from_pylist([{**rows[0], "value": 1.0}, *rows[1:]], schema=NUMERIC)
    pq.write_table(changed, path, store_schema=False)
    list_again(folder)
    assert [problem.check for problem in verify(folder)] == ["numbers"]


def test_it_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(folder)]) == 0
    assert "Numbers" in capsys.readouterr().out
    assert main(["show", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["splits"] == {"train": 20, "validation": 0, "test": 10}
    for option in (["--examples", "1"], ["--plot", str(folder.parent / "numbers.svg")]):
        assert main(["show", str(folder), *option]) == 2
    assert main(["show", str(folder), "--compare", str(folder)]) == 2


@pytest.mark.parametrize("to", ["chat", "lm-eval", "inspect"])
def test_it_is_exported(folder: Path, tmp_path: Path, to: str) -> None:
    out = tmp_path / to
    assert main(["export", str(folder), "--to", to, "--out", str(out)]) == 0
    lines = (out / "train.jsonl").read_text().splitlines()
    assert len(lines) == 20 and "50.0" in lines[0]
