"""A kind that only the tests know goes the whole line: its figures are those of plain numpy."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from clinqa.cli import main
from clinqa.kinds import registry
from clinqa.kinds.registry import register
from clinqa.present.report import made_page
from kinds.numeric import KIND
from kinds.numeric.made import dataset

ITEMS = 72  # 24 of test, of 12 patients: all their sign flips are gone through
RUNS = ("near", "prior", "sixty")
METRICS = ("within", "distance")
#: What a scripted model is off by; None: it says no number.
OFF = (0, 1, -2, 0, 2, 1, 0, 3, -1, 0, None, 2, 1, 0, 0, -2, 9, 1, 0, 2, 0, -1, 1, 0)
BEST = "Highest within tolerance: near, {:.3f}; by the declared tests it differs from every"


@dataclass(frozen=True)
class Line:
    """What was made in this folder: its scores and answers, and the items of its test split."""

    truth: dict[str, dict[str, Any]]

    def scores(self, name: str = "scores") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(Path(name, "scores.json").read_text())
        return found

    def judged(self, run: str) -> dict[str, np.ndarray]:
        """By item, in the order of ids: within, distance (NaN: no answer) and patient."""
        rows = pq.read_table(Path(run, "predictions.parquet")).to_pylist()
        said = {row["item_id"]: float(row["answer"] or "nan") for row in rows}
        assert said.keys() == self.truth.keys()
        own = [self.truth[name] for name in sorted(said)]
        value, tolerance = (np.array([row[n] for row in own]) for n in ("value", "tolerance"))
        distance = np.abs([said[name] for name in sorted(said)] - value)
        return {
            "within": (distance <= tolerance).astype(float),
            "distance": distance,
            **{name: np.array([row[name] for row in own]) for name in ("group", "category")},
        }


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Line]:
    folder = tmp_path_factory.mktemp("line")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_MORE", {})
        patch.chdir(folder)
        register(KIND)
        dataset(Path("numbers"), ITEMS)
        rows = pq.read_table(next(Path("numbers/data").glob("test-*"))).to_pylist()
        with Path("script.jsonl").open("w") as file:
            for row, off in zip(rows, OFF, strict=True):
                said = "Hard to say" if off is None else f"About {row['value'] + off:g}."
                file.write(json.dumps({"item": row["id"], "output": said}) + "\n")
        made = Line({row["id"]: row for row in rows})
        models = ("scripted:script.jsonl", "baseline:prior", "baseline:sixty")
        for run, model in zip(RUNS, models, strict=True):
            assert main(["predict", "numbers", "--model", model, "--out", run]) == 0
        for name, primary in (("scores", "within"), ("by-distance", "distance")):
            told = ["--primary", primary, "--out", name]
            assert main(["score", "numbers", *RUNS, *told]) == 0
        yield made


def test_it_is_verified_shown_and_exported(line: Line, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "numbers"]) == 0
    assert main(["show", "numbers", "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["counts"]["splits"] == {"train": 48, "validation": 0, "test": 24}
    assert main(["export", "numbers", "--to", "chat", "--out", "chat"]) == 0
    lines = Path("chat/test.jsonl").read_text().splitlines()
    records = {record["id"]: record for record in map(json.loads, lines)}
    assert records.keys() == line.truth.keys()
    for name, record in records.items():
        own = line.truth[name]
        asked, answer = (turn["content"] for turn in record["messages"])
        assert asked == f"{own['question']} Answer with a number." and answer == own["answer"]
        assert record["tolerance"] == own["tolerance"]


def test_its_figures_are_those_of_numpy_with_intervals_that_hold_them(line: Line) -> None:
    figures = {
        (one["run"].rpartition("-")[0], one["metric"], one["subset"].get("category", "")): one
        for one in line.scores()["figures"]
    }
    assert len(figures) == len(RUNS) * 4
    for run in RUNS:
        own = line.judged(run)
        for metric in METRICS:
            figure, values = figures[run, metric, ""], own[metric]
            known = ~np.isnan(values)
            assert figure["value"] == pytest.approx(values[known].mean(), abs=1e-12)
            assert figure["n"] == known.sum()
            assert figure["clusters"] == len(set(own["group"][known])) == 12
            assert figure["low"] <= figure["value"] <= figure["high"]
            assert figure["low"] < figure["high"]
        for category in ("rate", "interval"):
            values = own["within"][own["category"] == category]
            assert figures[run, "within", category]["value"] == pytest.approx(values.mean())
    assert figures["near", "distance", ""]["n"] == 23  # one says no number: it is no distance


def flipped(a: np.ndarray, b: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """The mean difference, and how many of all flips of patients' signs are as far from 0."""
    both = ~np.isnan(a) & ~np.isnan(b)
    difference = (a - b)[both]
    sums = np.array([difference[group[both] == name].sum() for name in sorted(set(group[both]))])
    signs = np.array(list(product((1, -1), repeat=len(sums))))
    as_far = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    return difference.mean(), as_far.mean()


