"""Questions, answers and contexts of a build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clinqa.builders.reports.batch_items import ItemOptions
from clinqa.builders.reports.batches import BatchBuilder, Recipe
from clinqa.core.ids import item_id
from clinqa.reading.segment import unwrap
from clinqa.simulate.echo import simulate
from clinqa.sources.reports import read_reports
from made_notes import BY_SECTION, FULL, THYROID, batch_of, built

REPORT = """\
PATIENT/TEST INFORMATION:
Indication: Severe aortic stenosis.
Height: (in) 66

INTERPRETATION:

Findings:

LEFT ATRIUM: Mild LA enlargement. The left atrium
 is well seen.

COMPARISON:
Full study of last year.

LEFT VENTRICLE: Mild symmetric   LVH. Moderately depressed LVEF.

MITRAL VALVE: Mild (1+) MR.

Conclusions:
The left atrium is mildly dilated. Mild (1+) mitral regurgitation is
seen.
"""


def items(text: str, options: ItemOptions = FULL) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = built([("s", "p", text)], items=options).tables.items.to_pylist()
    return rows


def one(rows: list[dict[str, Any]], category: str, kind: str = "finding") -> dict[str, Any]:
    found = [row for row in rows if (row["category"], row["question_type"]) == (category, kind)]
    assert len(found) == 1
    return found[0]


def test_the_answer_is_the_longest_of_the_sentences_that_name_least() -> None:
    row = one(items(REPORT), "mitral_regurgitation")
    assert row["answer"] == "Mild (1+) mitral regurgitation is seen."
    (span,) = row["spans"]
    assert REPORT[span["start"] : span["end"]] == "Mild (1+) mitral regurgitation is\nseen."
    assert row["level"] == 1


def test_columns_within_a_sentence_are_spaces_in_the_answer() -> None:
    assert one(items(REPORT), "lv_wall")["answer"] == "Mild symmetric LVH."


def test_a_sentence_set_in_columns_is_the_sentence_set_in_blanks() -> None:
    notes = [("a", "p", "MITRAL VALVE: Mild MR."), ("b", "q", "MITRAL VALVE: Mild     MR.")]
    rows = built(notes, items=ItemOptions()).tables.items.to_pylist()
    assert {row["answer"] for row in rows} == {"Mild MR."}
    assert len({row["statement_key"] for row in rows}) == 1


def test_ids_are_those_of_the_items_content() -> None:
    for row in items(REPORT):
        part = row["spans"][0]["part"] if row["spans"] else ""
        assert row["id"] == item_id("long_form", "s", part, None, row["question"], row["answer"])


def test_the_context_leaves_out_ignored_sections_and_keeps_the_rest_as_written() -> None:
    (context,) = {row["context"] for row in items(REPORT)}
    assert "Indication" not in context and "Height" not in context and "Full" not in context
    start, end = REPORT.index("LEFT ATRIUM"), REPORT.index("\n\nCOMPARISON")
    assert context == REPORT[start:end] + "\n\n" + REPORT[REPORT.index("LEFT VENTRICLE") :].rstrip()


def test_the_context_by_section_holds_the_structures_sections_and_the_answers() -> None:
    rows = items(REPORT, BY_SECTION)
    wall = one(rows, "lv_wall")["context"]
    assert wall.startswith("LEFT VENTRICLE:") and "MITRAL" not in wall and "Conclu" not in wall
    mitral = one(rows, "mitral_regurgitation")["context"]
    assert mitral.startswith("MITRAL VALVE:") and "Conclusions:" in mitral


@pytest.mark.parametrize("options", [FULL, BY_SECTION])
def test_every_answer_stands_in_its_context(tmp_path: Path, options: ItemOptions) -> None:
    simulate(150, 9, tmp_path / "r.csv")
    builder = BatchBuilder(Recipe(engine="python", items=options))
    checked = 0
    for batch in read_reports([tmp_path / "r.csv"]):
        texts = dict(
            zip(*(batch.studies[n].to_pylist() for n in ("study_id", "text")), strict=True)
        )
        for row in builder.build(batch).tables.items.to_pylist():
            if row["question_type"] == "finding":
                assert row["answer"] in unwrap(row["context"]).replace("\t", " ")
                checked += 1
            for span in row["spans"]:
                text = texts[row["source_id"]][span["start"] : span["end"]]
                assert unwrap(text).replace("\t", " ") == span["text"]
    assert checked > 1000


def test_canonical_answers_follow_the_level() -> None:
    text = (
        "Mild MR. LV cavity is small. The right ventricle is not well seen. Abnormal LA: it is "
        "enlarged. No AS. Right atrium is dilated."
    )
    rows = items(text)
    expected = {
        ("mitral_regurgitation", "adequacy"): "Yes.",
        ("mitral_regurgitation", "presence"): "Yes.",
        ("mitral_regurgitation", "severity"): "Mild.",
        ("rv_cavity", "adequacy"): "No.",
        ("la_cavity", "severity"): "Abnormal, severity not stated.",
        ("aortic_stenosis", "presence"): "No.",
        ("right_atrial_enlargement", "presence"): "Yes.",
        ("lv_cavity", "presence"): "No.",
    }
    for (category, kind), answer in expected.items():
        row = one(rows, category, kind)
        assert row["answer"] == answer, (category, kind)
        assert row["spans"] == one(rows, category)["spans"]
    asked = {(row["category"], row["question_type"]) for row in rows}
    assert ("rv_cavity", "presence") not in asked  # inadequate: nobody can say
    assert ("rv_cavity", "severity") not in asked
    assert ("aortic_stenosis", "severity") not in asked  # there is none to have a degree
    assert ("lv_cavity", "severity") not in asked  # small is no degree of dilation
    assert ("right_atrial_enlargement", "severity") not in asked  # has no degrees


def test_what_is_not_mentioned_is_asked_in_the_same_words() -> None:
    rows = items("MITRAL VALVE: Mild MR.")
    silent = [row for row in rows if row["question_type"] == "unmentioned"]
    assert len(silent) == 20
    for row in silent:
        assert row["answer"] == "The report does not say."
        assert row["spans"] == [] and row["level"] is None and row["statement_key"] is None
        assert row["draw"] is not None
    wording = one(rows, "mitral_regurgitation")["question"].replace("mitral", "*")
    assert one(rows, "aortic_regurgitation", "unmentioned")["question"] == wording.replace(
        "*", "aortic"
    )


def test_a_label_of_another_phase_is_no_silence() -> None:
    rows = items("MITRAL VALVE: Mild MR.\n\nPOST-BYPASS: No aortic stenosis.")
    assert not [row for row in rows if row["category"] == "aortic_stenosis"]


def test_paper_asks_one_question_a_label() -> None:
    rows = items(REPORT, ItemOptions())
    assert {row["question_type"] for row in rows} == {"finding"}
    assert "draw" not in rows[0]


def test_contradictions_are_labels_and_rejects_and_no_items() -> None:
    made = built([("s", "p", "MITRAL VALVE: Mild MR. Mitral regurgitation cannot be excluded.")])
    (label,) = [
        row
        for row in made.tables.labels.to_pylist()
        if row["abnormality"] == "mitral_regurgitation"
    ]
    assert label["level"] == -50
    assert len(label["spans"]) == 2
    assert not [r for r in made.tables.items.to_pylist() if r["category"] == "mitral_regurgitation"]
    (reject,) = made.tables.rejects
    assert (reject.stage, reject.reason, reject.source_id) == ("label", "conflicting_levels", "s")
    assert reject.detail == "mitral_regurgitation"


def test_a_report_that_says_nothing_is_rejected_whole() -> None:
    made = built([("s", "p", "INDICATION: Severe MR.\n\nFINDINGS:\n")])
    assert [(r.reason, r.row) for r in made.tables.rejects] == [("no_findings", 1)]
    assert made.tables.items.num_rows == made.tables.labels.num_rows == 0


def test_other_phases_are_labels_only() -> None:
    made = built([("s", "p", "PRE-BYPASS: Severe MR.\n\nPOST-BYPASS: Mild MR.")], items=FULL)
    labels = {
        (row["phase"], row["level"])
        for row in made.tables.labels.to_pylist()
        if row["abnormality"] == "mitral_regurgitation"
    }
    assert labels == {("baseline", 3), ("post", 1)}
    assert one(made.tables.items.to_pylist(), "mitral_regurgitation")["level"] == 3


PHASES = """\
PRE-BYPASS: Severe MR. Call 617-555-0100.

