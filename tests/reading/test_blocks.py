"""Echo reports inside longer notes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.reading.blocks import find_blocks
from clinqa.reading.studies import may_be_divided

STARTS = (
    "TTE",
    "TEE",
    "ECHO",
    "ECHOCARDIOGRAM",
    "TRANSTHORACIC ECHO",
    "TRANSTHORACIC ECHOCARDIOGRAM",
    "PATIENT/TEST INFORMATION",
)
STOPS = (
    "CXR",
    "CT",
    "CT HEAD",
    "EKG",
    "ECG",
    "MRI",
    "Chest X-ray",
    "Discharge Labs",
    "Admission Labs",
    "Brief Hospital Course",
    "Micro",
    "Cardiac cath",
)
GOLD = Path(__file__).parents[3] / "shared" / "data" / "echo" / "mimic_like_gold.jsonl"

FINDINGS = """LEFT ATRIUM: Mild LA enlargement.
LEFT VENTRICLE: Normal cavity size. LVEF 60%.
___ VALVE: Mild TR.
PERICARDIUM: No effusion."""


def divided(text: str) -> bool:
    found = may_be_divided(pa.array([text], pa.large_string()), STARTS, STOPS)
    return bool(found[0])


def blocks(text: str) -> list[str]:
    # the quick answer must never contradict the exact one
    whole = find_blocks(text, STARTS, STOPS) == [(0, len(text))]
    assert whole or divided(text)
    return [text[start:end] for start, end in find_blocks(text, STARTS, STOPS)]


def summary(results: str, course: str = "Stable.") -> str:
    return (
        "Admission Date: ___   Discharge Date: ___\n\nChief Complaint:\ndyspnea\n\n"
        "History of Present Illness:\nShe came in short of breath. A TTE showed normal EF.\n\n"
        f"Pertinent Results:\nADMISSION LABS:\n___ 05:45AM BLOOD WBC-8.9 RBC-3.47* Hgb-10.4*\n"
        f"{results}\n\nBrief Hospital Course:\n{course}\n\nDischarge Condition:\nGood\n"
    )


@pytest.mark.parametrize(
    "header",
    [
        "TTE ___:",
        "TTE (___):",
        "___ TTE:",
        "tte:",
        "Echo:",
        "ECHO ___",
        "___ ECHO",
        "___ Echocardiogram - TTE",
        "[**2150-3-4**] TTE:",
        "Transthoracic  Echo [**2150-3-4**]:",
        "Portable TTE (Complete) Done ___ at 3:37:02 PM   FINAL",
        "TTE (Complete) ___ at 10:00:00 AM:",
        "# TTE ___:",
        "*TTE* (___):",
        "=== TTE ===",
        "ECHO REPORT ___:",
        "Repeat TTE on 3/4/2150:",
        "2. Echocardiogram (March 4):",
        "ECHOCARDIOGRAM\nTTE ___:\nPATIENT/TEST INFORMATION:",
    ],
)
def test_a_header_in_many_spellings_opens_a_block(header: str) -> None:
    found = blocks(summary(f"{header}\n{FINDINGS}\n\nCXR ___:\nMild edema."))
    assert len(found) == 1
    assert found[0].endswith(FINDINGS)
    assert "WBC" not in found[0]


@pytest.mark.parametrize(
    "stop",
    [
        "CXR ___:",
        "___ CXR:",
        "CXR",
        "- CXR: clear",
        "CT HEAD W/O CONTRAST ___:",
        "Discharge Labs",
        "DISCHARGE LABS:",
        "EKG: sinus rhythm",
        "RUQ US (___):",
        "Abdominal ultrasound ___: gallstones",
        "___ 06:10AM BLOOD WBC-7.1",
        "Chest X-Ray [**2150-3-9**]: no edema",
    ],
)
def test_a_block_ends_where_something_else_begins(stop: str) -> None:
    found = blocks(summary(f"TTE ___:\n{FINDINGS}\n\n{stop}\nSevere osteopenia of the spine."))
    assert found == [f"TTE ___:\n{FINDINGS}"]


def test_a_block_ends_at_the_next_section_of_the_note() -> None:
    assert blocks(summary(f"TTE ___:\n{FINDINGS}")) == [f"TTE ___:\n{FINDINGS}"]


def test_the_findings_own_headers_end_nothing() -> None:
    body = f"{FINDINGS}\n\nConclusions:\nMild TR.\n\nADDENDUM (___): TR is moderate."
    assert blocks(summary(f"TTE ___:\n{body}\nCXR: clear")) == [f"TTE ___:\n{body}"]


def test_text_after_the_colon_on_the_same_line_is_the_body() -> None:
    found = blocks(summary("TTE ___: The left atrium is dilated. EF 55%.\nNo AS.\nCXR: clear"))
    assert found == ["TTE ___: The left atrium is dilated. EF 55%.\nNo AS."]
    found = blocks(summary("TTE ___ - EF 55%, mild MR, no effusion.\nCXR: clear"))
    assert found == ["TTE ___ - EF 55%, mild MR, no effusion."]


def test_a_header_may_stand_on_the_line_of_its_section() -> None:
    note = "Pertinent Results: ___ TTE: The LV is normal in size.\nCXR: clear"
    assert blocks(note) == ["___ TTE: The LV is normal in size."]
    note = "Imaging:\nTTE:\nThe LV is normal in size.\nBrief Hospital Course:\nfine"
    assert blocks(note) == ["TTE:\nThe LV is normal in size."]


def test_several_studies_are_several_blocks_in_text_order() -> None:
    note = summary(
        f"TTE ___:\n{FINDINGS}\n\nCXR: clear\n\nTEE ___:\nNo vegetation. Moderate MR.\n"
        "ECHO ___: EF 30%, severe MR."
    )
    assert blocks(note) == [
        f"TTE ___:\n{FINDINGS}",
        "TEE ___:\nNo vegetation. Moderate MR.",
        "ECHO ___: EF 30%, severe MR.",
    ]


@pytest.mark.parametrize(
    "course",
    [
        "TTE showed normal EF and mild MR, so diuresis was stopped.",
        "# CHF: she was diuresed; a repeat\nTTE on ___ showed an EF of 30% and severe MR.",
        "She was sent for an echocardiogram of the valves and this\nTTE\nwas read as normal.",
        "# CHF:\n- TTE: EF 55% and mild MR per the report above\n- furosemide",
        "ECHO was obtained: normal left ventricle.",
    ],
)
def test_a_mention_in_the_hospital_course_is_no_block(course: str) -> None:
    assert blocks(summary(f"TTE ___:\n{FINDINGS}", course)) == [f"TTE ___:\n{FINDINGS}"]
    assert blocks(summary("CXR: clear", course)) == []


def test_a_study_in_the_history_is_no_result() -> None:
    note = (
        "Past Medical History:\nECHO ___: EF 20%, severe MR.\n\nPertinent Results:\n"
        "TTE ___: EF 60%, mild MR.\n\nBrief Hospital Course:\nfine"
    )
    assert blocks(note) == ["TTE ___: EF 60%, mild MR."]


def test_points_of_a_list_end_at_the_next_point() -> None:
    note = summary("- TTE: EF 55%, mild MR,\n  no effusion\n- renal ultrasound: no stones")
    assert blocks(note) == ["TTE: EF 55%, mild MR,\n  no effusion"]


def test_a_planned_study_in_a_list_is_no_block() -> None:
    assert blocks(summary("- TTE\n- colonoscopy\n- iron studies")) == []
    assert blocks(summary("TTE: \nCXR: clear")) == []


def test_a_discharge_summary_without_an_echo_has_no_block() -> None:
    assert blocks(summary("CXR: clear")) == []


@pytest.mark.parametrize(
    "text",
    [
        f"TTE ___:\n{FINDINGS}",
        f"PATIENT/TEST INFORMATION:\nTest: TTE (Complete)\n\nFindings:\n\n{FINDINGS}\n",
        f"ReportText\nStudy Information:\nAge: 60\n\nECHOCARDIOGRAM:\n{FINDINGS}",
        f"Indication: TEE for endocarditis.\n{FINDINGS}",
        "The left ventricle is normal. No echo contrast was given. TTE is limited.",
    ],
)
def test_a_report_as_a_whole_is_one_block(text: str) -> None:
    assert find_blocks(text, STARTS, STOPS) == [(0, len(text))]


def test_several_reports_in_one_text_are_divided_at_their_headers() -> None:
    text = f"TTE (___):\n{FINDINGS}\n\nTEE (___):\n{FINDINGS}\nNo vegetation.\n"
    assert blocks(text) == [f"TTE (___):\n{FINDINGS}", f"TEE (___):\n{FINDINGS}\nNo vegetation."]
    text = f"TTE (___):\n{FINDINGS}\nTEE: recommended."
    assert blocks(text) == [text]


def test_a_note_that_lost_its_line_ends_is_still_divided() -> None:
    findings = "The left atrium is mildly dilated. LVEF 60 percent. No aortic stenosis. " * 6
    note = f"Pertinent Results: Hgb 10.4, WBC 8.9. TTE ___: {findings} CXR: clear. More."
    assert blocks(note) == [f"TTE ___: {findings.strip()}"]


def test_windows_line_ends_change_nothing() -> None:
    note = summary(f"TTE ___:\n{FINDINGS}\n\nCXR ___:\nMild edema.").replace("\n", "\r\n")
    assert blocks(note) == [f"TTE ___:\n{FINDINGS}".replace("\n", "\r\n")]


def test_blank_text_has_no_block() -> None:
    assert find_blocks(" \n", STARTS, STOPS) == []


@pytest.mark.skipif(not GOLD.exists(), reason="shared data not here")
def test_every_report_of_the_mimic_like_set_is_one_block() -> None:
    for line in GOLD.read_text().splitlines():
        report = json.loads(line)
        found = find_blocks(report["text"], STARTS, STOPS)
        assert found == [(0, len(report["text"]))], report["id"]


@pytest.mark.skipif(not GOLD.exists(), reason="shared data not here")
def test_few_whole_reports_need_the_exact_search() -> None:
    texts = [json.loads(line)["text"] for line in GOLD.read_text().splitlines()]
    assert sum(divided(text) for text in texts) <= 3


@pytest.mark.skipif(not GOLD.exists(), reason="shared data not here")
def test_every_report_of_the_mimic_like_set_is_found_inside_a_summary() -> None:
    for line in GOLD.read_text().splitlines():
        report = json.loads(line)
        text = report["text"].strip()
        found = blocks(summary(f"{text}\n\nCXR ___:\nclear"))
        assert found == [text], report["id"]


@given(st.text(st.sampled_from("TEe: \n-_.aCXR"), max_size=200))
def test_blocks_lie_in_order_inside_the_text(text: str) -> None:
    last = 0
    blocks(text)
    for start, end in find_blocks(text, STARTS, STOPS):
        assert last <= start < end <= len(text)
        last = end
