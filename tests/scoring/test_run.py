from __future__ import annotations

import csv
import json
import random
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.stats

from clinqa.cli import main
from clinqa.core.errors import CheckFailed, ConfigError, PrivacyError
from clinqa.core.ids import rng
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import DataClass
from clinqa.core.stage import StageResult
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.made_runs import Item, build, items, reference, seal, write_run
from sealing import edit_manifest

Figures = dict[tuple[str, str, str], dict[str, Any]]


def options(**told: Any) -> ScoreOptions:
    return ScoreOptions(**{"draws": 100, **told})


def scored(
    tmp_path: Path, dataset: Dataset, *runs: Path, **told: Any
) -> tuple[dict[str, Any], StageResult]:
    out = tmp_path / "scores"
    result = score(dataset.folder, runs, out, options(**told))
    return json.loads((out / "scores.json").read_text(encoding="utf-8")), result


def by_metric(scores: dict[str, Any], run: str, **subset: str) -> dict[str, dict[str, Any]]:
    return {
        figure["metric"]: figure
        for figure in scores["figures"]
        if figure["run"].startswith(run) and figure["subset"] == subset
    }


def half_right(item: Item, repeat: int) -> str:
    """Right for about half of the items; which ones hangs on the item alone."""
    good = rng(1, "half", item["id"]).random() < 0.5
    return reference(item, repeat) if good else "There is a small pericardial effusion."


def test_a_run_that_says_the_references_is_right_throughout(
    tmp_path: Path, dataset: Dataset
) -> None:
    scores, _ = scored(tmp_path, dataset, write_run(tmp_path / "perfect", dataset, reference))
    figures = by_metric(scores, "perfect")
    for metric in ("bleu", "rouge1", "rougeL", "token_f1", "level_accuracy", "error_right",
                   "level_macro_f1", "level_weighted_kappa", "status_answered"):  # fmt: skip
        assert figures[metric]["value"] == pytest.approx(1), metric
    for metric, figure in figures.items():
        if metric.startswith("error_") and metric != "error_right":
            assert figure["value"] in (0, None), metric
    # never quite certain: what was not seen in so many patients may yet be
    assert 0.5 < figures["level_accuracy"]["low"] < 1


def test_every_figure_lies_in_its_interval_and_says_how_it_was_made(
    tmp_path: Path, dataset: Dataset
) -> None:
    scores, _ = scored(tmp_path, dataset, write_run(tmp_path / "half", dataset, half_right))
    for figure in scores["figures"]:
        assert figure["signature"].startswith(figure["metric"].split("_")[0]) or figure[
            "metric"
        ].startswith("bleu")
        if figure["low"] is not None:
            assert figure["low"] <= figure["value"] + 1e-9, figure
            assert figure["value"] <= figure["high"] + 1e-9, figure
        if figure["value"] is None:
            assert figure["low"] is None, figure
            assert figure["n"] == 0 or figure["metric"] == "level_weighted_kappa", figure


def test_answers_that_are_none_are_counted_by_kind_and_count_as_wrong(
    tmp_path: Path, dataset: Dataset
) -> None:
    statuses = ["empty", "truncated", "refused", "error", "unreadable"] * 3
    run = write_run(tmp_path / "run", dataset, reference, statuses=statuses)
    scores, result = scored(tmp_path, dataset, run)
    figures, total = by_metric(scores, "run"), len(items(dataset))
    for status in set(statuses):
        assert figures[f"status_{status}"]["value"] == pytest.approx(3 / total)
    shares = [f["value"] for metric, f in figures.items() if metric.startswith("status_")]
    assert sum(shares) == pytest.approx(1)
    assert figures["level_accuracy"]["n"] == total
    for metric in ("level_accuracy", "token_f1", "error_right"):
        assert figures[metric]["value"] == pytest.approx(1 - 15 / total), metric
    assert any("15 of" in warning for warning in result.warnings)
    kinds = [f["value"] for m, f in figures.items() if m in KIND_METRICS]
    assert sum(kinds) == pytest.approx(1)