POST-BYPASS: Mild MR. Call 617-555-0101.

STRESS IMAGES: New hypokinesis of the inferior wall with stress.
"""


def test_the_context_is_the_baselines_and_what_stress_brings_out() -> None:
    made = built([("s", "p", PHASES)], items=FULL)
    (context,) = {row["context"] for row in made.tables.items.to_pylist()}
    assert "Severe MR" in context and "hypokinesis" in context
    assert "POST" not in context and "Mild MR" not in context
    assert made.identifiers["telephone"] == 2  # the other phase's words stand in labels.parquet
    by_section = built([("s", "p", PHASES)], items=BY_SECTION).tables.items.to_pylist()
    assert not [row for row in by_section if "Mild MR" in row["context"]]


def test_several_reports_in_one_note_are_several_studies() -> None:
    note = (
        "Chief Complaint:\ndyspnoea\n\nPertinent Results:\n"
        "TTE ___:\nMITRAL VALVE: Mild MR.\n\n"
        "CXR: Severe cardiomegaly.\n\n"
        "TEE ___:\nMITRAL VALVE: Moderate MR.\n\n"
        "Brief Hospital Course:\nHis severe AS was noted.\n"
    )
    made = built([("n", None, note), ("m", None, "MITRAL VALVE: No MR."), ("x", None, "Mild TR.")])
    assert made.tables.studies["study_id"].to_pylist() == ["n#1", "n#2", "m", "x"]
    assert made.tables.studies["group"].to_pylist() == ["n", "n", "m", "x"]
    rows = made.tables.items.to_pylist()
    said = {row["source_id"]: row for row in rows if row["category"] == "mitral_regurgitation"}
    assert said["n#1"]["level"] == 1 and said["n#2"]["level"] == 2 and said["m"]["level"] == 0
    for row in rows:
        for span in row["spans"]:
            if row["source_id"].startswith("n"):
                assert note[span["start"] : span["end"]] == span["text"]
        assert "cardiomegaly" not in row["context"] and "severe AS" not in row["context"]


def test_a_note_without_a_report_is_out_of_scope() -> None:
    note = (
        "Chief Complaint:\ncough\n\nPertinent Results:\nCXR: clear.\n\nBrief Hospital Course:\nok\n"
    )
    made = built([("n", "p", note)])
    assert (made.without_block, made.tables.studies.num_rows) == (1, 0)


def test_another_domain_needs_no_code() -> None:
    notes = [
        (
            "a",
            "p",
            "INDICATION: Known severe goitre.\nFINDINGS:\nTHYROID: The thyroid is moderately "
            "enlarged. Mild hypervascularity.\nLYMPH NODES: No cervical lymphadenopathy.\n",
        ),
        (
            "b",
            "q",
            "THYROID: The thyroid is normal in size. No hypervascularity.\n"
            "IMPRESSION: Lymphadenopathy is present. Severe goitre, no hypervascularity.",
        ),
        ("c", "r", "The thyroid gland is small. Lymph nodes not seen."),
    ]
    builder = BatchBuilder(Recipe(pack_dir=THYROID, engine="python", items=FULL))
    tables = builder.build(batch_of(notes)).tables
    labels = {
        (row["study_id"], row["abnormality"]): (row["level"], row["method"], row["explicit"])
        for row in tables.labels.to_pylist()
    }
    assert labels == {
        ("a", "goitre"): (2, "grammar", True),
        ("a", "hypervascularity"): (1, "grammar", True),
        ("a", "lymphadenopathy"): (0, "lexicon", True),
        ("b", "goitre"): (3, "grammar", True),
        ("b", "hypervascularity"): (0, "grammar", True),
        ("b", "lymphadenopathy"): (1, "grammar", True),
        ("c", "goitre"): (-1, "grammar", True),
        ("c", "lymphadenopathy"): (-3, "grammar", False),
    }
    rows = [row for row in tables.items.to_pylist() if row["source_id"] == "c"]
    assert one(rows, "goitre")["question"] == (
        "What does the ultrasound report say about enlargement of the thyroid?"
    )
    assert not [row for row in rows if row["question_type"] == "severity"]
    assert one(rows, "hypervascularity", "unmentioned")["structure"] == "GLAND"
