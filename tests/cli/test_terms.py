"""`clinqa terms` as it is typed: outcomes, exit codes, and nothing of a question on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.cli import main
from terms.made_terms import build, write_obo


def _run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    build(folder)
    write_obo(folder)
    return folder


def test_terms_are_found_and_counted(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = made / "out"
    code = _run("terms", "find", made / "dataset", "--hpo", made / "hp.obo", "--out", out, "--json")
    said = json.loads(capsys.readouterr().out)
    assert code == 0 and said["verb"] == "terms find"
    assert said["counts"]["occurrences"] == 11 and said["counts"]["items_with_terms"] == 6
    assert (out / "overlap.svg").is_file() and (out / "overlap.dark.svg").is_file()
    assert _run("terms", "find", made / "dataset", "--hpo", made / "hp.obo", "--out", out) == 0
    spoken = capsys.readouterr()
    assert "already done" in spoken.out
    assert "headache" not in (spoken.out + spoken.err).casefold()


def test_a_dry_run_writes_nothing(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = made / "dry"
    code = _run(
        "terms", "find", made / "dataset", "--hpo", made / "hp.obo", "--out", out, "--dry-run"
    )
    assert code == 0 and not out.exists()
    assert "would send nothing anywhere" in capsys.readouterr().out


def test_what_cannot_be_is_refused_with_its_exit_code(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset, out = made / "dataset", tmp_path / "out"
    assert _run("terms", "find", dataset, "--source", "snomed", "--out", out) == 2
    assert _run("terms", "find", tmp_path, "--out", out) == 2
    assert _run("terms", "find", dataset, "--hpo", tmp_path / "none.obo", "--out", out) == 3
    text = tmp_path / "text.obo"
    text.write_text("no ontology\n")
    assert _run("terms", "find", dataset, "--hpo", text, "--out", out) == 3
    asked = ("--terms", tmp_path, "--model", "embedded:smollm2", "--out", out)
    assert _run("terms", "logprobs", dataset, *asked, "--adapter", tmp_path) == 2
    assert "adapter_model.safetensors" in capsys.readouterr().err


def test_a_class_is_raised_and_never_lowered(made: Path, tmp_path: Path) -> None:
    options = ("--hpo", made / "hp.obo")
    out = tmp_path / "phi"
    assert (
        _run("terms", "find", made / "dataset", *options, "--out", out, "--data-class", "phi") == 0
    )
    assert all(p.stat().st_mode & 0o077 == 0 for p in out.rglob("*") if p.is_file())
    assert json.loads((out / "manifest.json").read_text())["data_class"] == "phi"