KIND_METRICS = {
    f"error_{kind}"
    for kind in (
        *("right", "irrelevant", "other_abnormality"),
        *("not_highest", "wrong_level", "unrelated_added"),
    )
}


def test_repeats_are_averaged_within_the_item_and_never_stacked(
    tmp_path: Path, dataset: Dataset
) -> None:
    def by_repeat(item: Item, repeat: int) -> str:
        return reference(item, repeat) if repeat == 0 else half_right(item, repeat)

    once = write_run(tmp_path / "once", dataset, half_right)
    thrice = write_run(tmp_path / "thrice", dataset, half_right, repeats=3, vary="sampling")
    mixed = write_run(tmp_path / "mixed", dataset, by_repeat, repeats=2, vary="sampling")
    scores, _ = scored(tmp_path, dataset, once, thrice, mixed)
    one, same, both = (by_metric(scores, run) for run in ("once", "thrice", "mixed"))
    for metric in ("token_f1", "level_accuracy", "meteor", "meteor_exact_stem"):
        if metric not in one:
            continue
        for key in ("value", "low", "high", "n", "clusters"):
            assert same[metric][key] == pytest.approx(one[metric][key]), (metric, key)
        assert both[metric]["n"] == one[metric]["n"]
    expected = (1 + one["level_accuracy"]["value"]) / 2
    assert both["level_accuracy"]["value"] == pytest.approx(expected)


def test_a_spread_names_what_varied_and_a_deterministic_run_has_none(
    tmp_path: Path, dataset: Dataset
) -> None:
    def varying(item: Item, repeat: int) -> str:
        return reference(item, repeat) if repeat == 0 else half_right(item, repeat)

    runs = [
        write_run(tmp_path / "sampled", dataset, varying, repeats=2, vary="shots"),
        write_run(tmp_path / "greedy", dataset, half_right, vary="deterministic"),
        write_run(tmp_path / "once", dataset, half_right),
    ]
    scores, _ = scored(tmp_path, dataset, *runs)
    spread = {
        entry["run"].rpartition("-")[0]: entry
        for entry in scores["meta"]["spreads"]
        if entry["metric"] == "level_accuracy"
    }
    half = by_metric(scores, "once")["level_accuracy"]["value"]
    assert spread["sampled"]["value"] == pytest.approx(np.std([1, half], ddof=1))
    assert (spread["sampled"]["kind"], spread["sampled"]["varied"]) == ("sd", "shots")
    assert (spread["greedy"]["kind"], spread["greedy"]["value"]) == ("deterministic", None)
    assert (spread["once"]["kind"], spread["once"]["value"]) == ("asked once", None)


def test_subsets_add_up_to_the_whole(tmp_path: Path, dataset: Dataset) -> None:
    scores, _ = scored(tmp_path, dataset, write_run(tmp_path / "half", dataset, half_right))
    whole = by_metric(scores, "half")["level_accuracy"]
    for key in ("abnormality", "level", "question_type"):
        parts = [
            figure
            for figure in scores["figures"]
            if list(figure["subset"]) == [key] and figure["metric"] == "level_accuracy"
        ]
        assert sum(part["n"] for part in parts) == whole["n"]
        mean = sum(part["n"] * part["value"] for part in parts) / whole["n"]
        assert mean == pytest.approx(whole["value"])
    assert {f["subset"].get("seen") for f in scores["figures"]} >= {"seen", "unseen"}


