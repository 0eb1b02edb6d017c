"""clinqa score on true_false items: figures, conventions, clusters, tests, ensembles, panel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from clinqa.asking.predict import predict
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset
from clinqa.kinds.true_false.two_way import ANSWERED, BY_PAIR, BY_SOURCE, WRONG
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset, run

FAST = {"draws": 200}


def good(number: int, label: bool) -> str:
    return str(label if number % 10 else not label)


def fair(number: int, label: bool) -> str:
    return str(label if number % 3 else True)


def yes(number: int, label: bool) -> str:
    return "True."


def coy(number: int, label: bool) -> str:
    return str(label) if number % 4 else ("I cannot answer." if label else "True and false.")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("panel")
    data = dataset(folder / "data")
    replies = {"good": good, "fair": fair, "yes": yes, "coy": coy}
    return data, {name: run(folder / name, data, reply) for name, reply in replies.items()}


@pytest.fixture(scope="module")
def scored(
    made: tuple[Dataset, dict[str, Path]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Path]:
    data, runs = made
    out = tmp_path_factory.mktemp("scores") / "scores"
    options = ScoreOptions(ensembles=("three=good,fair,yes", "two=good,yes"), **FAST)
    score(data.folder, list(runs.values()), out, options)
    return json.loads((out / "scores.json").read_text()), out


def figure(scores: dict[str, Any], run_: str, metric: str, convention: str = WRONG,
           unit: str = BY_PAIR, **subset: str) -> dict[str, Any]:  # fmt: skip
    found = [
        f
        for f in scores["figures"]
        if f["run"].split("-")[0] == run_ and f["metric"] == metric and f["subset"] == subset
        and unit in f["signature"] and (convention in f["signature"] or "of all" in f["signature"])
    ]  # fmt: skip
    assert len(found) == 1
    return found[0]


def test_whoever_always_says_true_is_near_one_half_for_sure_and_that_is_explained(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, _ = scored
    always = figure(scores, "yes", "accuracy")
    fair = figure(scores, "fair", "accuracy")
    assert always["value"] == 0.5 and 0.5 - always["low"] == pytest.approx(always["high"] - 0.5)
    assert 0 < always["high"] - always["low"] < fair["high"] - fair["low"]
    assert figure(scores, "yes", "macro_f1")["value"] == pytest.approx(1 / 3)
    for metric in ("kappa", "youden_j", "mcc"):
        assert figure(scores, "yes", metric)["value"] == 0
    assert figure(scores, "yes", "pair_one")["value"] == 1
    assert "on any pairs" in scores["meta"]["interval"]["always_one_answer"]


def test_no_answer_counts_as_wrong_and_the_other_convention_stands_beside_it(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, _ = scored
    wrong, left_out = (figure(scores, "coy", "accuracy", c) for c in (WRONG, ANSWERED))
    assert left_out["value"] == 1.0 and wrong["value"] < 0.9
    assert left_out["n"] < wrong["n"]
    # an unanswered True is a false negative, an unanswered False a false positive
    assert figure(scores, "coy", "sensitivity")["value"] == pytest.approx(wrong["value"])
    assert figure(scores, "coy", "specificity")["value"] == pytest.approx(wrong["value"])
    refused, both = (figure(scores, "coy", f"status_{s}") for s in ("refused", "ambiguous"))
    assert refused["value"] == both["value"] > 0
    assert 1 - wrong["value"] == pytest.approx(refused["value"] + both["value"])


def test_accuracy_hides_what_pairs_show(scored: tuple[dict[str, Any], Path]) -> None:
    scores, _ = scored
    fair_, yes_ = (figure(scores, name, "pair_both")["value"] for name in ("fair", "yes"))
    assert yes_ == 0 and 0.5 < fair_ < figure(scores, "fair", "accuracy")["value"]
    for name in ("good", "fair", "yes", "coy"):
        parts = [figure(scores, name, f"pair_{k}")["value"] for k in ("both", "one", "none")]
        assert sum(parts) == pytest.approx(1)


def test_intervals_over_documents_stand_beside_those_over_pairs(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, _ = scored
    pair = figure(scores, "fair", "accuracy")
    source = figure(scores, "fair", "accuracy", unit=BY_SOURCE)
    assert pair["value"] == source["value"] and pair["clusters"] > source["clusters"] == 5
    assert figure(scores, "fair", "accuracy", category="rhythm")["n"] < pair["n"]


def test_the_family_is_adjusted_and_other_metrics_are_not(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, _ = scored
    family = [t for t in scores["tests"] if t["p_holm"] is not None]
    assert len(family) == 6 and {t["metric"] for t in family} == {"accuracy"}
    assert all(t["p_holm"] >= t["p"] for t in family)
    assert all("sign-flip" in t["signature"] for t in scores["tests"])


def test_a_vote_ties_as_declared_and_is_scored_like_a_run(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, _ = scored
    told = {e["name"]: e for e in scores["meta"]["panel"]["ensembles"]}
    assert len(told["three"]["members"]) == 3 and "tie is no answer" in told["two"]["how"]
    three = [f for f in scores["figures"] if f["run"] == "ensemble:three"]
    assert {f["metric"] for f in three} >= {"accuracy", "youden_j", "pair_both"}
    tied = next(f for f in scores["figures"]
                if f["run"] == "ensemble:two" and f["metric"] == "status_ambiguous")  # fmt: skip
    assert tied["value"] > 0


def test_the_panel_holds_agreement_shared_errors_and_difficulty(
    scored: tuple[dict[str, Any], Path],
) -> None:
    scores, out = scored
    panel = scores["meta"]["panel"]
    judges = panel["agreement"]["judges"]
    assert len(judges) == 5 and "reference" in judges
    good_ = next(name for name in judges if name.startswith("good"))
    kappa = panel["agreement"]["value"][judges.index(good_)][judges.index("reference")]
    assert kappa == pytest.approx(figure(scores, "good", "kappa")["value"])
    assert len(panel["errors"]) == 6
    assert all(e["both_wrong"] <= e["either_wrong"] for e in panel["errors"])
    difficulty = panel["difficulty"]
    assert sum(row["items"] for row in difficulty["histogram"]) == panel["items"]
    assert len(difficulty["strong"]) == len(difficulty["weak"]) == 2
    for name in ("overall", "by_category", "tests", "difficulty", "kappa", "errors"):
        assert (out / "tables" / f"{name}.csv").is_file()


def test_no_text_of_a_statement_stands_in_scores(scored: tuple[dict[str, Any], Path]) -> None:
    _, out = scored
    for path in out.rglob("*"):
        if path.suffix in (".json", ".csv"):
            assert "Made statement" not in path.read_text(encoding="utf-8")
    assert "question" not in pq.read_schema(out / "items.parquet").names


def test_the_same_scores_come_out_whatever_the_order_of_runs(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, runs = made
    found = []
    for order in (["good", "coy"], ["coy", "good"]):
        out = tmp_path / "".join(order)
        score(data.folder, [runs[name] for name in order], out, ScoreOptions(**FAST))
        scores = json.loads((out / "scores.json").read_text())
        found.append(sorted(json.dumps(f, sort_keys=True) for f in scores["figures"]))
    assert found[0] == found[1]


def test_a_search_is_for_validation_and_its_winner_is_reported_with_their_number(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, runs = made
    with pytest.raises(ConfigError, match="validation split alone"):
        score(data.folder, list(runs.values()), tmp_path / "no", ScoreOptions(search=3, **FAST))
    script = {name: runs[name].parent / f"{name}.jsonl" for name in runs}
    ours = {}
    for split in ("validation", "train"):
        ours[split] = []
        for name, path in script.items():
            folder = tmp_path / split / name
            # the same script on both splits, or the models would not be the same
            text = path.read_text() + "\n" + json.dumps(
                {"match": None, "output": "True", "finish_reason": "stop"})  # fmt: skip
            whole = tmp_path / f"{name}.jsonl"
            whole.write_text(text)
            predict(data.folder, folder, PredictOptions(model=f"scripted:{whole}", split=split))
            ours[split].append(folder)
    score(data.folder, ours["validation"], tmp_path / "v", ScoreOptions(search=3, **FAST))
    searched = json.loads((tmp_path / "v/scores.json").read_text())["meta"]["panel"]["search"]
    assert searched["searched"] == 4 and len(searched["winner"]) == 3
    options = ScoreOptions(ensemble_from=tmp_path / "v", against=(tmp_path / "v",), **FAST)
    score(data.folder, ours["train"], tmp_path / "t", options)
    panel = json.loads((tmp_path / "t/scores.json").read_text())["meta"]["panel"]
    assert panel["ensembles"][0]["searched"] == 4
    (transfer,) = panel["transfer"]
    assert transfer["models"] == 4 and transfer["set"] == "data"


def test_what_is_wrongly_asked_is_refused_in_words(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, runs = made
    folders = list(runs.values())
    for options, words in (
        (ScoreOptions(ensembles=("x=good",)), "two runs or more"),
        (ScoreOptions(ensembles=("x=good,nobody",)), "no run nobody"),
        (ScoreOptions(ensembles=("good=good,fair",)), "a run has this name"),
        (ScoreOptions(primary="bleu"), "no such metric"),
        (ScoreOptions(against=(tmp_path,)), "no complete scores"),
        (ScoreOptions(ensemble_from=tmp_path), "no complete scores"),
    ):
        with pytest.raises(ConfigError, match=words):
            score(data.folder, folders, tmp_path / "out", options)


def test_constrained_runs_weigh_both_words_and_carry_another_signature(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, _ = made
    plain, weighed = tmp_path / "plain", tmp_path / "weighed"
    predict(data.folder, plain, PredictOptions(model="baseline:bag-of-words"))
    options = PredictOptions(model="baseline:bag-of-words", constrained=True)
    predict(data.folder, weighed, options)
    answers = [
        pq.read_table(folder / "predictions.parquet")["answer"].to_pylist()
        for folder in (plain, weighed)
    ]
    assert answers[0] == answers[1]
    score(data.folder, [plain, weighed], tmp_path / "s", ScoreOptions(**FAST))
    scores = json.loads((tmp_path / "s/scores.json").read_text())
    hows = {f["signature"].rpartition("|")[2] for f in scores["figures"]}
    assert hows == {"read from the text", "the likelier of True and False"}
    with pytest.raises(ConfigError, match="no log-probabilities"):
        script = tmp_path / "s.jsonl"
        script.write_text(json.dumps({"match": None, "output": "True", "finish_reason": "stop"}))
        predict(data.folder, tmp_path / "x",
                PredictOptions(model=f"scripted:{script}", constrained=True))  # fmt: skip


def test_shots_of_statements_are_true_and_false_in_turn(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, _ = made
    script = tmp_path / "s.jsonl"
    script.write_text(json.dumps({"match": None, "output": "False", "finish_reason": "stop"}))
    predict(data.folder, tmp_path / "run", PredictOptions(model=f"scripted:{script}", shots=2))
    first = json.loads((tmp_path / "run/prompts.jsonl").read_text().splitlines()[0])
    said = [text for role, text in first["messages"] if role == "assistant"]
    assert sorted(said) == ["False", "True"]


def test_a_baseline_may_learn_from_the_train_split_of_another_set(
    made: tuple[Dataset, dict[str, Path]], tmp_path: Path
) -> None:
    data, _ = made
    other = dataset(tmp_path / "other", pairs=30)
    options = PredictOptions(model="baseline:bag-of-words", train_from=data.folder)
    predict(other.folder, tmp_path / "run", options)
    answers = pq.read_table(tmp_path / "run/predictions.parquet")["answer"].to_pylist()
    assert set(answers) == {"true", "false"}
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert manifest["configuration"]["train_from"] == data.manifest.fingerprint
