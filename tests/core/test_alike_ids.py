"""Ids that differ only in capitals, padding or zeros: one warning with counts, and no id in it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.auditing.assembled import assembled
from clinqa.builders.banks.bank_options import BankTfOptions
from clinqa.builders.banks.specialty.pipeline import build_specialty
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.truefalse import build_bank_tf
from clinqa.builders.reports.pipeline import BuildOptions, build_reports
from clinqa.core.alike_ids import alike_ids, bare_id, told_alike
from clinqa.core.stage import StageResult
from clinqa.kinds.facets.audited import PATIENTS
from clinqa.kinds.registry import kind_named
from clinqa.scoring.human import read_human
from clinqa.studying.study_options import TableOptions
from clinqa.studying.whole_study import cross_tables
from made_notes import write_csv
from studying.made_study import made_table


def alike(result: StageResult) -> list[str]:
    return [one for one in result.warnings if "padding or zeros only" in one]


@given(st.text(min_size=1, max_size=8), st.integers(0, 3), st.sampled_from(["", " ", "\t"]))
def test_padding_and_case_change_no_bare_id(text: str, zeros: int, blank: str) -> None:
    assert bare_id(f"{blank}{text}{blank}") == bare_id(text)
    if text.isascii():
        assert bare_id(text.upper()) == bare_id(text.lower())
    if text.isascii() and text.isdigit():
        assert bare_id("0" * zeros + text + ".0") == bare_id(text)


def test_the_same_id_again_and_ids_of_different_places_are_not_alike() -> None:
    assert alike_ids(["7", "7", "8"]) == (2, 0, 0)
    assert alike_ids([("a", "7"), ("b", "07")]) == (2, 0, 0)
    assert alike_ids([("a", "7"), ("a", "07")]) == (2, 2, 1)
    assert told_alike("x", items=["1.5", "1.05", "15", "a-1", "a1"]) == []


def test_reports_tell_of_patients_and_of_studies(tmp_path: Path) -> None:
    text = "MITRAL VALVE: Mild MR."
    ids = [("s1", "7"), ("S1", "007"), ("s2", "7.0"), ("s3", "8"), ("s4", "p")]
    notes = [(study, patient, f"{text} No {n} AS.") for n, (study, patient) in enumerate(ids)]
    source = write_csv(tmp_path / "r.csv", notes)
    result = build_reports([source], tmp_path / "d", BuildOptions(workers=1, engine="python"))
    assert alike(result) == [
        "3 of 5 ids of patients (1 set), 2 of 5 ids of studies (1 set) differ from another in "
        "capitals, padding or zeros only; they were taken as different: write them alike where "
        "they are the same"
    ]
    assert result.counts["kept"] == 5


def test_banks_and_labels_tell_of_questions(tmp_path: Path) -> None:
    def bank(name: str, *ids: object) -> Path:
        rows = [
            {"id": one, "question": f"Which ECG lead is {n}?", "options": ["an ST", f"b{n}"],
             "answer_idx": 0, "specialty": "Cardiology"}
            for n, one in enumerate(ids)
        ]  # fmt: skip
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))
        return tmp_path / name

    odd, even = bank("odd.jsonl", "A1", "a1", 7, "007", "b"), bank("even.jsonl", "A1", "7")
    made = build_bank_tf([odd], tmp_path / "tf", BankTfOptions())
    assert [one[:38] for one in alike(made)] == ["4 of 5 ids of questions (2 sets) differ"[:38]]
    made = build_specialty([even], tmp_path / "s", SpecialtyOptions(annotator="metadata"))
    assert alike(made) == []
    options = SpecialtyOptions(annotator="metadata", expert=(str(odd),))
    made = build_specialty([even], tmp_path / "e", options)
    assert [one.split(" ids")[0] for one in alike(made)] == ["--expert: 4 of 5"]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_tables_of_patients_and_maps_tell_of_both_ids(tmp_path: Path, name: str) -> None:
    rows = {"subject_id": ["7", "007", "8"], "tract": ["e1", "E1", "2"], "sex": ["M", "F", "F"]}
    if name.endswith("csv"):
        pl.DataFrame(rows).write_csv(tmp_path / name)
    else:
        pq.write_table(pa.table(rows), tmp_path / name)
    for tables, tract_map in (([tmp_path / name], None), ([], tmp_path / name)):
        told = assembled(tables, tract_map, None, None, (), (), PATIENTS).told
        assert len(told) == 1
        assert told[0].startswith(
            f"{name}: 2 of 3 ids of patients (1 set), 2 of 3 ids of tracts (1 set) differ"
        )


def test_sheets_of_verdicts_and_tables_of_answers_tell_too(tmp_path: Path) -> None:
    sheet = tmp_path / "h.csv"
    sheet.write_text("item_id,verdict\nabc1,right\nABC1,wrong\n")
    corrects = kind_named("long_form").facet("measures").corrects
    assert read_human(sheet, {"r": "r"}, corrects).told[0].startswith("h.csv: 2 of 2 ids of items")
    table = made_table(2, seeds=1, questions=4)
    first = table["specialty"][0]
    odd = pl.when(pl.col("specialty") == first).then(pl.lit(first.upper()))
    table = table.with_columns(odd.otherwise(pl.col("specialty")).alias("specialty"))
    table.write_csv(tmp_path / "t.csv")
    result = cross_tables([tmp_path / "t.csv"], tmp_path / "out", TableOptions())
    assert [one.split(" differ")[0] for one in alike(result)] == [
        "2 of 5 ids of specialties (1 set)"
    ]