def test_a_better_run_is_told_from_a_worse_one_and_equal_ones_are_not(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [
        write_run(tmp_path / "good", dataset, reference),
        write_run(tmp_path / "half", dataset, half_right),
        write_run(tmp_path / "same", dataset, half_right, model="scripted:other"),
    ]
    scores, _ = scored(tmp_path, dataset, *runs)
    tests = {(t["a"].rpartition("-")[0], t["b"].rpartition("-")[0], t["metric"]): t
             for t in scores["tests"]}  # fmt: skip
    told = tests["good", "half", "token_f1"]
    assert told["difference"] > 0 and told["low"] > 0 and told["p_holm"] < 0.05
    assert told["p_holm"] >= told["p"]
    alike = tests["half", "same", "token_f1"]
    assert (alike["difference"], alike["p_holm"]) == (0, 1)
    # outside the declared family nothing is adjusted
    assert {t["metric"] for t in scores["tests"] if t["p_holm"] is not None} == {"token_f1"}
    assert tests["good", "half", "level_accuracy"]["p_holm"] is None


def test_a_family_against_one_run_holds_its_comparisons_only(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [write_run(tmp_path / name, dataset, half_right) for name in ("a", "b", "c")]
    scores, _ = scored(tmp_path, dataset, *runs, family="vs:b", primary="level_accuracy")
    family = [test for test in scores["tests"] if test["p_holm"] is not None]
    assert {test["metric"] for test in family} == {"level_accuracy"}
    assert sorted(test["b"][0] for test in family) == ["a", "c"]
    assert {test["a"][0] for test in family} == {"b"}
    assert scores["meta"]["family"]["comparisons"] == 2


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"family": "vs:nobody"}, "no such run"),
        ({"family": "some"}, "all or vs:RUN"),
        ({"primary": "beauty"}, "no such metric"),
        ({"draws": 5}, "at least 100"),
        ({"data_class": DataClass.PUBLIC}, "cannot be less"),
    ],
)
def test_what_means_nothing_is_refused(
    tmp_path: Path, dataset: Dataset, told: dict[str, Any], words: str
) -> None:
    runs = [write_run(tmp_path / name, dataset, half_right, limit=20) for name in ("a", "b")]
    with pytest.raises((ConfigError, PrivacyError), match=words):
        score(dataset.folder, runs, tmp_path / "scores", options(**told))


def test_runs_on_another_dataset_unfinished_or_twice_are_refused(
    tmp_path: Path, dataset: Dataset
) -> None:
    good = write_run(tmp_path / "good", dataset, half_right, limit=20)
    foreign = write_run(tmp_path / "foreign", dataset, half_right, limit=20, fingerprint="f" * 64)
    train = write_run(tmp_path / "train", dataset, half_right, limit=20, split="train")
    cut = write_run(tmp_path / "cut", dataset, half_right, limit=20)
    (cut / "manifest.json").unlink()
    for runs, words in (
        ([good, foreign], "another dataset"),
        ([good, train], "different splits"),
        ([cut], "no complete run"),
        ([good, good], "twice"),
        ([dataset.folder], "not a folder of predict"),
        ([], "no RUN"),
    ):
        with pytest.raises(ConfigError, match=words):
            score(dataset.folder, runs, tmp_path / "scores", options())


