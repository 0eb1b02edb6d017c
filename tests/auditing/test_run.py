"""`clinqa audit` from folders to a folder: made cohorts, scripted answerers, the real verbs."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clinqa.auditing.audit_options import AuditOptions
from clinqa.auditing.audit_runs import audit
from clinqa.auditing.records import Gap
from clinqa.builders.reports.pipeline import BuildOptions, build_reports
from clinqa.cli.command_line import run as clinqa
from clinqa.core.errors import CheckFailed, ConfigError, SourceError
from clinqa.core.manifest import Manifest
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.scoring.score_options import ScoreOptions
from clinqa.scoring.score_runs import score
from clinqa.simulate.echo import simulate
from scoring.made_runs import items, reference, write_run

METRICS = ("token_f1", "level_accuracy", "error_dangerous_any", "error_dangerous_severe_as_mild")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset, a cohort over it, and two runs asked by the real verb."""
    place = tmp_path_factory.mktemp("audited")
    simulate(420, 4, place / "reports.csv")
    dataset = place / "dataset"
    asked = BuildOptions(workers=1, data_class=DataClass.RESTRICTED)
    build_reports([place / "reports.csv"], dataset, asked)
    cohort = place / "cohort"
    made = ["simulate", "cohort", str(dataset), "--out", str(cohort), "--repeats", "2"]
    assert clinqa([*made, "--on", "insurance", "--drop", "0.5", "--seed", "3"]) == 0
    for name in ("fair", "unfair"):
        script = f"scripted:{cohort / name}.jsonl"
        asked = ["predict", str(dataset), "--model", script, "--repeats", "2"]
        asked += ["--vary", "sampling"]
        assert clinqa([*asked, "--out", str(place / name)]) == 0
    return place


@pytest.fixture(scope="module")
def dataset(folder: Path) -> Dataset:
    return open_dataset(folder / "dataset")


def options(folder: Path, **more: Any) -> AuditOptions:
    tables = [folder / "cohort/patients.csv", folder / "cohort/tracts.csv"]
    given = {"groups": tables, "draws": 200, "permutations": 199, **more}
    return AuditOptions(**given)


def runs(folder: Path) -> list[Path]:
    return [folder / "fair", folder / "unfair"]


@pytest.fixture(scope="module")
def made(folder: Path) -> Path:
    out = folder / "audit"
    audit(folder / "dataset", runs(folder), out, options(folder, metrics=METRICS))
    return out