def test_its_paired_tests_are_exact_sign_flips_of_patients_adjusted_by_holm(line: Line) -> None:
    scores = line.scores()
    assert scores["meta"]["family"]["metric"] == "within"
    assert scores["meta"]["family"]["comparisons"] == 3
    tests = {
        (t["a"].rpartition("-")[0], t["b"].rpartition("-")[0], t["metric"]): t
        for t in scores["tests"]
    }
    judged, chances = {run: line.judged(run) for run in RUNS}, {}
    for (a, b), metric in product(combinations(RUNS, 2), METRICS):
        test = tests[a, b, metric]
        difference, p = flipped(judged[a][metric], judged[b][metric], judged[a]["group"])
        assert test["difference"] == pytest.approx(difference, abs=1e-12)
        assert test["p"] == pytest.approx(p, abs=1e-12)
        assert test["low"] < test["difference"] < test["high"]
        if metric == "within":
            chances[a, b] = p
        else:
            assert test["p_holm"] is None  # outside the family
    so_far = 0.0
    for left, pair in enumerate(sorted(chances, key=lambda pair: chances[pair])):
        so_far = max(so_far, min(1.0, (len(chances) - left) * chances[pair]))
        assert tests[*pair, "within"]["p_holm"] == pytest.approx(so_far, abs=1e-12)


def test_its_page_holds_the_table_the_charts_and_the_verdict(line: Line) -> None:
    assert main(["report", "scores", "-o", "page.html", "--figures", "figures"]) == 0
    html = Path("page.html").read_text("utf-8")
    share = line.judged("near")["within"].mean()
    assert f"{BEST.format(share)} other run." in html
    assert "Each run, with 95" in html and f"{share:.3f}" in html
    assert "chart-within" in html and "chart-distance" in html
    assert "share of numbers that are near enough" in html
    assert "Declared beforehand: all on within, 3 comparisons." in html
    assert Path("figures/figures/results.svg").is_file()
    (row, *_) = csv.DictReader(Path("figures/tables/figures.csv").read_text().splitlines())
    assert float(row["distance"]) == pytest.approx(np.nanmean(line.judged("near")["distance"]))


def test_where_a_low_figure_is_the_good_one_the_lowest_is_called_so(line: Line) -> None:
    """Of what answers are numbers: runs that left out others are not comparable with it."""
    assert line.scores("by-distance")["meta"]["family"]["lower"] is True
    assert "lower" not in line.scores()["meta"]["family"]
    page, _ = made_page([Path("by-distance")])
    marks = {row.head: row.cells[1].mark for row in page.tables()["figures"].rows}
    assert not any(marks.values())
    said = page.sections[0].blocks[0].lines
    mean = np.nanmean(line.judged("near")["distance"])
    assert any(one.startswith(("Lowest distance over ", "Distance over ")) for one in said), said
    assert any(f": near, {mean:.3f}" in one for one in said)
    assert said[-1] == "Runs over different items are not comparable by these figures."


