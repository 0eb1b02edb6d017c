"""Paths whose bytes are no UTF-8: refused before anything is done, or read and told with U+FFFD."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from asking.made_dataset import write_dataset
from clinqa.cli.command_line import run
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import open_out
from made_notes import write_csv

ODD = os.fsdecode(b"d\xe9")


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    try:
        (tmp_path / ODD).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    return tmp_path / ODD


@pytest.mark.parametrize(
    "told",
    [
        ("build", "echo", "{}/r.csv", "--out", "out"),
        ("build", "ecg", "{}/r.pdf", "--out", "out"),
        ("build", "bank-tf", "{}/r.jsonl", "--out", "out"),
        ("predict", "{}", "--model", "baseline:prior", "--out", "out"),
        ("predict", "ds", "--model", "openai:x", "--base-url", "http://127.0.0.1:9", "--out", "{}"),
        ("predict", "ds", "--model", "hf:{}", "--out", "out"),
        ("score", "{}", "run", "--out", "out"),
        ("audit", "ds", "run", "--groups={}/g.csv", "--out", "out"),
        ("verify", "{}"),
        ("show", "{}"),
        ("export", "{}", "--to", "chat", "--out", "out"),
        ("study", "run", "{}/s.yaml", "--out", "out"),
    ],
)
def test_a_word_that_is_not_utf8_is_refused_by_every_verb(
    told: tuple[str, ...],
    odd: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(odd.parent)
    assert run([word.format(odd) for word in told]) == 2
    said = capsys.readouterr().err
    assert "d\\xe9" in said and "not UTF-8" in said
    assert not Path("out").exists() and not any(odd.iterdir())


def test_a_folder_above_that_is_not_utf8_is_refused_before_the_work(
    odd: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(odd.parent / "ds")
    monkeypatch.chdir(odd)
    assert run(["predict", "../ds", "--model", "baseline:prior", "--out", "run"]) == 2
    assert "not UTF-8" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="not UTF-8"):
        open_out(odd / "run", {"verb": "predict"})
    assert not any(odd.iterdir())


def test_files_with_such_names_in_a_folder_of_reports_are_read_or_rejected_by_name(
    tmp_path: Path, odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    table = write_csv(reports / "r.csv", [("s1", "p1", "MITRAL VALVE: Mild MR.")])
    shutil.move(table, reports / os.fsdecode(b"r\xe9.csv"))
    (reports / os.fsdecode(b"n\xe9.txt")).write_text("MITRAL VALVE: Severe MR.")
    (reports / os.fsdecode(b"q\xe9.parquet")).write_bytes(b"PAR1")
    out = tmp_path / "out"
    assert run(["build", "echo", str(reports), "--out", str(out)]) == 0
    manifest = Manifest.read(out / "manifest.json")
    assert {"r\ufffd.csv", "q\ufffd.parquet"} <= {one.name for one in manifest.inputs}
    assert manifest.counts["studies"].kept == 2
    assert "q\ufffd.parquet: has a name that is not UTF-8" in " ".join(manifest.warnings)
    assert run(["verify", str(out)]) == 0
    capsys.readouterr()


def test_a_bank_with_such_a_name_in_a_folder_is_refused(
    odd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (odd.parent / "banks").mkdir()
    (odd.parent / "banks" / os.fsdecode(b"b\xe9.jsonl")).write_text("{}")
    out = odd.parent / "out"
    assert run(["build", "bank-tf", str(odd.parent / "banks"), "--out", str(out)]) == 2
    assert "b\\xe9.jsonl: the name is not UTF-8" in capsys.readouterr().err
    assert not out.exists()
