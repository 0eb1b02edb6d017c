"""The verb predict: exit codes, one object, nothing said twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asking.made_dataset import predictions, write_dataset
from clinqa.cli import main


def script(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "dataset", data_class="restricted")


def test_a_run_says_its_counts_and_a_second_call_that_it_is_done(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["predict", str(dataset), "--model", "baseline:prior", "--out", str(tmp_path / "run")]
    assert main([*told, "--repeats", "3"]) == 0
    said = capsys.readouterr()
    assert "deterministic" in said.out
    assert "answered                      18" in said.out
    assert said.err == ""
    assert main([*told, "--repeats", "3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["verb"], record["ok"], record["counts"]["asked"]) == ("predict", True, 18)
    assert main(told) == 2
    assert "repeats (3 there, 1 now)" in capsys.readouterr().err


def test_scripted_answers_of_each_kind_are_counted(dataset: Path, tmp_path: Path) -> None:
    replies = script(
        tmp_path / "s.jsonl",
        {"match": "lv wall", "output": "Mild."},
        {"match": "mitral", "output": "", "finish_reason": "refusal"},
        {"match": None, "output": ""},
    )
    run = tmp_path / "run"
    model = f"scripted:{replies}"
    told = ["predict", str(dataset), "--model", model, "--shots", "2", "--out", str(run)]
    assert main(told) == 0
    statuses = [one["answer_status"] for one in predictions(run)]
    assert sorted(set(statuses)) == ["answered", "empty", "refused"]
    assert len(statuses) == 18


@pytest.mark.parametrize(
    ("told", "code", "words"),
    [
        (["--model", "magic:x"], 2, "no such kind of model"),
        (["--model", "openai:x", "--base-url", "http://192.0.2.1/v1"], 4, "restricted"),
        (["--model", "baseline:prior", "--data-class", "public"], 4, "cannot be less"),
        (["--model", "scripted:/nowhere.jsonl"], 2, "cannot be read"),
        (["--model", "openai:x", "--base-url", "http://u:secretpw@h/v1"], 2, "name or password"),
        (["--model", "baseline:prior", "--vary", "shots"], 2, "--vary shots"),
    ],
)
def test_what_goes_wrong_is_one_line_and_its_exit_code(
    dataset: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    told: list[str],
    code: int,
    words: str,
) -> None:
    assert main(["predict", str(dataset), "--out", str(tmp_path / "run"), *told]) == code
    said = capsys.readouterr().err
    assert words in said
    assert len(said.splitlines()) == 1
    assert "secretpw" not in said


def test_a_service_that_only_fails_is_exit_5(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = {"match": None, "output": "", "finish_reason": "error", "error": "server"}
    replies = script(tmp_path / "s.jsonl", failing)
    run = tmp_path / "run"
    told = ["predict", str(dataset), "--model", f"scripted:{replies}", "--out", str(run)]
    assert main([*told, "--max-parallel", "4"]) == 5
    assert "in a row (server 10)" in capsys.readouterr().err
    assert not (run / "manifest.json").exists()


def test_a_dry_run_writes_nothing(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    told = ["predict", str(dataset), "--model", "baseline:prior", "--out", str(run), "--dry-run"]
    assert main(told) == 0
    assert "would read 18 items of split test" in capsys.readouterr().out
    assert not run.exists()


def test_options_of_no_use_to_a_model_are_said_once_and_change_no_answer(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = script(tmp_path / "s.jsonl", {"match": None, "output": "Mild."})
    told, here = ["predict", str(dataset), "--limit", "3"], "http://127.0.0.1:9/v1"
    for model, given, useless in (
        (
            "baseline:prior",
            ["--temperature", "0.5", "--train-from", str(dataset)],
            ["--temperature"],
        ),
        ("baseline:retrieval", ["--train-from", str(dataset)], ["--train-from"]),
        ("baseline:prior", ["--device", "cpu", "--base-url", here], None),
        (f"scripted:{replies}", ["--max-tokens", "9", "--region", "x"], ["--region"]),
        ("openai:x", ["--dtype", "float32", "--base-url", here, "--dry-run"], ["--dtype"]),
        ("baseline:prior", [], []),
    ):
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        assert main([*told, "--model", model, *given, "--out", str(out)]) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if "of no use" in line]
        names = ["--base-url", "--device"] if useless is None else useless
        expected = f"warning: {', '.join(names)}: of no use to {model}, and ignored"
        assert said == ([expected] if names else [])


def test_a_design_of_orders_without_orders_is_refused(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["predict", str(dataset), "--model", "baseline:prior", "--out", str(tmp_path / "run")]
    for more, words in (([], "give --orders K"), (["--orders", "2"], "multiple_choice items")):
        assert main([*told, "--order-design", "cyclic", *more]) == 2
        assert words in capsys.readouterr().err


def test_refusals_in_words_are_told_beside_the_answers_they_are_counted_with(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = script(
        tmp_path / "s.jsonl",
        {"match": "mitral", "output": "I'm sorry, I cannot answer that."},
        {"match": None, "output": "Mild."},
    )
    out = str(tmp_path / "run")
    assert main(["predict", str(dataset), "--model", f"scripted:{replies}", "--out", out]) == 0
    said = capsys.readouterr()
    assert "answered                      18" in said.out
    assert "6 of 18 answers are refusals in words: counted as answered here" in said.err