def test_without_a_page_of_its_own_it_has_the_plain_one(line: Line) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry._MORE, "numeric", without("shows"))
        page, _ = made_page([Path("by-distance")])
    assert page.sections[0].blocks[0].lines[0].startswith("Lowest distance over")
    assert {row.head for row in page.tables()["results"].rows} == set(RUNS)


def test_groups_are_audited_by_both_its_figures(line: Line) -> None:
    patients = sorted({row["group"] for row in line.truth.values()})
    ward = {name: "AB"[at % 2] for at, name in enumerate(patients)}
    rows = [f"{name},{own}" for name, own in ward.items()]
    Path("wards.csv").write_text("\n".join(["patient,ward", *rows]))
    told = ["--groups", "wards.csv", "--metric", "within", "--metric", "distance"]
    told += ["--min-patients", "5", "--resamples", "200", "--permutations", "199"]
    for name, more in (("audit", []), ("kept", ["--scores", "scores"])):
        assert main(["audit", "numbers", "near", "sixty", *told, *more, "--out", name]) == 0
    audit, kept = (json.loads(Path(name, "audit.json").read_text()) for name in ("audit", "kept"))
    assert audit["figures"] == kept["figures"]
    lower = {one["metric"]: one["lower"] for one in audit["meta"]["metrics"]}
    assert lower == {"within": False, "distance": True}
    for run, metric, group in product(("near", "sixty"), METRICS, "AB"):
        own = line.judged(run)
        mine = np.array([ward[name] == group for name in own["group"]])
        (figure,) = (
            one
            for one in audit["figures"]
            if one["run"].startswith(run) and one["metric"] == metric
            and one["subset"] == {"dimension": "ward", "group": group}
        )  # fmt: skip
        assert figure["value"] == pytest.approx(np.nanmean(own[metric][mine]))
        assert figure["low"] < figure["value"] < figure["high"]
    assert main(["report", "scores", "audit", "-o", "audited.html"]) == 0
    assert "Distance by group" in Path("audited.html").read_text("utf-8")


@pytest.mark.full
def test_a_tiny_model_learns_it_and_answers_with_the_adapter(line: Line) -> None:
    pytest.importorskip("trl", reason="the extra `train` is not installed")
    from tiny_model import make_tiny
    from training.made_training import trained

    base = make_tiny(Path("base"))
    trained(Path("numbers"), base, Path("adapter"), "best_by=none", "max_steps=3")
    told = ["--adapter", "adapter", "--max-tokens", "4", "--device", "cpu"]
    assert main(["predict", "numbers", "--model", f"hf:{base}", *told, "--out", "learnt"]) == 0
    assert len(line.judged("learnt")["within"]) == len(line.truth)


def without(*facets: str) -> registry.ItemKind:
    return replace(KIND, facets=KIND.facets - set(facets))


OUT = ("--out", "nowhere")
ASKED = ("numbers", "--model", "baseline:prior", *OUT)


@pytest.mark.parametrize(
    ("facet", "verb", "arguments"),
    [
        ("describes", "show", ("numbers",)),
        ("asks", "predict", ASKED),
        ("reads", "predict", ASKED),
        ("judges", "score", ("numbers", "near", *OUT)),
        ("measures", "score", ("numbers", "near", *OUT)),
        ("judges", "audit", ("numbers", "near", "--groups", "wards.csv", *OUT)),
        ("audited", "audit", ("numbers", "near", "--groups", "wards.csv", *OUT)),
        ("trains", "train", ("numbers", "--preset", "echoqa", "--model", "hf:here", *OUT)),
        ("exports", "export", ("numbers", "--to", "chat", *OUT)),
    ],
)
def test_a_facet_it_lacks_is_named_with_the_kinds_that_have_it(
    line: Line,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    facet: str,
    verb: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.setitem(registry._MORE, "numeric", without(facet))
    assert main([verb, *arguments]) == 2
    told = capsys.readouterr().err
    assert "items of kind numeric cannot be " in told
    assert f"; kinds that can: {registry.can(facet)}\n" in told
    assert "true_false" in registry.can(facet)
    assert not Path("nowhere").exists()
