"""The commands of the README, as written there, and the demo."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from clinqa.cli.command_line import run

README = Path(__file__).resolve().parents[2] / "README.md"

pytestmark = pytest.mark.skipif(
    find_spec("clinqa.builders.reports.pipeline") is None, reason="there is no pipeline to run"
)


def blocks() -> list[str]:
    """The indented blocks of the README's worked example."""
    example = README.read_text(encoding="utf-8").partition("## Your own CSV")[2]
    found = re.findall(r"(?:^    .*\n)+", example.partition("\n## ")[0], flags=re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


def test_the_worked_example_of_the_readme_works_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, commands = blocks()[:2]
    monkeypatch.chdir(tmp_path)
    Path("reports.csv").write_text(table, encoding="utf-8")
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        assert program.endswith("clinqa")
        assert run(arguments) == 0, capsys.readouterr().err
    assert run(["show", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["ok"] is True
    assert Path("mine/manifest.json").is_file()


def test_the_demo_runs_twice_and_ends_with_a_page_that_says_how_to_make_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run(["demo", "--studies", "40"]) == 0, capsys.readouterr().err
    captured = capsys.readouterr()
    assert "The results lie in demo/dataset" in captured.out
    assert captured.out.endswith("Open the page in a browser: demo/report.html\n")
    assert captured.err == ""
    page = Path("demo/report.html").read_text(encoding="utf-8")
    for line in (
        "clinqa predict demo/dataset --model baseline:prior --seed 0 --out demo/runs/prior",
        "clinqa score demo/dataset demo/runs/retrieval demo/runs/prior --out demo/scores",
    ):
        assert line in page


def test_the_same_build_again_is_already_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["simulate", "echo", "--studies", "20", "--out", "reports.csv"]) == 0
    assert run(["build", "echo", "reports.csv", "--out", "d"]) == 0
    capsys.readouterr()
    assert run(["build", "echo", "reports.csv", "--out", "d"]) == 0
    assert "already done" in capsys.readouterr().out
    assert run(["build", "echo", "reports.csv", "--out", "d", "--seed", "5", "--json"]) == 2
    assert "seed" in json.loads(capsys.readouterr().out)["error"]


def test_columns_that_are_not_there_are_listed_with_the_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text("alpha,beta\n1,Mild MR.\n", encoding="utf-8")
    assert run(["build", "echo", "odd.csv", "--out", "d", "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    for word in ("alpha", "beta", "--text-col"):
        assert word in error
    assert "Mild MR" not in error


@pytest.mark.full
def test_the_dataset_loads_by_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    from datasets import load_dataset

    assert run(["simulate", "echo", "--studies", "40", "--out", "reports.csv"]) == 0
    assert run(["build", "echo", "reports.csv", "--out", "mine"]) == 0
    loaded = load_dataset("mine", cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "validation", "test"}
    assert {"question", "context", "answer", "spans"} <= set(loaded["train"].column_names)
