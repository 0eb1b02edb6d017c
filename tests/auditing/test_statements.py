"""`clinqa audit` on statements that are true or false, whose attributes are those of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.audit_runs import audit
from clinqa.cli.command_line import run as clinqa
from clinqa.core.errors import ConfigError, SourceError
from clinqa.dataset.reader import open_dataset
from clinqa.present.report import write_report
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from scoring.binary.made_statements import dataset, run

METRICS = ("accuracy", "sensitivity", "specificity", "status_answered")
DOCUMENTS = 50
FEW = {"draws": 100, "permutations": 199}


def document(number: int) -> int:
    return number % DOCUMENTS


def fair(number: int, label: bool) -> str:
    return str(label if number * 7919 % 10 > 1 else not label)


def unfair(number: int, label: bool) -> str:
    """Says True too often about the documents in French: specificity falls, and nothing else."""
    if document(number) % 3 == 0 and not label and number * 7919 % 10 < 7:
        return "True"
    return "I cannot say." if number == 1 else fair(number, label)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of pairs, two runs on it, their scores, and a table of its documents."""
    made = tmp_path_factory.mktemp("statements")
    data = dataset(made / "dataset", 300, documents=DOCUMENTS)
    run(made / "fair", data, fair)
    run(made / "unfair", data, unfair)
    ids = sorted(set(data.items("train", ["source_id"])["source_id"].to_pylist()))
    rows = [f"{one},{'English' if int(one.split('-')[1]) % 3 else 'French'}" for one in ids]
    (made / "documents.csv").write_text("\n".join(["source_id,language", *rows]))
    audit(data.folder, runs(made), made / "audit", options(made))
    score(data.folder, runs(made), made / "scores", ScoreOptions(draws=100))
    return made


def runs(place: Path) -> list[Path]:
    return [place / "fair", place / "unfair"]


def options(place: Path, **more: Any) -> AuditOptions:
    given = {"groups": [place / "documents.csv"], "metrics": METRICS, **FEW, **more}
    return AuditOptions(**given)


@pytest.fixture(scope="module")
def data(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "audit/audit.json").read_text())
    return found


def test_a_planted_gap_in_specificity_is_found_there_and_not_in_sensitivity(
    data: dict[str, Any],
) -> None:
    found = {
        (g["run"].split("-")[0], g["metric"])
        for g in data["gaps"]
        if g["measure"] == "equality_difference" and g["p_max"] <= 0.05
    }
    assert ("unfair", "specificity") in found
    assert found <= {("unfair", "specificity"), ("unfair", "accuracy")}
    gap = next(g for g in data["gaps"] if g["measure"] == "equality_difference_standardised")
    assert "permuted among documents" in gap["signature"] and "topic × label" in gap["signature"]
    assert data["meta"]["dimensions"][0]["unit"] == "document"


def test_figures_are_those_of_clinqa_score_and_its_folder_gives_the_same_audit(
    place: Path, data: dict[str, Any]
) -> None:
    known = json.loads((place / "scores/scores.json").read_text())["figures"]
    for one in (f for f in data["figures"] if f["metric"] in METRICS and not f["subset"]):
        (same,) = [
            f for f in known
            if (f["run"], f["metric"], f["signature"]) == (one["run"], one["metric"],
                                                           one["signature"]) and not f["subset"]
        ]  # fmt: skip
        assert one["value"] == pytest.approx(same["value"], abs=1e-12)
        assert (one["n"], one["clusters"]) == (same["n"], same["clusters"])
    audit(place / "dataset", runs(place), place / "again",
          options(place, scores=place / "scores"))  # fmt: skip
    assert json.loads((place / "again/audit.json").read_text()) == data


def test_scores_of_groups_equal_those_of_fairlearn(place: Path, data: dict[str, Any]) -> None:
    metrics = pytest.importorskip("fairlearn.metrics")
    rows = pq.read_table(place / "scores/items.parquet").to_pylist()
    rows = [row for row in rows if row["run"].startswith("unfair")]
    of = [int(row["source_id"].split("-")[1]) % 3 for row in rows]
    gold = np.array([row["label"] for row in rows])
    right = np.array([row["right"] for row in rows])
    judgements = np.where(right, gold, ~gold)  # no answer is wrong
    frame = metrics.MetricFrame(
        metrics={
            "accuracy": lambda true, said: np.mean(true == said),
            "sensitivity": metrics.true_positive_rate,
            "specificity": metrics.true_negative_rate,
        },
        y_true=gold,
        y_pred=judgements,
        sensitive_features=["English" if one else "French" for one in of],
    )
    for figure in data["figures"]:
        if figure["metric"] in METRICS[:3] and figure["run"].startswith("unfair"):
            group = figure["subset"].get("group")
            theirs = frame.overall if group is None else frame.by_group.loc[group]
            assert figure["value"] == pytest.approx(float(theirs[figure["metric"]]))


