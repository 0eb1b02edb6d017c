"""clinqa report through the command line: exits, one line of error, one object of JSON."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from clinqa.cli.command_line import run
from present.made_scores import RUNS, write_scores


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_scores(tmp_path / "scores", RUNS[-3:])


def test_the_page_is_made_and_counted(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "deep" / "page.html"
    assert run(["report", str(scores), "-o", str(page), "--title", "Mine", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] and told["out"] == str(page) and told["counts"]["runs"] == 3
    assert "<title>Mine</title>" in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_no_examples_leaves_the_text_of_records_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = write_scores(tmp_path / "s", RUNS[:2], text={"answer": "OKAPI"})
    page = tmp_path / "page.html"
    assert run(["report", str(made), "-o", str(page), "--no-examples"]) == 0
    assert "OKAPI" not in page.read_text() and "text of records" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "code"), [("nothing", 3), ("scores", 2)], ids=["no scores", "page is a folder"]
)
def test_what_cannot_be_is_one_line(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    out = tmp_path / ("page.html" if code == 3 else "scores")
    assert run(["report", str(tmp_path / name), "-o", str(out)]) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
