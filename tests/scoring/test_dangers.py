"""Dangerous errors of runs: who says nothing is not safe, and who answers less is not ranked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.made_runs import Item, reference, write_run


def normal(item: Item, repeat: int) -> str:
    return "It is normal."


def refusing(item: Item, repeat: int) -> str:
    return "I'm sorry, but I cannot provide medical advice."


def half_refusing(item: Item, repeat: int) -> str:
    return normal(item, repeat) if int(item["id"], 16) % 2 else refusing(item, repeat)


def scored(tmp_path: Path, dataset: Dataset, *runs: Path, **told: Any) -> tuple[Any, Any]:
    options = ScoreOptions(draws=100, **told)
    result = score(dataset.folder, runs, tmp_path / "scores", options)
    return json.loads((tmp_path / "scores" / "scores.json").read_text(encoding="utf-8")), result


def figures(scores: Any, run: str) -> dict[str, Any]:
    found = [one for one in scores["figures"] if one["run"].startswith(run) and not one["subset"]]
    return {one["metric"]: one for one in found}


def test_a_run_that_refuses_all_has_no_rate_of_answered_items(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [write_run(tmp_path / one.__name__, dataset, one) for one in (normal, refusing)]
    scores, result = scored(tmp_path, dataset, *runs)
    silent, told = figures(scores, "refusing"), figures(scores, "normal")
    assert silent["status_refused"]["value"] == 1 and silent["status_answered"]["value"] == 0
    assert silent["error_dangerous_any"]["value"] == 0 < told["error_dangerous_any"]["value"]
    assert silent["error_dangerous_answered"]["value"] is None
    for metric, one in silent.items():
        if metric.startswith("error_dangerous_") and metric != "error_dangerous_any":
            assert one["value"] is None and one["n"] == 0, metric
    # no test compares them, and the terminal gives the share that was answered beside the rate
    assert not any("dangerous" in test["metric"] for test in scores["tests"])
    assert any(test["metric"] == "status_answered" and test["p"] < 0.05 for test in scores["tests"])
    assert any("status_answered" in line and "refusing" in line for line in result.lines)
    assert all("they count as wrong" not in warning for warning in result.warnings)


def test_items_left_unanswered_are_in_the_one_rate_and_not_in_the_other(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, half_refusing)
    found = figures(scored(tmp_path, dataset, run)[0], "run")
    every, answered = found["error_dangerous_any"], found["error_dangerous_answered"]
    assert answered["n"] == pytest.approx(every["n"] * found["status_answered"]["value"])
    assert answered["value"] * answered["n"] == pytest.approx(every["value"] * every["n"])
    assert "answered items" in answered["signature"] and "all items" in every["signature"]


def test_dangerous_errors_are_tested_in_the_family_where_asked_for(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [write_run(tmp_path / one.__name__, dataset, one) for one in (normal, reference)]
    scores, _ = scored(tmp_path, dataset, *runs, dangers=True)
    declared = {test["metric"] for test in scores["tests"] if test["p_holm"] is not None}
    assert declared == {"token_f1", "error_dangerous_any", "error_dangerous_answered"}
    family = scores["meta"]["family"]
    assert family["comparisons"] == 3 and family["dangers"] == [
        "error_dangerous_any",
        "error_dangerous_answered",
    ]
    (test,) = [test for test in scores["tests"] if test["metric"] == "error_dangerous_any"]
    assert test["difference"] > 0 and test["p_holm"] < 0.05


def test_unless_asked_for_they_are_tested_and_decide_nothing(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [write_run(tmp_path / one.__name__, dataset, one) for one in (normal, reference)]
    scores, _ = scored(tmp_path, dataset, *runs)
    found = [test for test in scores["tests"] if "dangerous" in test["metric"]]
    assert len(found) == 2 and all(test["p_holm"] is None for test in found)


def test_dangerous_errors_may_be_the_primary_metric(tmp_path: Path, dataset: Dataset) -> None:
    runs = [write_run(tmp_path / one.__name__, dataset, one) for one in (normal, reference)]
    scores, _ = scored(tmp_path, dataset, *runs, primary="error_dangerous_any")
    assert scores["meta"]["family"]["lower"] is True
    (test,) = [test for test in scores["tests"] if test["p_holm"] is not None]
    assert test["metric"] == "error_dangerous_any"


def test_a_single_kind_of_danger_is_no_primary_metric(tmp_path: Path, dataset: Dataset) -> None:
    runs = [write_run(tmp_path / one.__name__, dataset, one) for one in (normal, reference)]
    with pytest.raises(ConfigError, match="error_dangerous_any"):
        scored(tmp_path, dataset, *runs, primary="error_dangerous_invented")
