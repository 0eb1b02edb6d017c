"""`clinqa build specialty` on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from clinqa.cli.command_line import run
from studying.made_bank import made_bank

PLAIN = ["build", "specialty", "bundled", "--annotator", "metadata", "--sets", "none"]


def test_the_bundled_bank_needs_no_file_and_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*PLAIN, "--out", str(tmp_path / "out"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verb"] == "build specialty" and said["counts"]["items"] == 120
    assert run([*PLAIN, "--out", str(tmp_path / "out")]) == 0
    assert "already done" in capsys.readouterr().out
    assert run(["verify", str(tmp_path / "out")]) == 0


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PLAIN, "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    assert "would read" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-file.jsonl", "--annotator", "metadata"], 3),
        (["bundled"], 2),
        (["bundled", "--annotator", "llm"], 2),
        (["bundled", "--annotator", "metadata", "--quorum", "2"], 2),
        (["bundled", "--annotator", "metadata", "--alpha", "7"], 2),
        (["bundled", "--expert", "bundled", "--sets", "class"], 2),
    ],
)
def test_what_cannot_be_ends_with_its_exit_code_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    out = tmp_path / "out"
    assert run(["build", "specialty", *arguments, "--out", str(out)]) == code
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("error: ") and "Traceback" not in error
    assert not (out / "manifest.json").exists()


def test_restricted_text_is_not_sent_to_a_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    command = ["build", "specialty", "bundled", "--annotator", "llm", "--model", "openai:x"]
    place = ["--base-url", "http://192.0.2.1:9/v1", "--out", str(tmp_path / "out")]
    assert run([*command, *place, "--data-class", "restricted", "--sets", "none"]) == 4
    assert "restricted" in capsys.readouterr().err


def test_the_word_bundled_is_refused_where_a_path_is_called_so_and_taken_with_a_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(made_bank(tmp_path / "made").parent / "bank.jsonl", tmp_path / "bundled")
    for told in (
        ["bundled", "--annotator", "metadata"],
        ["made/bank.jsonl", "--expert", "bundled"],
    ):
        assert run(["build", "specialty", *told, "--out", "out"]) == 2
        assert "write ./bundled for that one" in capsys.readouterr().err
    told = ["./bundled", "--annotator", "metadata"]
    assert run(["build", "specialty", *told, "--out", "out"]) == 3
    assert "bundled is none of .jsonl" in capsys.readouterr().err
