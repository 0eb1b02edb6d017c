"""Replies to labels, labels to votes, flags, and the shared cases of these areas."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from clinqa.builders.banks.flags import is_garbled, needs_image
from clinqa.builders.banks.specialty.annotate import by_metadata, metadata_vote
from clinqa.builders.banks.specialty.assess import sizes, totals
from clinqa.builders.banks.specialty.votes import VoteTally, read_label, tally
from clinqa.core.records import Reason
from clinqa.packs.specialties import builtin_specialties, fold
from clinqa.sources.banks.bank_item import BankItem, matching_text, without_stray_quote
from clinqa.stats.conformal import gold_scores, sets, threshold

PACK = builtin_specialties()
CASES = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Neurology. This is not a Cardiology question.", "Neurology"),
        ("This is not a Cardiology question. Neurology", "Neurology"),
        ("Radiation Oncology", "Radiation oncology"),
        ("Radiation Oncology, not Oncology", "Radiation oncology"),
        ("Urology", "Urology"),
        ("neurology", "Neurology"),
        ("The answer is **Paediatrics**.", "Pediatrics"),
        ("Specialty: Obstetrics & Gynaecology", "Obstetrics and gynecology"),
        ("OB/GYN", "Obstetrics and gynecology"),
        ("Ear, nose and throat", "Otorhinolaryngology"),
        ("Child and adolescent psychiatry", "Child psychiatry"),
        ("Orthopaedic surgery", "Orthopedics"),
        ("<b>Psychiatry</b>", "Psychiatry"),
        ('{"specialty": "Haematology"}', "Hematology"),
        ("1. Cardiology", "Cardiology"),
        ("The list: Cardiology, Neurology, Urology. Answer: Urology", "Urology"),
        ("I would choose Gastroenterology rather than General surgery", "Gastroenterology"),
        ("It belongs to Nephrology; Urology is less likely.", "Nephrology"),
        ("not Cardiology but Neurology", "Neurology"),
        ("This isn't Cardiology. It's Neurology.", "Neurology"),
        (
            "Chest pain suggests Cardiology, but the rash decides.\nSpecialty: Dermatology",
            "Dermatology",
        ),
        ("Final answer: Rheumatology\n\nHowever Dermatology was considered.", "Rheumatology"),
        ("Answer: Others (statistics)", "Others"),
        ("Others", "Others"),
        ("Other doctors would say Cardiology", "Cardiology"),
    ],
)
def test_a_reply_votes_for_what_it_commits_to(reply, label):
    assert read_label(reply, PACK).label == label


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("This is not a Cardiology question", "none"),
        ("Neither Cardiology nor Neurology", "none"),
        ("Cardiology or Neurology", "ambiguous"),
        ("Cardiology\nNeurology\nUrology", "ambiguous"),
        ("uroneurology", "none"),
        ("I cannot decide.", "none"),
        ("", "empty"),
        ("Specialty: not Cardiology", "none"),
    ],
)
def test_a_reply_without_commitment_is_no_vote(reply, why):
    assert read_label(reply, PACK) == read_label(f"{reply}\n", PACK)
    assert read_label(reply, PACK).label is None
    assert read_label(reply, PACK).why == why


def test_every_name_of_the_pack_is_read_as_itself():
    for name in (*PACK.names, PACK.others):
        assert read_label(name, PACK).label == name
        assert read_label(f"Specialty: {name}.", PACK).label == name
    assert len(PACK.names) == 55


def test_folding_joins_british_and_american_spelling():
    for one, other in (
        ("Orthopaedics", "Orthopedics"),
        ("Haematology", "hematology "),
        ("Gynaecology & Obstetrics", "Gynecology and obstetrics"),
        ("Anaesthetics", "anesthetics"),
    ):
        assert fold(one) == fold(other)


def test_no_majority_is_not_others():
    votes = ["Cardiology", "Cardiology", "Neurology", "Neurology", "Others"]
    assert tally(votes).reason(3, "Others") == Reason.NO_MAJORITY
    assert tally(["Others"] * 3 + ["Cardiology"] * 2).reason(3, "Others") == Reason.OTHERS
    assert tally(["Others"] * 3 + [None, None]).reason(4, "Others") == Reason.NO_MAJORITY


def test_the_order_of_votes_decides_nothing():
    assert (
        tally(["A", "B", "B", "A", None]) == tally(["B", "A", None, "A", "B"]) == VoteTally(None, 2)
    )
    assert tally([None] * 5) == VoteTally(None, 0)


def test_sizes_are_by_quorum_and_totals_by_rows():
    tallies = [VoteTally("Cardiology", n) for n in (5, 4, 3)] + [
        VoteTally("Urology", 5),
        VoteTally(None, 2),
    ]
    rows, undecided = sizes(tallies, PACK.names)
    assert rows[0] == {"specialty": "Cardiology", "3+": 3, "4+": 2, "5+": 1}
    assert undecided == {"3+": 1, "4+": 2, "5+": 3}
    sums, wrong = totals(rows, {"3+": 5, "4+": 3, "5+": 2})
    assert sums == {"3+": 4, "4+": 3, "5+": 2}
    assert wrong == ["3+: the rows sum to 4, the table prints 5"]


@pytest.mark.parametrize(
    ("question", "flag"),
    [
        ("A photograph of the lesion is shown. What is it?", True),
        ("He has a mass in both lungs (see image). Which gene?", True),
        ("The nerve marked in the diagram supplies which muscle?", True),
        ("Name the structure marked with arrow", True),
        ("An X-ray was taken as shown. What is the diagnosis?", True),
        ("The CXR is shown below. Which drug?", True),
        ("Process shown in color plate is:", True),
        ("A scatter plot of the findings is shown. Why?", True),
        ("The instrument shown in fig is used for", True),
        ("A picture of the infant’s fist is given below. Which trisomy?", True),
        ("Definitive treatment for the condition shown in radiograph below is?", True),
        ("A mosaic pattern of bone is seen in radiographic features of:", False),
        ("The defect is seen in lesions of which region?", False),
        ("Laboratory studies are shown: sodium 128 mEq/L.", False),
        ("The liver is palpated 3 cm below the costal margin.", False),
        ("An X-ray of the chest shows clear lungs.", False),
        ("On CT, calcification was seen. What is the cause?", False),
        ("A drug has been shown to lower mortality. Which one?", False),
        ("Biopsy shows many mitotic figures in the glands.", False),
    ],
)
def test_unseen_images_are_flagged_and_findings_in_words_are_not(question, flag):
    assert needs_image(question) is flag


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("36.5̆0b0C", True),
        ("temperature 36.50b0C", True),
        ("(cid:3)", True),
        ("caf\ufffd", True),
        ("Ã©tude", True),
        ("Rheumatoid ahritis with a hea rate of 110/min", True),
        ("Perinatal moality; superior rectal aery", True),
        ("aerial, heal, repo, disto-buccal, vertical, Suppository, aeration", False),
        ("37.2°C, µg/mL, naïve, Sjögren, β-blocker, ≥ 3", False),
        ("Guillain–Barré", False),
        ("plain text\nwith a line", False),
    ],
)
def test_garbled_text_is_flagged_and_foreign_letters_are_not(text, flag):
    assert is_garbled(text) is flag


@pytest.mark.skipif(not CASES.is_file(), reason="../shared/data is not here")
def test_shared_cases_of_labels_votes_and_datasets():
    cases = {
        case["id"]: case for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    }
    assert read_label(cases["qa032"]["input"], PACK).label == cases["qa032"]["expected"]
    assert read_label(cases["qa034"]["input"], PACK).label == "Urology"
    assert read_label("Neurology", PACK).label == "Neurology"
    assert tally(cases["qa035"]["input"], PACK).reason(3, "Others") == Reason.NO_MAJORITY
    assert tally(cases["qa036"]["input"], PACK) == VoteTally("Pediatrics", 4)
    # qa030: by the sums of the rows that the case gives, two of three printed totals are wrong
    rows = [{"specialty": "all rows", "3+": 39_007, "4+": 35_328, "5": 30_291}]
    _, wrong = totals(rows, {"3+": 40_007, "4+": 35_328, "5": 30_309})
    assert [line.split(":")[0] for line in wrong] == ["3+", "5"]


@pytest.mark.skipif(not CASES.is_file(), reason="../shared/data is not here")
def test_shared_cases_of_conformal_sets():
    cases = {
        case["id"]: case["input"]
        for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    }
    given = cases["qa039"]
    labels = sorted(given["p"])
    p = np.array([[given["p"][label] for label in labels]])
    gold = np.array([[label in given["gold"] for label in labels]])
    assert gold_scores(p, gold, "any")[0] == pytest.approx(0.2)
    assert gold_scores(p, gold, "all")[0] == pytest.approx(0.9)
    assert cases["qa041"]["p"] == {}
    assert sets(np.zeros((1, 55)), threshold([0.2] * 30, 0.1)).sum() == 0  # nothing is forced in


def test_a_topic_that_is_a_specialty_is_one_vote_of_metadata_and_not_five():
    item = BankItem(
        "MedMCQA", "1", "", "Which?", ("a", "b"), 0, subject="Surgery", topic="Pediatrics"
    )
    vote = metadata_vote(item, PACK)
    assert vote is not None and (vote.voter, vote.label) == ("metadata", "Pediatrics")
    (own,) = by_metadata([item], PACK).votes
    assert own == [vote]
    basic = BankItem("MedMCQA", "2", "", "Which?", ("a", "b"), 0, subject="Biochemistry")
    assert metadata_vote(basic, PACK) is None


def test_a_very_long_reply_is_read_in_no_time():
    reply = "It is not clear whether this belongs to the specialty of " * 4000
    began = time.process_time()
    assert read_label(reply + "\nSpecialty: Urology", PACK).label == "Urology"
    assert read_label("(" * 50_000 + "the " * 20_000, PACK).label is None
    assert time.process_time() - began < 5


@pytest.mark.skipif(not CASES.is_file(), reason="../shared/data is not here")
def test_stray_quotes_of_the_shared_bank_are_as_many_as_the_case_says():
    bank = CASES.parent / "banks" / "smedqa_validation.jsonl"
    questions = [json.loads(line)["question"] for line in bank.open(encoding="utf-8")]
    stray = [q for q in questions if without_stray_quote(q) != q.rstrip()]
    assert len(stray) == 52
    assert all(matching_text(q) == matching_text(q.rstrip()[:-1]) for q in stray)