def test_runs_begun_and_not_finished_are_passed_over_and_foreign_folders_refused(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = tmp_path / "runs"
    good = write_run(runs / "good", dataset, half_right, limit=20)
    (runs / "killed" / ".partial").mkdir(parents=True)
    (runs / "killed" / ".partial" / "started.json").write_text('{"identity": {}, "moved": []}')
    (runs / "empty").mkdir()  # killed before its first write
    (runs / "early" / ".partial").mkdir(parents=True)  # and before that was renamed
    result = score(dataset.folder, sorted(runs.iterdir()), tmp_path / "scores", options())
    passed = [one for one in result.warnings if "passed over" in one]
    assert [one.split(":")[0].rsplit("/", 1)[1] for one in passed] == ["early", "empty", "killed"]
    assert result.counts["runs"] == 1
    with pytest.raises(ConfigError, match="unfinished, so no complete run"):
        score(dataset.folder, [runs / "killed"], tmp_path / "other", options())
    (runs / "notes").mkdir()
    (runs / "notes" / "a.txt").write_text("mine")
    for foreign, words in (
        (runs / "notes", "leave it out"),
        (runs / "notes" / "a.txt", "no such folder"),
    ):
        with pytest.raises(ConfigError, match=words):
            score(dataset.folder, [good, foreign], tmp_path / "other", options())
    assert not (tmp_path / "other").exists()


def test_a_run_of_a_part_is_scored_on_it_with_a_warning(tmp_path: Path, dataset: Dataset) -> None:
    runs = [
        write_run(tmp_path / "part", dataset, reference, limit=50),
        write_run(tmp_path / "all", dataset, half_right),
    ]
    scores, result = scored(tmp_path, dataset, *runs)
    assert by_metric(scores, "part")["token_f1"]["n"] == 50
    assert any(warning.startswith("part: was asked 50 of the") for warning in result.warnings)
    assert any("different items" in warning for warning in result.warnings)
    assert {t["n"] for t in scores["tests"] if not t["metric"].startswith("level_")} == {50}


def test_kappa_is_compared_over_the_items_that_both_answered_with_a_degree(
    tmp_path: Path, dataset: Dataset
) -> None:
    runs = [
        write_run(tmp_path / "a", dataset, reference),
        write_run(tmp_path / "b", dataset, half_right),
    ]
    scores, _ = scored(tmp_path, dataset, *runs)
    (test,) = [t for t in scores["tests"] if t["metric"] == "level_weighted_kappa"]
    rows = pq.read_table(tmp_path / "scores" / "items.parquet").to_pylist()
    degrees = ("0", "1", "2", "3")
    ordinal = [
        {r["item_id"] for r in rows if r["run"].startswith(name) and r["class"] in degrees
         and r["read_class"] in degrees}
        for name in ("a", "b")
    ]  # fmt: skip
    assert test["n"] == len(ordinal[0] & ordinal[1]) < len(items(dataset))


def test_few_patients_have_wide_intervals(tmp_path: Path, dataset: Dataset) -> None:
    """Three repeats of which one is right say no more of other patients than one repeat does."""
    run = write_run(
        tmp_path / "a",
        dataset,
        lambda item, repeat: item["answer"] if repeat == 0 else "The sky is blue.",
        repeats=3,
        vary="sampling",
    )
    made, _ = scored(tmp_path / "s", dataset, run)
    few = [
        figure
        for figure in made["figures"]
        if figure["metric"] == "level_accuracy" and 1 < figure["clusters"] <= 10
    ]
    assert few and all(abs(figure["value"] - 1 / 3) < 1e-9 for figure in few)
    for figure in few:
        # between items that are each a cluster and patients that each are one answer
        bounds = [
            scipy.stats.beta.ppf(0.975, many / 3 + 0.5, many * 2 / 3 + 0.5)
            for many in (6 * figure["n"], figure["clusters"] / 2)
        ]
        assert bounds[0] <= figure["high"] <= bounds[1]


def test_a_limit_opens_no_second_column_for_macro_f1(tmp_path: Path, dataset: Dataset) -> None:
    run = write_run(tmp_path / "a", dataset, half_right)
    whole, _ = scored(tmp_path / "1", dataset, run)
    part, _ = scored(tmp_path / "2", dataset, run, limit=25)
    signatures = {by_metric(s, "a")["level_macro_f1"]["signature"] for s in (whole, part)}
    assert len(signatures) == 1


def test_predictions_changed_since_they_were_made_are_refused(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "a", dataset, half_right, limit=20)
    path = run / "predictions.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["answer"]), path)
    with pytest.raises(CheckFailed, match=r"predictions\.parquet"):
        score(dataset.folder, [run], tmp_path / "scores", options())
    with pytest.raises(ConfigError, match="lacks answer"):
        score(dataset.folder, [seal(run)], tmp_path / "scores", options())
    edit_manifest(run, lambda body: body["configuration"].update(shots="x"))
    with pytest.raises(ConfigError, match="shots"):
        score(dataset.folder, [run], tmp_path / "scores", options())


def test_items_changed_since_the_build_are_refused(tmp_path: Path, dataset: Dataset) -> None:
    folder = tmp_path / "other"
    shutil.copytree(dataset.folder, folder)
    path = next((folder / "data").glob("test-*.parquet"))
    pq.write_table(pq.read_table(path).slice(1), path)
    run = write_run(tmp_path / "a", dataset, half_right, limit=20)
    with pytest.raises(CheckFailed, match="test-"):
        score(folder, [run], tmp_path / "scores", options())


def test_under_a_limit_the_first_items_are_scored_and_the_rest_counted(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, half_right)
    scores, result = scored(tmp_path, dataset, run, limit=40)
    assert by_metric(scores, "run")["token_f1"]["n"] == 40 and not result.warnings
    counts = Manifest.read(tmp_path / "scores" / "manifest.json").counts["answers"]
    assert counts.out_of_scope == len(items(dataset)) - 40
    assert not counts.problems()


def test_no_order_of_rows_or_runs_touches_a_figure(tmp_path: Path, dataset: Dataset) -> None:
    runs = [
        write_run(tmp_path / "a", dataset, half_right, repeats=2, vary="sampling"),
        write_run(tmp_path / "b", dataset, reference),
    ]
    one, _ = scored(tmp_path / "1", dataset, *runs)
    shuffled = tmp_path / "2" / "a"
    shutil.copytree(runs[0], shuffled)
    table = pq.read_table(shuffled / "predictions.parquet")
    order = np.random.default_rng(0).permutation(len(table))
    pq.write_table(table.take(order), shuffled / "predictions.parquet")
    seal(shuffled)
    other, _ = scored(tmp_path / "2", dataset, runs[1], shuffled)
    key: Callable[[dict[str, Any]], str] = lambda f: json.dumps(  # noqa: E731
        [f["run"], f["metric"], f["subset"]], sort_keys=True
    )
    assert sorted(one["figures"], key=key) == sorted(other["figures"], key=key)


def test_the_folder_is_made_once_and_refuses_another_scoring(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, half_right, limit=30)
    out = tmp_path / "scores"
    first = score(dataset.folder, [run], out, options())
    again = score(dataset.folder, [run], out, options())
    assert again.already_done and again.counts == first.counts
    with pytest.raises(ConfigError, match="seed"):
        score(dataset.folder, [run], out, options(seed=7))
    assert not score(dataset.folder, [run], out, options(seed=7, fresh=True)).already_done
    manifest = Manifest.read(out / "manifest.json")
    assert manifest.counts["answers"].kept == 30
    assert {record.name for record in manifest.outputs} >= {
        "scores.json", "items.parquet", "tables/overall.csv", "tables/by_abnormality.csv",
        "tables/tests.csv", "tables/levels.csv", "tables/signatures.csv",
    }  # fmt: skip
    names = [record.name for record in manifest.inputs]
    assert any(name.endswith("predictions.parquet") for name in names)


def test_files_are_private_and_the_class_is_the_strictest(tmp_path: Path, dataset: Dataset) -> None:
    run = write_run(tmp_path / "run", dataset, half_right, limit=30, data_class="phi")
    out = tmp_path / "scores"
    score(dataset.folder, [run], out, options())
    assert Manifest.read(out / "manifest.json").data_class == "phi"
    for path in out.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_no_text_of_a_record_stands_in_scores_manifest_or_tables(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, lambda item, _: f"Zyzzyva. {item['answer']}")
    out = tmp_path / "scores"
    result = score(dataset.folder, [run], out, options())
    long = {item["answer"] for item in items(dataset) if len(item["answer"]) > 25}
    texts = [path.read_text(encoding="utf-8") for path in out.rglob("*.csv")]
    texts += [(out / name).read_text(encoding="utf-8") for name in ("scores.json", "manifest.json")]
    for text in [*texts, *result.warnings, *result.lines]:
        assert "Zyzzyva" not in text
        assert not any(answer in text for answer in long)


def test_items_hold_what_was_said_what_was_read_and_why(tmp_path: Path, dataset: Dataset) -> None:
    run = write_run(tmp_path / "run", dataset, half_right, repeats=2, vary="sampling")
    score(dataset.folder, [run], tmp_path / "scores", options())
    rows = pq.read_table(tmp_path / "scores" / "items.parquet").to_pylist()
    assert len(rows) == 2 * len(items(dataset))
    right = [row for row in rows if row["answer"] == row["reference"]]
    assert right and all(row["error_kind"] == "right" for row in right)
    assert all(
        row["read_level"] == row["level"] for row in right if row["question_type"] != "adequacy"
    )
    assert {row["error_kind"] for row in rows} >= {"right", "other_abnormality"}
    assert all(row["token_f1"] == pytest.approx(1) for row in right)
    assert any(row["source"] for row in rows)


def test_a_name_that_a_spreadsheet_would_run_is_quoted(tmp_path: Path, dataset: Dataset) -> None:
    run = write_run(tmp_path / "=cmd()", dataset, half_right, limit=30)
    score(dataset.folder, [run], tmp_path / "scores", options())
    for table in (tmp_path / "scores" / "tables").iterdir():
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.reader(file):
                assert not any(cell.startswith("=") for cell in row), table.name


def test_figures_with_different_signatures_share_no_column(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, half_right)
    scores, _ = scored(tmp_path, dataset, run)
    signature = {
        (row["table"], row["column"]): row["signature"]
        for row in csv.DictReader(
            (tmp_path / "scores" / "tables" / "signatures.csv").open(encoding="utf-8")
        )
    }
    for figure in scores["figures"]:
        key = next(iter(figure["subset"]), "")
        table = f"by_{key}" if key else "overall"
        ways = [
            s for (t, column), s in signature.items() if t == table and s == figure["signature"]
        ]
        assert ways, figure


def test_people_correct_the_labeller(tmp_path: Path, dataset: Dataset) -> None:
    run = write_run(tmp_path / "run", dataset, reference)
    sheet = tmp_path / "people.csv"
    sampled = random.Random(3).sample(items(dataset), len(items(dataset)) // 4)
    # the labeller finds all right; people find one in five wrong
    lines = [f"{item['id']},{'wrong' if n % 5 == 0 else 'right'}" for n, item in enumerate(sampled)]
    sheet.write_text("item_id,verdict\n" + "\n".join([*lines, "unknown,right"]), encoding="utf-8")
    scores, result = scored(tmp_path, dataset, run, human=sheet)
    figure = by_metric(scores, "run")["level_accuracy_corrected"]
    assert figure["value"] == pytest.approx(0.8, abs=0.02)
    assert figure["low"] < 0.8 < figure["high"] < 1
    human = scores["meta"]["human"]
    assert human["n"] == len(sampled)
    assert human["runs"][0]["labeller_alone"] == 1
    assert any("1 items it did not answer" in warning for warning in result.warnings)
    assert scores["meta"]["labeller"]["made_the_references"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item_id\nx\n", "verdict"),
        ("item_id,verdict\nx,perhaps\n", "right or wrong"),
        ("item_id,verdict\nx,right\n", "none of the items"),
        ("item_id,verdict,run\nx,right,other\n", "no such run"),
    ],
)
def test_a_sheet_that_cannot_be_used_says_why_without_its_cells(
    tmp_path: Path, dataset: Dataset, text: str, words: str
) -> None:
    run = write_run(tmp_path / "run", dataset, half_right, limit=30)
    sheet = tmp_path / "people.csv"
    sheet.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as error:
        score(dataset.folder, [run], tmp_path / "scores", options(human=sheet))
    assert "perhaps" not in str(error.value)


def test_models_come_with_group_family_and_rank(tmp_path: Path, dataset: Dataset) -> None:
    runs = [
        write_run(tmp_path / "a", dataset, reference, model="embedded:smollm2"),
        write_run(tmp_path / "b", dataset, half_right, model="hf:/models/SmolLM2-360M"),
        write_run(tmp_path / "c", dataset, half_right, model="baseline:prior"),
    ]
    scores, _ = scored(tmp_path, dataset, *runs)
    meta = scores["meta"]
    assert [run["group"] for run in meta["runs"]] == ["general", "general", "baseline"]
    ranked = {(r["metric"], r["group"]): r for r in meta["ranking"]}
    best = ranked["token_f1", "general"]
    assert (best["best"][0], best["second"][0]) == ("a", "b")
    assert ranked["token_f1", "baseline"]["second"] is None
    sizes = [one["parameters"] for one in meta["scale"]["SmolLM2"]]
    assert sizes == sorted(sizes) and len(sizes) == 2


def test_a_dataset_whose_kind_was_changed_is_refused(tmp_path: Path, dataset: Dataset) -> None:
    folder = tmp_path / "other"
    shutil.copytree(dataset.folder, folder)
    for path in (folder / "data").iterdir():
        table = pq.read_table(path)
        kinds = table["kind"].to_pylist()
        column = table.column_names.index("kind")
        pq.write_table(table.set_column(column, "kind", [["multiple_choice"] * len(kinds)]), path)
    run = write_run(tmp_path / "run", dataset, half_right, limit=30)
    with pytest.raises(CheckFailed, match="changed since it was made"):
        score(folder, [run], tmp_path / "scores", options())


def test_the_verb_says_what_it_would_do_does_it_and_reports_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = build(tmp_path / "made", studies=30, seed=3)
    run = write_run(tmp_path / "run", made, half_right)
    out = tmp_path / "scores"
    told = ["score", str(made.folder), str(run), "--out", str(out), "--resamples", "100"]
    assert main([*told, "--dry-run"]) == 0
    assert "would send nothing anywhere" in capsys.readouterr().out and not out.exists()
    assert main([*told, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["ok"] and record["counts"]["runs"] == 1 and record["counts"]["figures"] > 100
    foreign = write_run(tmp_path / "foreign", made, half_right, fingerprint="f" * 64)
    assert main(["score", str(made.folder), str(foreign), "--out", str(tmp_path / "no")]) == 2
    assert "another dataset" in capsys.readouterr().err


def test_a_sample_of_the_severe_ones_corrects_nothing_until_it_is_told(
    tmp_path: Path, dataset: Dataset
) -> None:
    run = write_run(tmp_path / "run", dataset, reference)
    every = items(dataset)
    odd = random.Random(4)
    drawn = {item["id"]: 0.9 if (item["level"] or 0) > 0 else 0.15 for item in every}
    judged = [item for item in every if odd.random() < drawn[item["id"]]]
    lines = [f"{item['id']},{'wrong' if odd.random() < 0.2 else 'right'}" for item in judged]
    sheet = tmp_path / "people.csv"
    sheet.write_text("item_id,verdict\n" + "\n".join(lines), encoding="utf-8")
    plain, _ = scored(tmp_path / "a", dataset, run, human=sheet)
    assert by_metric(plain, "run")["level_accuracy_corrected"]["value"] is None
    told = [one for one in plain["meta"]["warnings"] if "unlike the others" in one]
    assert len(told) == 1 and "--human-strata" in told[0]
    strata, _ = scored(tmp_path / "b", dataset, run, human=sheet, human_strata=("level",))
    found = by_metric(strata, "run")["level_accuracy_corrected"]
    assert found["low"] < 0.8 < found["high"] and "within level" in found["signature"]
    weighed = [f"{line},{1 / drawn[line.split(',')[0]]:.6f}" for line in lines]
    sheet.write_text("item_id,verdict,weight\n" + "\n".join(weighed), encoding="utf-8")
    mended, _ = scored(tmp_path / "c", dataset, run, human=sheet)
    found = by_metric(mended, "run")["level_accuracy_corrected"]
    assert found["low"] < 0.8 < found["high"] and "weighted" in found["signature"]
    with pytest.raises(ConfigError, match="category, level"):
        scored(tmp_path / "d", dataset, run, human=sheet, human_strata=("colour",))


def test_a_dataset_of_an_older_version_says_what_it_lacks(tmp_path: Path, dataset: Dataset) -> None:
    old = tmp_path / "old"
    shutil.copytree(dataset.folder, old)
    for path in (old / "data").glob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["nearest_in_train"]), path)
    manifest = Manifest.read(old / "manifest.json")
    outputs = [FileRecord.of(old / one.name, one.name) for one in manifest.outputs]
    (old / "manifest.json").write_text(replace(manifest, outputs=outputs).to_json(), "utf-8")
    older = open_dataset(old)
    run = write_run(tmp_path / "run", older, reference)
    with pytest.raises(ConfigError, match=r"'nearest_in_train'.*build it again"):
        scored(tmp_path / "s", older, run)
