"""Made-up data are marked: in manifest, card, page and everything that is made of them."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from clinqa.builders.reports.pipeline import BuildOptions, build_reports
from clinqa.cli.command_line import run as clinqa
from clinqa.core.manifest import Manifest
from clinqa.core.origin import PARTLY, SIMULATED
from clinqa.core.records import DataClass
from clinqa.dataset.export import export
from clinqa.dataset.export_options import ExportOptions
from clinqa.simulate.echo import is_simulated, made_by_path, simulate
from scoring.binary.made_statements import dataset


def manifest(folder: Path) -> Manifest:
    return Manifest.read(folder / "manifest.json")


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports, dataset, run, scores, audit and page, by the command line."""
    place = tmp_path_factory.mktemp("made-up")
    simulate(60, 2, place / "r.csv")
    names = ("r.csv", "d", "run", "scores", "cohort", "audit", "page.html", "figures")
    r, d, run, scores, cohort, audit, page, figures = (str(place / name) for name in names)
    few = ["--resamples", "100"]
    for words in (
        ["build", "echo", r, "--workers", "1", "--out", d],
        ["predict", d, "--model", "baseline:prior", "--out", run],
        ["score", d, run, *few, "--out", scores],
        ["simulate", "cohort", d, "--out", cohort],
        ["audit", d, run, "--groups", f"{cohort}/patients.csv", "--min-patients", "3", *few,
         "--permutations", "100", "--out", audit],
        ["report", scores, audit, "-o", page, "--figures", figures],
    ):  # fmt: skip
        assert clinqa(words) == 0
    return place


@pytest.mark.parametrize("folder", ["d", "run", "scores", "audit", "figures"])
def test_what_is_derived_from_a_simulation_says_so(line: Path, folder: str) -> None:
    found = manifest(line / folder)
    assert (found.data_class, found.origin) == ("public", SIMULATED)
    assert found.identity["origin"] == SIMULATED


def test_card_croissant_scores_and_page_say_that_data_are_made_up(line: Path) -> None:
    card = (line / "d/README.md").read_text(encoding="utf-8")
    assert "> **Made-up data.**" in card and "origin:simulated" in card
    croissant = json.loads((line / "d/croissant.json").read_text(encoding="utf-8"))
    assert croissant["description"].startswith("Made-up data.")
    for name in ("scores/scores.json", "audit/audit.json"):
        meta = json.loads((line / name).read_text(encoding="utf-8"))["meta"]
        assert meta["dataset"]["origin"] == SIMULATED
    page = (line / "page.html").read_text(encoding="utf-8")
    assert "<strong>Made-up data.</strong>" in page
    assert '<meta name="clinqa-origin" content="simulated">' in page
    latex = next((line / "figures/tables").glob("*.tex")).read_text(encoding="utf-8")
    assert "\\caption{Made-up data. " in latex


def test_a_simulation_that_was_changed_is_not_one(tmp_path: Path) -> None:
    simulate(20, 2, tmp_path / "r.csv")
    assert is_simulated(tmp_path / "r.csv")
    body = (tmp_path / "r.csv").read_text(encoding="utf-8")
    for name, text in {"longer": body + body.splitlines()[-1] + "\n", "shorter": body[:-1],
                       "other": body.replace("Echo", "echo", 1)}.items():  # fmt: skip
        path = tmp_path / f"{name}.csv"
        path.write_text(text, encoding="utf-8")
        shutil.copy(made_by_path(tmp_path / "r.csv"), made_by_path(path))
        assert not is_simulated(path)


@pytest.mark.parametrize(
    "told",
    ["", "[]", "{}", '{"verb": "simulate echo", "studies": true, "seed": 2}',
     '{"verb": "simulate echo", "studies": 1e9, "seed": 2}',
     '{"verb": "simulate echo", "studies": 10000000000, "seed": 3}'],
)  # fmt: skip
def test_what_stands_beside_reports_is_not_believed(tmp_path: Path, told: str) -> None:
    simulate(5, 2, tmp_path / "r.csv")
    made_by_path(tmp_path / "r.csv").write_text(told, encoding="utf-8")
    assert not is_simulated(tmp_path / "r.csv")


def test_real_reports_beside_simulated_ones_keep_their_class(tmp_path: Path) -> None:
    simulate(20, 2, tmp_path / "r.csv")
    rows = (tmp_path / "r.csv").read_text(encoding="utf-8")
    (tmp_path / "own.csv").write_text(rows.replace('"', "").replace("1", "2"), encoding="utf-8")
    (tmp_path / "own.csv").write_text("study,text\nA1,FINDINGS: MITRAL VALVE: Mild MR.\n")
    asked = BuildOptions(workers=1)
    build_reports([tmp_path / "own.csv"], tmp_path / "own", asked)
    assert (manifest(tmp_path / "own").data_class, manifest(tmp_path / "own").origin) == (
        "restricted", ""
    )  # fmt: skip


def test_a_class_that_is_given_stands(tmp_path: Path) -> None:
    simulate(20, 2, tmp_path / "r.csv")
    asked = BuildOptions(workers=1, data_class=DataClass.PHI)
    build_reports([tmp_path / "r.csv"], tmp_path / "d", asked)
    found = manifest(tmp_path / "d")
    assert (found.data_class, found.origin) == ("phi", SIMULATED)


def test_reports_of_which_some_are_made_up_are_partly_so_and_private(tmp_path: Path) -> None:
    for name, seed in (("a", 2), ("b", 3)):
        simulate(20, seed, tmp_path / f"{name}.csv")
    made_by_path(tmp_path / "b.csv").unlink()
    asked = BuildOptions(workers=1)
    build_reports([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "d", asked)
    found = manifest(tmp_path / "d")
    assert (found.data_class, found.origin) == ("restricted", PARTLY)


@pytest.mark.parametrize("origin", ["", SIMULATED])
@pytest.mark.parametrize("to", ["chat", "lm-eval", "inspect"])
def test_every_line_of_an_export_says_that_it_is_made_up(
    tmp_path: Path, to: str, origin: str
) -> None:
    made = dataset(tmp_path / "d", pairs=12)
    told = replace(made.manifest, origin=origin)
    (made.folder / "manifest.json").write_text(told.to_json(), encoding="utf-8")
    export(made.folder, tmp_path / "out", ExportOptions(to=to))
    assert manifest(tmp_path / "out").origin == origin
    lines = [
        json.loads(line)
        for path in (tmp_path / "out").glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert lines and {one.get("metadata", one).get("origin", "") for one in lines} == {origin}


def test_a_mark_that_was_taken_off_is_found(line: Path, tmp_path: Path) -> None:
    shutil.copytree(line / "d", tmp_path / "d")
    path = tmp_path / "d/manifest.json"
    path.write_text(replace(manifest(tmp_path / "d"), origin="").to_json(), encoding="utf-8")
    assert clinqa(["verify", str(tmp_path / "d")]) == 1
