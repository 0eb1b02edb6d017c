"""The page of a panel: what it says, that nothing runs or is fetched, and what it refuses."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.kinds.facets.charts import Bar, HeatMap, Histogram, Plane, PlanePoint
from clinqa.present.html import drawn
from clinqa.present.report import write_report
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset, run


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    data = dataset(folder / "data")
    runs = [
        run(folder / "good", data, lambda n, label: str(label if n % 10 else not label)),
        run(folder / "fair<b>", data, lambda n, label: str(label if n % 3 else True)),
        run(folder / "yes", data, lambda n, label: "True"),
    ]
    options = ScoreOptions(draws=200, ensembles=("all=good,fair<b>,yes",))
    score(data.folder, runs, folder / "scores", options)
    return folder / "scores"


@pytest.fixture(scope="module")
def html(scores: Path) -> str:
    page = scores.parent / "panel.html"
    write_report([scores], page)
    return page.read_text(encoding="utf-8")


def test_the_page_holds_every_part_and_explains_the_interval_without_width(html: str) -> None:
    for part in ("summary", "results", "planes", "agreement", "ensembles", "difficulty", "tests"):
        assert f'<h2 id="{part}">' in html
    assert "on any pairs" in html and "no pair is told apart" in html
    for chart in ("chart-primary", "chart-pairs", "chart-roc", "chart-pr", "chart-kappa"):
        assert f'id="{chart}-title"' in html


def test_nothing_on_the_page_runs_or_is_fetched(html: str) -> None:
    policy = unescape(html)
    assert "script-src 'none'" in policy and "default-src 'none'" in policy
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", html)
    assert " style=" not in html and "onload" not in html
    assert "fair<b>" not in html and "fair&lt;b&gt;" in html


def test_the_figures_stand_in_the_page_as_json_and_no_statement_does(html: str) -> None:
    found = re.search(
        r'<script type="application/json" id="clinqa-figures">(.*?)</script>', html, re.S
    )
    assert found is not None
    data = json.loads(found[1])
    assert data["figures"] and data["panel"]["agreement"]["judges"]
    assert "Made statement" not in html


def test_edited_scores_are_refused_and_two_panels_do_not_share_a_page(
    scores: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="one panel"):
        write_report([scores, scores], tmp_path / "two.html")
    copy = tmp_path / "scores"
    copy.mkdir()
    for name in ("scores.json", "items.parquet", "manifest.json"):
        (copy / name).write_bytes((scores / name).read_bytes())
    text = (copy / "scores.json").read_text().replace('"shots": 0', '"shots": 1', 1)
    (copy / "scores.json").write_text(text)
    with pytest.raises(CheckFailed, match="changed"):
        write_report([copy], tmp_path / "one.html")


def test_a_plane_draws_the_frontier_and_an_arrow_from_the_base() -> None:
    points = [
        PlanePoint(1, "base", "g-general", 0.5, 0.5, True, False),
        PlanePoint(2, "tuned", "g-general", 0.2, 0.4, True, False, base=1),
        PlanePoint(3, "beaten", "g-none", 0.6, 0.4, False, True),
    ]
    svg = drawn(Plane("c", "Title", ("x", "y"), points, "j"))
    assert svg.count('class="arrow"') == 1 and svg.count('class="front"') == 1
    assert svg.count('class="iso"') == 4
    assert drawn(Plane("c", "Title", ("x", "y"), points, "f1")).count('class="iso"') == 4


def test_a_heat_map_shows_what_does_not_exist_as_a_dash_and_minus_as_a_minus() -> None:
    names = ["one", "two"]
    values = [[1.0, None], [-0.25, 1.0]]
    svg = drawn(HeatMap("c", "Title", names, names, values, "told"))
    assert ">–<" in svg and ">−0.25<" in svg and "cell below" in svg


def test_a_histogram_counts_true_and_false_apart() -> None:
    bars = [
        Bar(right, (("True", true, "e1"), ("False", false, "e3")))
        for right, true, false in (("0", 1, 2), ("1", 0, 0))
    ]
    chart = Histogram("c", "Title", bars, ("models that are right", "statements"))
    assert drawn(chart).count("<rect") == 4


def test_points_too_close_for_two_labels_share_one() -> None:
    points = [PlanePoint(n, "x", "g-none", 0.5 + n / 100, 0.5, False, False) for n in (1, 2)]
    assert ">1, 2<" in drawn(Plane("c", "Title", ("x", "y"), points, "j"))