def test_what_is_no_mean_over_statements_and_what_has_no_tract_is_refused(
    place: Path, tmp_path: Path
) -> None:
    for more, said in (
        ({"metrics": ("macro_f1",)}, "of true_false items there are accuracy, sensitivity"),
        ({"metrics": ("token_f1",)}, "no mean over statements"),
        ({"quantiles_over": "tracts"}, "documents of statements are in no tract"),
        ({"tract_map": place / "documents.csv"}, "belong to documents, and documents to no tract"),
    ):
        with pytest.raises(ConfigError, match=said):
            audit(place / "dataset", runs(place), tmp_path / "a", options(place, **more))
    with pytest.raises(ConfigError, match="does not hold run other as it is now"):
        other = run(
            tmp_path / "other", open_dataset(place / "dataset"), lambda number, label: "True"
        )
        audit(place / "dataset", [other], tmp_path / "a",
              options(place, scores=place / "scores"))  # fmt: skip


def test_a_table_of_other_ids_ends_with_what_is_asked_for(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"

    def ended(text: str, *more: str) -> tuple[int, str]:
        table.write_text(text)
        code = clinqa(["audit", str(place / "dataset"), str(place / "fair"), "--groups",
                       str(table), "--out", str(tmp_path / "a"), *more])  # fmt: skip
        return code, capsys.readouterr().err

    code, said = ended("source_id,language\ngroup-001,French\n")
    assert code == SourceError.exit_code and "and not its group" in said
    code, said = ended("patient,language\n1,French\n")
    assert code == ConfigError.exit_code and "--document-column" in said
    rows = "".join(f"document-{n},{'a' if n < 5 else 'b'}\n" for n in range(DOCUMENTS))
    code, said = ended(f"mine,place\n{rows}", "--document-column", "mine", "--dry-run")
    assert code == ConfigError.exit_code and "10 documents or more" in said


def test_runs_that_answered_in_two_ways_are_not_audited_together(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clinqa.kinds.true_false.codes.how_of", lambda run: run.name)
    with pytest.raises(ConfigError, match="audit them one kind at a time"):
        audit(place / "dataset", runs(place), tmp_path / "a", options(place))


def test_repeats_of_statements_are_audited_each_and_together(place: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    ids = open_dataset(place / "dataset").items("train", ["id"])["id"].to_pylist()
    lines = [
        {"item": one, "repeat": repeat, "output": said}
        for one in ids
        for repeat, said in enumerate(("True", "False"))
    ]
    script.write_text("\n".join(map(json.dumps, lines)))
    asked = ["predict", str(place / "dataset"), "--split", "train", "--model", f"scripted:{script}"]
    more = ["--repeats", "2", "--vary", "sampling", "--out", str(tmp_path / "r")]
    assert clinqa([*asked, *more]) == 0
    audit(place / "dataset", [tmp_path / "r"], tmp_path / "a", options(place))
    made = json.loads((tmp_path / "a/audit.json").read_text())
    values = {f["metric"]: f["value"] for f in made["figures"] if not f["subset"]}
    assert values == {
        **dict.fromkeys(("accuracy", "sensitivity", "specificity"), 0.5),
        "status_answered": 1,
    }
    repeats = [g["repeats"] for g in made["gaps"] if g["measure"] == "equality_difference_repeats"]
    assert len(repeats) == len(METRICS) and all(len(of) == 2 for of in repeats)


def test_the_page_of_the_scores_holds_the_audit_in_the_words_of_documents(place: Path) -> None:
    page = place / "panel.html"
    written = write_report([place / "scores", place / "audit"], page)
    html = page.read_text(encoding="utf-8")
    assert '<h2 id="fairness">' in html and '<a href="#fairness">' in html
    section = html[html.index('<h2 id="fairness">') :].split('<section id="how">')[0]
    assert "the same for every group of documents" in section
    assert "attribute of documents" in section
    assert "patient" not in section and "tract" not in section
    assert "standardised over topic × label" in section
    assert '"measure":"equality_difference"' in html and written.private is False
    for word in ("Sensitivity", "Specificity", "French", "chance alone gives"):
        assert word in section


def test_a_page_of_statements_holds_one_audit_of_their_dataset(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one audit"):
        write_report([place / "scores", place / "audit", place / "audit"], tmp_path / "p.html")
    with pytest.raises(ConfigError, match="beside scores of its runs"):
        write_report([place / "audit"], tmp_path / "p.html")
    other = dataset(tmp_path / "other", 200, documents=DOCUMENTS)
    run(tmp_path / "one", other, fair)
    audit(other.folder, [tmp_path / "one"], tmp_path / "audit", options(place))
    with pytest.raises(ConfigError, match="another dataset"):
        write_report([place / "scores", tmp_path / "audit"], tmp_path / "p.html")
