"""The same models on several sets: ranks on each, tau of every two, and no set against itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau, rankdata

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset

#: the share of statements that a script of a name knows, by the pair's last digit
KNOWN = {"much": "0123456", "some": "01234", "little": "89"}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Path]]]:
    """Three sets, each asked of the same three scripts."""
    folder = tmp_path_factory.mktemp("sets")
    sets = [dataset(folder / name, pairs=n) for name, n in (("ours", 60), ("a", 40), ("b", 50))]
    rows = {
        row["question"]: row["label"]
        for data in sets
        for row in data.items("train", ["question", "label"]).to_pylist()
    }
    runs: dict[str, list[Path]] = {}
    for name, digits in KNOWN.items():
        script = folder / f"{name}.jsonl"
        lines = [
            {"match": text, "output": str(label if text.split()[3][-1] in digits else not label)}
            for text, label in rows.items()
        ]
        script.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        for data in sets:
            out = folder / "runs" / data.folder.name / name
            predict(data.folder, out, PredictOptions(model=f"scripted:{script}", split="train"))
            runs.setdefault(data.folder.name, []).append(out)
    for name in ("a", "b"):
        score(folder / name, runs[name], folder / f"s-{name}", ScoreOptions(draws=200))
    return folder, runs


def panel(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "scores.json").read_text())["meta"]["panel"]
    return found


def test_ranks_on_all_sets_stand_beside_each_other_with_tau_of_every_two(
    scored: tuple[Path, dict[str, list[Path]]],
) -> None:
    folder, runs = scored
    against = (folder / "s-a", folder / "s-b")
    score(folder / "ours", runs["ours"], folder / "s", ScoreOptions(against=against, draws=200))
    found = panel(folder / "s")
    ranks = found["rankings"]
    assert [one["set"] for one in ranks["sets"]] == ["this set", "a", "b"]
    columns = list(zip(*(run["accuracy"] for run in ranks["runs"]), strict=True))
    told = list(zip(*(run["rank"] for run in ranks["runs"]), strict=True))
    for column, rank in zip(columns, told, strict=True):
        assert rankdata([-value for value in column]).tolist() == list(rank)
    assert [(t["a"], t["b"]) for t in ranks["tau"]] == [(0, 1), (0, 2), (1, 2)]
    for tau in ranks["tau"]:
        plain = kendalltau(columns[tau["a"]], columns[tau["b"]]).statistic
        assert tau["tau"] == pytest.approx(plain, abs=1e-9)
        assert tau["low"] <= tau["tau"] <= tau["high"] and tau["models"] == 3
    assert [one["tau"] for one in found["transfer"]] == [t["tau"] for t in ranks["tau"][:2]]


def test_the_same_statements_are_no_other_set(
    scored: tuple[Path, dict[str, list[Path]]], tmp_path: Path
) -> None:
    folder, runs = scored
    for against in ((folder / "s-a",), (folder / "s-b", folder / "s-b")):
        with pytest.raises(ConfigError, match="the same statements as"):
            score(folder / "a", runs["a"], tmp_path / "x", ScoreOptions(against=against, draws=200))