@pytest.fixture(scope="module")
def data(made: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((made / "audit.json").read_text())
    return found


def pick(data: dict[str, Any], kind: str, **wanted: Any) -> list[dict[str, Any]]:
    return [one for one in data[kind] if all(one[key] == value for key, value in wanted.items())]


def test_the_planted_gap_is_found_in_the_unfair_run_and_nowhere_else(data: dict[str, Any]) -> None:
    gaps = pick(data, "gaps", metric="level_accuracy", measure="equality_difference")
    found = {(g["run"].split("-")[0], g["dimension"]) for g in gaps if g["p_max"] <= 0.05}
    assert found == {("unfair", "insurance")}
    (worst,) = [
        f for f in pick(data, "figures", metric="level_accuracy_worst_group")
        if f["run"].startswith("unfair") and f["subset"]["dimension"] == "insurance"
    ]  # fmt: skip
    assert worst["subset"]["group"] == "Medicaid"


def test_the_gaps_of_two_runs_are_compared_over_each_dimension(data: dict[str, Any]) -> None:
    pairs = [one for one in data["gap_pairs"] if one["metric"] == "level_accuracy"]
    assert {one["dimension"] for one in pairs} == {
        one["name"] for one in data["meta"]["dimensions"]
    }
    (insurance,) = [one for one in pairs if one["dimension"] == "insurance"]
    assert insurance["difference"] < -0.05 and insurance["p_max"] < 0.05  # fair less unfair
    assert insurance["signature"].startswith("gap|difference of two runs' equality_difference")


def test_every_figure_and_gap_has_a_signature_n_and_patients(data: dict[str, Any]) -> None:
    for one in (*data["figures"], *data["gaps"]):
        assert one["signature"]
        assert one["value"] is None or (one["n"] > 0 and one["clusters"] > 0)
    for gap in data["gaps"]:
        assert gap["signature"].startswith(f"gap|{gap['measure']}|")


def test_scores_and_gaps_are_two_kinds_of_record_that_refuse_each_other(
    data: dict[str, Any], made: Path
) -> None:
    score_of = pick(data, "figures", metric="token_f1", subset={})[0]
    with pytest.raises(ValueError, match="a score is no gap"):
        Gap("r", "m", 0, "d", "token_f1", "equality_difference", score_of["value"], 1, 1,
            score_of["signature"])  # fmt: skip
    for path in (made / "tables").glob("gaps_*.csv"):
        with path.open() as file:
            ways = {row["signature"].split("|")[1] for row in csv.DictReader(file)}
        assert len(ways) == 1  # a file holds one measure


def test_overall_scores_are_those_of_clinqa_score(folder: Path, data: dict[str, Any]) -> None:
    score(folder / "dataset", runs(folder), folder / "scores", ScoreOptions(draws=100))
    known = json.loads((folder / "scores/scores.json").read_text())["figures"]
    for metric in METRICS:
        for figure in pick(data, "figures", metric=metric, subset={}):
            (same,) = [
                f for f in known
                if f["run"] == figure["run"] and f["metric"] == metric and not f["subset"]
            ]  # fmt: skip
            assert figure["signature"] == same["signature"]
            if same["value"] is None:
                assert figure["value"] is None
            else:
                assert figure["value"] == pytest.approx(same["value"], abs=1e-12)
                assert figure["n"] == same["n"]
    again = folder / "audit-of-scores"
    audit(folder / "dataset", runs(folder), again,
          options(folder, metrics=METRICS, scores=folder / "scores"))  # fmt: skip
    assert json.loads((again / "audit.json").read_text()) == data


def test_scores_of_other_runs_or_touched_ones_are_refused(
    folder: Path, dataset: Dataset, tmp_path: Path
) -> None:
    other = write_run(tmp_path / "other", dataset, reference)
    score(folder / "dataset", [other], tmp_path / "scores", ScoreOptions(draws=100))
    with pytest.raises(ConfigError, match="does not hold run fair as it is now"):
        audit(folder / "dataset", runs(folder), tmp_path / "a",
              options(folder, scores=tmp_path / "scores"))  # fmt: skip
    (tmp_path / "scores/items.parquet").write_bytes(b"PAR1")
    with pytest.raises(CheckFailed, match="changed since it was made"):
        audit(folder / "dataset", [other], tmp_path / "b",
              options(folder, scores=tmp_path / "scores"))  # fmt: skip


def test_any_mean_that_score_knows_can_be_audited_and_others_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    for metric in ("bleu", "level_weighted_kappa", "nothing"):
        with pytest.raises(ConfigError, match=r"groups have no share in it; there are .*token_f1"):
            audit(folder / "dataset", runs(folder)[:1], tmp_path / metric,
                  options(folder, metrics=(metric,)))  # fmt: skip


def test_the_mean_of_gaps_comes_with_its_spread_over_repeats(data: dict[str, Any]) -> None:
    for gap in pick(data, "gaps", measure="equality_difference_repeats", metric="token_f1"):
        assert len(gap["repeats"]) == 2 and gap["sd"] is not None
        assert gap["value"] == pytest.approx(sum(gap["repeats"]) / 2)
        assert gap["excess"] == pytest.approx(gap["value"] - gap["expected"])


def test_cut_points_groups_units_and_missing_are_told(data: dict[str, Any]) -> None:
    named = {one["name"]: one for one in data["meta"]["dimensions"]}
    assert named["income"]["unit"] == "tract" and len(named["income"]["cuts"]) == 3
    assert named["age"]["unit"] == "patient" and named["age"]["kind"] == "quartiles"
    patients = data["meta"]["settings"]["patients"]
    for one in named.values():
        if one["missing"] is not None and not any(g["withheld"] for g in one["groups"]):
            assert sum(g["patients"] for g in one["groups"]) + one["missing"] == patients


def test_small_groups_are_withheld_with_their_counts(data: dict[str, Any]) -> None:
    small = [
        (one["name"], group["name"])
        for one in data["meta"]["dimensions"]
        for group in one["groups"]
        if group["withheld"]
    ]
    assert small
    for dimension, group in small:
        for figure in data["figures"]:
            if figure["subset"] == {"dimension": dimension, "group": group}:
                assert figure["value"] is None and figure["n"] == figure["clusters"] == 0


def test_no_patient_stands_in_what_is_written_and_files_are_the_owners(
    made: Path, folder: Path, dataset: Dataset
) -> None:
    patients = {item["group"] for item in items(dataset)}
    ids = {item["id"] for item in items(dataset)}
    for path in made.rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            lines = path.read_text(encoding="utf-8").splitlines()
            text = "\n".join(line for line in lines if '"bytes":' not in line)  # a size is no id
            words = set(text.replace('"', " ").replace(",", " ").split())
            assert not words & patients and not words & ids
    assert Manifest.read(made / "manifest.json").data_class == "restricted"


def test_an_audit_is_done_once_and_another_one_is_refused(folder: Path, made: Path) -> None:
    again = audit(folder / "dataset", runs(folder), made, options(folder, metrics=METRICS))
    assert again.already_done
    with pytest.raises(ConfigError, match=r"different: .*seed"):
        audit(folder / "dataset", runs(folder), made, options(folder, metrics=METRICS, seed=1))


def test_intersections_of_patients_and_tracts_are_permuted_each_at_its_own_unit(
    folder: Path, tmp_path: Path, data: dict[str, Any]
) -> None:
    audit(folder / "dataset", runs(folder)[1:], tmp_path / "a",
          options(folder, dimensions=("sex",), intersect=[["sex", "income"]]))  # fmt: skip
    made = json.loads((tmp_path / "a/audit.json").read_text())
    assert [one["name"] for one in made["meta"]["dimensions"]] == ["sex", "sex × income"]
    gap = pick(made, "gaps", dimension="sex × income", measure="equality_difference")[0]
    assert "each attribute at its own" in gap["signature"] and gap["p"] is not None
    income = next(one for one in data["meta"]["dimensions"] if one["name"] == "income")
    crossed = [one["name"] for one in made["meta"]["dimensions"][1]["groups"]]
    assert crossed == [f"{sex} × {one['name']}" for sex in "FM" for one in income["groups"]]


def test_a_dry_run_writes_nothing_and_says_what_it_would(folder: Path, tmp_path: Path) -> None:
    result = audit(folder / "dataset", runs(folder), tmp_path / "a", options(folder, dry_run=True))
    assert not (tmp_path / "a").exists()
    assert "would send nothing anywhere" in result.lines
    assert any("groups of income (tract level)" in line for line in result.lines)


def test_bad_tables_end_with_one_line_and_their_exit_code(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    patients = sorted({item["group"] for item in items(open_dataset(folder / "dataset"))})

    def ended(text: str) -> tuple[int, str]:
        path.write_text(text, encoding="utf-8")
        code = clinqa(
            ["audit", str(folder / "dataset"), str(folder / "fair"), "--groups", str(path),
             "--out", str(tmp_path / "a")]
        )  # fmt: skip
        return code, capsys.readouterr().err

    one, two = patients[0], patients[1]
    assert ended(f"patient,sex\n{one},F\n{one},M\n")[0] == SourceError.exit_code
    assert ended("patient,sex\nnobody,F\n")[0] == SourceError.exit_code
    for rows, reason in (
        ("".join(f"{p},F\n" for p in patients), "all patients have the same value"),
        (f"{one},\n{two},NA\n", "all are missing"),
        ("".join(f"{p},c{n}\n" for n, p in enumerate(patients)), "categories (at most 50)"),
    ):
        code, said = ended("patient,sex\n" + rows)
        assert code == ConfigError.exit_code and reason in said, said
        assert "Traceback" not in said and not any(f" {p} " in said for p in patients)


def test_runs_with_different_repeats_and_items_are_warned_of(
    folder: Path, dataset: Dataset, tmp_path: Path
) -> None:
    few = write_run(tmp_path / "few", dataset, reference, limit=300)
    result = audit(folder / "dataset", [folder / "fair", few], tmp_path / "a", options(folder))
    told = " ".join(result.warnings)
    assert "different numbers of repeats" in told and "answered different items" in told


def test_a_run_that_is_right_everywhere_has_no_gap_and_no_suspicion(
    folder: Path, dataset: Dataset, tmp_path: Path
) -> None:
    right = write_run(tmp_path / "right", dataset, reference)
    audit(folder / "dataset", [right], tmp_path / "a", options(folder))
    data = json.loads((tmp_path / "a/audit.json").read_text())
    for gap in pick(data, "gaps", measure="equality_difference"):
        assert gap["value"] == pytest.approx(0) and gap["p"] == gap["p_max"] == 1


def test_front_runs_are_those_that_no_run_beats_on_both(data: dict[str, Any]) -> None:
    points = pick(data["meta"], "pareto", metric="level_accuracy", dimension="insurance")
    front: Callable[[str], bool] = lambda name: next(  # noqa: E731
        p["front"] for p in points if p["run"].startswith(name)
    )
    assert front("fair") and not front("unfair")


def test_a_figure_stands_on_as_many_patients_with_answers_as_a_group_must_have(
    folder: Path, tmp_path: Path
) -> None:
    rare = "error_dangerous_severe_as_mild"
    result = audit(folder / "dataset", runs(folder), tmp_path / "a",
                   options(folder, metrics=("level_accuracy", rare), min_patients=3))  # fmt: skip
    data = json.loads((tmp_path / "a/audit.json").read_text())
    shown = [f for f in data["figures"] if f["value"] is not None and f["subset"]]
    assert min(one["clusters"] for one in shown) >= 3
    held = {(f["metric"], f["subset"].get("dimension"), f["subset"].get("group"))
            for f in data["figures"] if "withheld" in f["signature"]}  # fmt: skip
    hidden = [key for key in held if key[0] == rare and ("level_accuracy", *key[1:]) not in held]
    assert hidden, "no group is small in the rare metric only: the test tests nothing"
    assert any(rare in one and "answers that the metric is over" in one for one in result.warnings)
    for gap in pick(data, "gaps", metric=rare, measure="equality_difference"):
        mine = [k for k in held if k[:2] == (rare, gap["dimension"]) and k[2] != "missing"]
        groups = next(d for d in data["meta"]["dimensions"] if d["name"] == gap["dimension"])
        assert gap["groups"] == len(groups["groups"]) - len(mine)


def test_a_metric_over_hardly_anybody_is_an_error(folder: Path, tmp_path: Path) -> None:
    few = options(folder, metrics=("error_dangerous_severe_as_mild",), dimensions=("sex",),
                  min_patients=25)  # fmt: skip
    with pytest.raises(ConfigError, match="no gap is left to audit: error_dangerous_severe_as_"):
        audit(folder / "dataset", runs(folder), tmp_path / "a", few)


def test_a_copy_of_a_run_is_refused(folder: Path, dataset: Dataset, tmp_path: Path) -> None:
    shutil.copytree(folder / "fair", tmp_path / "copy")
    with pytest.raises(ConfigError, match="fair and copy are copies of one run"):
        audit(folder / "dataset", [folder / "fair", tmp_path / "copy"], tmp_path / "a",
              options(folder))  # fmt: skip
