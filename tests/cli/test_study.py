"""`clinqa study` on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from clinqa.cli.command_line import run
from studying.made_bank import made_bank, study_file
from studying.made_study import made_table


def test_a_table_becomes_matrix_tests_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made_table(3, effect=1.5, questions=20).write_csv(tmp_path / "t.csv")
    words = ["study", "table", str(tmp_path / "t.csv"), "--resamples", "200"]
    out = tmp_path / "out"
    assert run([*words, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "full: 60 questions in 3 orders" in said
    assert "Diagonal minus off-diagonal +" in said
    assert "p cannot be below 1/6" in said
    for name in ("matrix.svg", "matrix-dark.svg", "matrix.pdf", "matrix.parquet", "right.parquet"):
        assert (out / name).stat().st_size > 500
    with (out / "tests.csv").open(encoding="utf-8") as file:
        tests = list(csv.DictReader(file))
    assert {row["family"] for row in tests} == {
        "own vs other specialties", "own vs all mixed", "own vs untrained",
    }  # fmt: skip
    assert all(float(row["p_holm"]) >= float(row["p"]) for row in tests)
    found = json.loads((out / "study.json").read_text(encoding="utf-8"))
    assert found["arms"]["full"]["permutation"] is None
    assert all(figure["signature"] for figure in found["figures"])
    assert run([*words, "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"cells": 15, "tests": 12}
    assert run([*words, "--seed", "4", "--out", str(out)]) == 2
    assert "seed" in capsys.readouterr().err


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    made_table(3, questions=10).write_parquet(tmp_path / "t.parquet")
    for name in ("one", "two"):
        words = ["study", "table", str(tmp_path / "t.parquet"), "--resamples", "100"]
        assert run([*words, "--out", str(tmp_path / name)]) == 0
    for name in ("matrix.csv", "tests.csv", "study.json", "matrix.svg"):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.full
def test_a_check_and_a_dry_run_say_the_same_and_write_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny

    made_bank(tmp_path)
    plain = "settings: {max_steps: 1, best_by: none, precision: f32, quantization: none}"
    file = str(study_file(tmp_path, plain, model=f"hf:{make_tiny(tmp_path / 'base')}"))
    assert run(["study", "check", file]) == 0
    checked = capsys.readouterr().out
    assert "21 trainings" in checked
    assert run(["study", "run", file, "--dry-run", "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out == checked
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["study", "matrix", "MISSING.csv"], 2, "cannot be read"),
        (["study", "table", "MISSING.csv", "--out", "OUT"], 3, "cannot be read"),
        (["study", "check", "MISSING.yaml"], 2, "cannot be read"),
        (["study", "run", "MISSING.yaml", "--out", "OUT"], 2, "cannot be read"),
        (["study", "totals", "t.csv"], 1, "the rows sum to 3, the table prints 4"),
    ],
)
def test_what_cannot_be_ends_with_its_exit_code_and_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("s,n\nA,1\nB,2\ntotal,4\n", encoding="utf-8")
    assert run(words) == code
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ") and said in error
