"""Nothing comes of an input: never exit code 0, whatever is built or asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asking.made_dataset import write_dataset
from clinqa.cli.command_line import run

QUESTION = {"id": "1", "question": "What?", "options": ["a", "b"], "answer_idx": 0}
SPECIALTY = ("specialty", "--annotator", "metadata")
EMPTY: list[tuple[list[str], str, str]] = [
    (["echo"], "r.csv", "study_id,subject_id,text\n1,2,nothing at all\n"),
    (["echo"], "h.csv", "study_id,subject_id,text\n"),
    (["ecg"], "x.pdf", "no PDF"),
    (["ecg"], "z.pdf", ""),
    (["bank-tf"], "off_topic.jsonl", json.dumps(QUESTION)),
    (["bank-tf"], "bad.jsonl", json.dumps({**QUESTION, "question": ""})),
    (["bank-tf"], "none.jsonl", ""),
    ([*SPECIALTY], "bad.jsonl", json.dumps({**QUESTION, "question": ""})),
    ([*SPECIALTY], "none.jsonl", ""),
]  # fmt: skip


@pytest.mark.parametrize(("told", "name", "text"), EMPTY)
def test_a_build_of_which_no_item_comes_ends_with_3(
    told: list[str], name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    command = ["build", *told, str(tmp_path / name), "--out", str(out)]
    assert run(command) == 3
    said = capsys.readouterr().err
    assert "error: " in said
    made = (out / "manifest.json").exists()
    assert made == ("a dataset without an item" in said)
    assert made or not out.exists()
    assert run(command) == 3  # also where it is done already


def test_a_run_that_would_ask_nothing_is_refused_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write_dataset(tmp_path / "ds")
    for more, words in (
        (["--split", "validation"], "holds no items"),
        (["--category", "nothing"], "no items of --category nothing"),
        (["--category", "nothing", "--dry-run"], "no items of --category nothing"),
    ):
        out = tmp_path / "run"
        told = ["predict", str(dataset), "--model", "baseline:prior", "--out", str(out), *more]
        assert run(told) == 2
        assert words in capsys.readouterr().err
        assert not out.exists()
