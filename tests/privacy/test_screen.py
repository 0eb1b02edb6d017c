"""The identifier screen: what it counts, what it must not, what it never does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.privacy.screen import DISCLAIMER, KINDS, Screen

GOLD = Path(__file__).parents[3] / "shared" / "data" / "echo" / "mimic_like_gold.jsonl"


def hits(text: str) -> dict[str, int]:
    return {kind: n for kind, n in Screen().count([text]).items() if n}


@pytest.mark.parametrize(
    "text",
    [
        "3/14/2021",
        "14/03/21",
        "2021-03-14",
        "2021-03-14T10:22",
        "14.03.2021",
        "3-14-2021",
        "20210314",
        "March 14, 2021",
        "March 14",
        "14 March 2021",
        "14-Mar-2021",
        "14 Mar 21",
        "Mar 14, 2021",
        "Sept. 2021",
        "MARCH 2021",
        "the 3rd of June, 2021",
        "dated 3-14-21",
    ],
)
def test_dates_in_many_formats_count_once(text: str) -> None:
    assert hits(f"Seen {text} in clinic.") == {"date": 1}


@pytest.mark.parametrize(
    "text",
    [
        "(617) 555-0100",
        "617-555-0100",
        "617.555.0100",
        "+49 30 1234567",
        "tel: 555 0100",
        "pager 31234",
        "ext. 4-5566",
    ],
)
def test_telephone_numbers_count_once(text: str) -> None:
    assert hits(f"Called {text}, no answer.") == {"telephone": 1}


@pytest.mark.parametrize(
    "text",
    [
        "MRN 1234567",
        "MRN: 00-12345",
        "Medical Record Number: 1234567",
        "Unit No: 123-45-67",
        "Account #: A1234567",
        "accession no. E12-34567",
        "Patient ID 998877",
    ],
)
def test_record_numbers_count_once(text: str) -> None:
    assert hits(f"Report, {text}.") == {"record_number": 1}


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith",
        "Dr Smith",
        "Dr. J. O'Brien",
        "Mrs. van der Berg",
        "Ms. Jones",
        "Mr. Lee",
        "Prof. Müller",
        "DR. SMITH",
        "signed by John Q. Smith",
        "Electronically signed by: Dr. John Smith",
        "Read by Anna Lund, MD",
        "Patient name: Smith, John",
        "Anna K. Lund, M.D.",
    ],
)
def test_names_after_titles_count_once(text: str) -> None:
    assert hits(f"Discussed, {text}.") == {"name": 1}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("anna.lund@hospital.example.org", "email"),
        ("12 Maple Street", "address"),
        ("Boston, MA 02115", "address"),
        ("P.O. Box 12", "address"),
        ("https://example.org/x", "url"),
        ("www.example.org", "url"),
        ("10.0.12.7", "url"),
        ("078-05-1120", "ssn"),
        ("92-year-old", "age_over_89"),
        ("Age: 95", "age_over_89"),
    ],
)
def test_other_identifiers_count_once(text: str, kind: str) -> None:
    assert hits(f"See {text} here") == {kind: 1}


@pytest.mark.parametrize(
    "text",
    [
        "EF 55-60%, gradient 2-3.5, velocity 1.2 m/s, BP 120/80, PASP 12-18 mmHg, 3/4 views",
        "MILD MR. MILD TR. MS: NONE. MR SEVERE",
        "Mild MR. Mild TR. No MS. Moderate AR",
        "Sep 11 mm, septum 1.1 cm, PW 10 mm; E/A 0.8/1.2",
        "dobutamine 5-10-20 mcg/kg/min and 10/20/30/40 mcg/kg/min; 10/12/20 mcg",
        "segments 5/11 hypokinetic; 1. LV 2. RV 3. LA",
        "P1/2t 245 ms; MVA 0.9 cm2; 2+ MR, 3+ TR; grade 1+ on a scale of 0 to 4+",
        "Since 2019, severe AS; study of 1998",
        "27 mm St. Jude valve, model 2021, #23",
        "RA 10 mmHg, LA 45 mm, PA 38 mmHg, AR PHT 450 ms, LV mass 12345 mg",
        "may 2 be read with 3 mmHg; the march 5 m",
        "age 65, 85 year old man, heart rate 95, 98% sat",
        "unit of blood, 5000 units heparin, account for 1200 ms",
        "E @ 55 cm/s",
        "signed off; read by the team",
    ],
)
def test_measurements_and_prose_are_no_hits(text: str) -> None:
    assert hits(text) == {}


def test_placeholders_count_apart_and_what_is_inside_is_no_hit() -> None:
    text = "Dr. [**Last Name (NamePattern2) 12**] on [**2150-3-14**], tel ___, ***PHI REMOVE***"
    assert hits(text) == {"placeholders": 4}


def test_counts_add_up_over_batches_and_containers() -> None:
    texts = ["Dr. Smith 3/14/2021", "a@b.org", "", "Dr. Lee"]
    whole = Screen().count(texts)
    parts = [Screen().count(texts[:2]), Screen().count(texts[2:])]
    assert whole == {kind: sum(part[kind] for part in parts) for kind in KINDS}
    chunked = pa.chunked_array([pa.array(texts[:1]), pa.array([*texts[1:], None])])
    assert Screen().count(chunked) == whole
    assert Screen().count([]) == dict.fromkeys(KINDS, 0)


def test_the_result_holds_numbers_only() -> None:
    found = Screen().count(["Dr. Smith, 617-555-0100"])
    assert tuple(found) == KINDS
    assert all(type(count) is int for count in found.values())


def test_the_disclaimer_does_not_claim_deidentification() -> None:
    assert "neither" in DISCLAIMER
    assert "de-identified" in DISCLAIMER


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_can_be_screened(texts: list[str]) -> None:
    assert all(count >= 0 for count in Screen().count(texts).values())


@pytest.mark.skipif(not GOLD.exists(), reason="shared data not here")
def test_deidentified_echo_reports_give_no_hit() -> None:
    texts = [json.loads(line)["text"] for line in GOLD.read_text().splitlines()]
    found = Screen().count(texts)
    assert {kind for kind, count in found.items() if count} == {"placeholders"}


def test_importing_privacy_loads_no_numeric_library() -> None:
    code = "import sys, clinqa.privacy; print({'numpy', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
