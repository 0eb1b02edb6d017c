"""Runs that were asked several times: votes, agreement and difficulty use every repeat."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import cohen_kappa_score

from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset, repeated, run


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("repeats")
    data = dataset(folder / "data")
    runs = [
        # bad at first, good after
        repeated(folder / "late", data, lambda n, label, k: k > 0 or n % 4 == 0),
        repeated(folder / "early", data, lambda n, label, k: (n + k) % 5 < 3),
        run(folder / "once", data, lambda n, label: str(label if n % 3 else True)),
    ]
    options = ScoreOptions(ensembles=("three=late,early,once",), draws=200)
    score(data.folder, runs, folder / "scores", options)
    rows = pq.read_table(folder / "scores/items.parquet").to_pylist()
    return json.loads((folder / "scores/scores.json").read_text()), rows


def said(rows: list[dict[str, Any]], name: str, repeat: int) -> dict[str, bool]:
    own = [row for row in rows if row["run"].startswith(name)]
    times = 1 + max(row["repeat"] for row in own)
    return {
        row["item_id"]: row["answer"] == "true" for row in own if row["repeat"] == repeat % times
    }


def gold(rows: list[dict[str, Any]]) -> dict[str, bool]:
    return {row["item_id"]: row["label"] for row in rows}


def test_kappa_of_two_runs_is_over_all_repeats(
    scored: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    scores, rows = scored
    found = scores["meta"]["panel"]["agreement"]
    judges = [name.split("-")[0] for name in found["judges"]]
    ids = sorted(gold(rows))
    for a, b in (("late", "early"), ("late", "once"), ("early", "reference")):
        ours, theirs = (
            [
                (gold(rows) if name == "reference" else said(rows, name, repeat))[item]
                for repeat in range(3)
                for item in ids
            ]
            for name in (a, b)
        )
        value = found["value"][judges.index(a)][judges.index(b)]
        assert value == pytest.approx(cohen_kappa_score(ours, theirs), abs=1e-9)
    assert found["n"] == len(ids) and scores["meta"]["panel"]["repeats"] == 3


def test_a_vote_is_taken_in_each_repeat(
    scored: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    scores, rows = scored
    truth = gold(rows)
    right = [
        (sum(said(rows, name, repeat)[item] for name in ("late", "early", "once")) >= 2) == label
        for repeat in range(3)
        for item, label in truth.items()
    ]
    (found,) = (
        f["value"]
        for f in scores["figures"]
        if f["run"] == "ensemble:three" and f["metric"] == "accuracy" and not f["subset"]
        and "wrong" in f["signature"] and "pair" in f["signature"]
    )  # fmt: skip
    assert found == pytest.approx(np.mean(right))


def test_a_statement_is_right_for_a_model_that_is_mostly_right_on_it(
    scored: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    scores, rows = scored
    truth = gold(rows)
    times = {"late": 3, "early": 3, "once": 1}
    count = [
        sum(
            2 * sum(said(rows, name, k)[item] == label for k in range(n)) > n
            for name, n in times.items()
        )
        for item, label in truth.items()
    ]
    difficulty = scores["meta"]["panel"]["difficulty"]
    assert [row["items"] for row in difficulty["histogram"]] == np.bincount(
        count, minlength=4
    ).tolist()
    shares = {
        name: np.mean(
            [said(rows, name, k)[item] == truth[item] for k in range(n) for item in truth]
        )
        for name, n in times.items()
    }
    assert difficulty["strong"][0].split("-")[0] == max(shares, key=lambda name: shares[name])
