"""The page of multiple-choice scores: nothing of a record on it, nothing claimed without a test."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clinqa.cli import main
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.kinds.multiple_choice.choice_says import sentences
from clinqa.present.folders import read_folders
from clinqa.present.page_options import PageOptions
from clinqa.present.report import write_report
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from present.pages import render
from scoring.choice.made_choices import Weighing, content, dataset, first, row, rows, run


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fixed = row(900, ["x", "y", "Both A and B"], 2, category="<b>Surgery</b>")
    data = dataset(tmp_path / "data", test=[*rows(24), fixed])
    runs = [
        run(monkeypatch, data, "content", Weighing(content), orders=4, first_token=True),
        run(monkeypatch, data, "first", first, orders=4),
        run(monkeypatch, data, "bank", first),
    ]
    score(data.folder, runs, tmp_path / "scores", ScoreOptions(draws=100))
    return tmp_path / "scores"


def test_the_page_shows_readers_orders_positions_and_tests(scores: Path) -> None:
    html = render(scores)
    for words in ("trained matcher", "first token", "string match", "unshuffled", "by chance",
                  "Accuracy by order", "Picks by position", "p, Holm", "made up"):  # fmt: skip
        assert words in html, words
    assert html.count("<svg") >= 4 and "<script>" not in html
    assert "&lt;b&gt;Surgery" in html and "<b>Surgery" not in html
    assert "thing 0" not in html and "Both A" not in html


def test_a_leaning_is_said_where_the_test_says_it(scores: Path) -> None:
    said = {line.partition(":")[0]: line for line in sentences(read_folders([scores])[0])}
    assert "A most often of 4" in said["first"]
    assert "no leaning" in said["content"]
    assert "bank" not in said  # asked in one order: nothing can be said
    # runs in other kinds of orders are not compared, and the page says no more than that
    assert ": bank, 0." in said["Accuracy, read by string match (the bank's order)"]
    best = said["Highest accuracy, read by string match (4 random orders)"]
    assert "bank" not in best.partition(":")[2]
    assert "Runs asked in different ways are not comparable by these figures." in said


def test_the_report_writes_it_and_figures_stand_in_it_once_more(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = scores.parent / "page.html"
    assert main(["report", str(scores), "-o", str(page), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["runs"] == 3 and told["counts"]["tests"] > 0
    html = page.read_text(encoding="utf-8")
    body = re.search(
        r'<script type="application/json" id="clinqa-figures">(.*?)</script>', html, re.S
    )
    assert body is not None
    inside: dict[str, Any] = json.loads(body[1])
    own = json.loads((scores / "scores.json").read_text())
    assert len(inside["figures"]) == len(own["figures"])
    assert inside["positions"] == own["meta"]["positions"]


def test_two_folders_are_refused(scores: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one folder"):
        write_report([scores, scores], tmp_path / "page.html")


def test_figures_and_tables_for_a_paper_come_with_the_page(scores: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_report(
        [scores], tmp_path / "page.html", PageOptions(figures=tmp_path / "figures")
    )
    assert {"figures/results.svg", "figures/recall.pdf", "tables/main.tex"} <= set(written.files)
    own = (tmp_path / "figures/tables/by_position.csv").read_bytes()
    assert own == (scores / "tables/by_position.csv").read_bytes()
    assert "trained matcher" in (tmp_path / "figures/tables/main.csv").read_text()


def test_scores_that_were_edited_are_refused(scores: Path) -> None:
    path = scores / "scores.json"
    path.write_text(path.read_text() + " ", encoding="utf-8")
    with pytest.raises(CheckFailed, match="changed since"):
        read_folders([scores])
