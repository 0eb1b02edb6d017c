"""What the verbs accept, and what their help says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clinqa.cli.app import VERBS, loaded, verb_named_by
from clinqa.cli.command_line import run
from clinqa.cli.demo import refuse_foreign
from clinqa.cli.outcome import Outcome
from clinqa.core.errors import ConfigError

MAKING = [["build", "echo"], ["simulate", "echo"], ["demo"]]
OTHERS = [["verify"], ["show"], ["lexicon", "propose"], ["lexicon", "accept"]]


@pytest.mark.parametrize("verb", [*MAKING, *OTHERS], ids=" ".join)
def test_every_verb_has_help_and_json(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*verb, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_verbs_stand_in_the_order_a_newcomer_needs_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["--help"])
    listing = capsys.readouterr().out.partition("Commands:")[2].split("\n")
    names = [line.split()[0] for line in listing if line.startswith("  ") and line[2] != " "]
    assert names == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_list_of_verbs_tells_what_their_own_help_says(verb: str) -> None:
    own = " ".join(loaded(verb).help.partition("\n\n")[0].split())
    assert own == VERBS[verb]


def test_build_has_the_options_of_every_making_verb(capsys: pytest.CaptureFixture[str]) -> None:
    run(["build", "echo", "--help"])
    text = capsys.readouterr().out
    for option in ("--out", "--dry-run", "--limit", "--seed", "--data-class", "--fresh"):
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["build", "echo", "x.csv"], "--out"),
        (["build", "echo", "--out", "x"], "INPUT"),
        (["build", "echo", "x.csv", "--out", "x", "--profile", "lax"], "published"),
        (["build", "echo", "x.csv", "--out", "x", "--limit", "0"], "--limit"),
        (["build", "echo", "x.csv", "--out", "x", "--unmentioned-share", "2"], "unmentioned-share"),
        (["build"], "Missing command"),
        (["simulate", "echo"], "--out"),
    ],
)
def test_wrong_usage_of_a_verb_says_what_is_wrong(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--json"]) == 2
    captured = capsys.readouterr()
    assert complaint in json.loads(captured.out)["error"]
    assert captured.err.count("\n") == 1


def test_a_dry_simulation_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports.csv"
    assert run(["simulate", "echo", "--out", str(out), "--dry-run"]) == 0
    assert "would write" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "verb"),
    [
        (["build", "echo", "x"], "build echo"),
        (["build", "--out", "echo"], "build"),
        (["verify", "build"], "verify"),
        (["nonsense", "verify"], ""),
        ([], ""),
    ],
)
def test_the_verb_is_named_even_where_the_rest_is_wrong(arguments: list[str], verb: str) -> None:
    assert verb_named_by(arguments) == verb


def test_a_demo_never_writes_over_anybodys_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ConfigError, match=r"1 things no demo wrote \(thesis.tex"):
        refuse_foreign(tmp_path)


def test_a_demo_never_writes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "demo").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match="not a folder of ours"):
        refuse_foreign(tmp_path / "demo")


def test_a_demo_may_be_run_again(tmp_path: Path) -> None:
    (tmp_path / "reports.csv").touch()
    (tmp_path / "reports.gold.jsonl").touch()
    (tmp_path / "dataset").mkdir()
    refuse_foreign(tmp_path)


def test_an_outcome_becomes_plain_json_types() -> None:
    class Number:
        def item(self) -> int:
            return 4

    counts = {"a": (1, 2.5), "b": {3: float("inf")}, "c": Number()}
    record = Outcome("build echo", Path("x"), counts)
    assert record.record()["counts"] == {"a": [1, 2.5], "b": {"3": None}, "c": 4}
    assert record.record()["out"] == "x"


def test_a_simulation_is_written_over_only_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports.csv"
    command = ["simulate", "echo", "--studies", "3", "--out", str(out)]
    assert run(command) == 0
    first = out.read_bytes()
    assert run(command) == 2
    assert "--fresh" in capsys.readouterr().err
    assert run([*command, "--fresh", "--seed", "9"]) == 0
    assert out.read_bytes() != first


def test_real_reports_are_never_written_over_by_a_simulation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports.csv"
    out.write_text("row_id,text\n", encoding="utf-8")
    assert run(["simulate", "echo", "--studies", "3", "--out", str(out), "--fresh"]) == 2
    assert "no simulation of ours" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "row_id,text\n"


def test_verify_of_an_unfinished_folder_is_exit_1_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", str(tmp_path), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["counts"]["problems"] == 1
    assert "manifest.json" in record["error"]


def test_verify_of_no_folder_is_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "echo", "--out", ""],
        ["build", "echo", "", "--out", "d"],
        ["build", "echo", "r.csv", "--out="],
    ],
)
def test_an_empty_argument_is_no_name_for_the_folder_one_stands_in(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert "an empty argument" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_current_folder_is_no_file_of_a_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["simulate", "echo", "--out", "."]) == 2
