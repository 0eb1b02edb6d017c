"""Findings that are no level of the abnormalities: there, denied, or left open."""

from __future__ import annotations

from functools import cache

import pytest

from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout
from clinqa.kinds.long_form.clinical import ClinicalScorer
from clinqa.kinds.long_form.other_findings import OtherFindings
from clinqa.packs.loader import builtin_pack


@cache
def others() -> OtherFindings:
    return OtherFindings(builtin_pack("echo"))


@cache
def scorer() -> ClinicalScorer:
    return ClinicalScorer(AnswerReader(builtin_pack("echo")))


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("An apical thrombus is noted.", {"thrombus"}),
        ("No thrombus, vegetation or effusion.", set()),
        ("No MR, but a trivial pericardial effusion.", {"effusion"}),
        ("There is no MR, small pericardial effusion.", {"effusion"}),
        ("No MR, AS, or pericardial effusion.", set()),
        ("Vegetations were not seen.", set()),
        ("A thrombus cannot be excluded.", set()),
        ("TEE to rule out dissection.", set()),
        ("Left-to-right flow through a PFO. Tamponade physiology is absent.", {"shunt"}),
        ("The prosthesis is well seated without paravalvular leak.", set()),
        ("The bioprosthesis shows partial dehiscence.", {"prosthetic fault"}),
        ("Not severe, and there is a large effusion with tamponade.", {"effusion", "tamponade"}),
        ("The EF is 35.5 % and the aortic valve area is 0.8 cm2.", set()),
    ],
)
def test_a_finding_is_there_where_it_is_named_and_not_denied(text: str, there: set[str]) -> None:
    assert others().asserted(text) == there


def test_what_the_report_does_not_hold_is_added() -> None:
    mr = AskedAbout("mitral_regurgitation", "MV", "finding")
    right, source = "Mild mitral regurgitation.", "Mild MR. Small pericardial effusion."
    judge = scorer().judge
    assert judge(mr, 1, right, "Mild MR and a vegetation.").kind == "unrelated_added"
    assert judge(mr, 1, right, "Mild MR and no vegetation.").kind == "right"
    assert judge(mr, 1, right, "Mild MR with a pericardial effusion.", source).kind == "right"
    # a denial in the report is no support
    assert judge(mr, 1, right, "Mild MR, LV thrombus.", "Mild MR. No LV thrombus.").kind == (
        "unrelated_added"
    )


def test_another_finding_alone_answers_another_question_and_chatter_answers_none() -> None:
    mr = AskedAbout("mitral_regurgitation", "MV", "finding")
    said = scorer().judge(mr, 1, "Mild MR.", "There is a large pericardial effusion.")
    assert (said.kind, said.says) == ("other_abnormality", True)
    denied = scorer().judge(mr, 1, "Mild MR.", "There is no mass on the valve.")
    assert (denied.kind, denied.says) == ("irrelevant", True)
    chatter = scorer().judge(mr, 1, "Mild MR.", "Please ask a cardiologist.")
    assert (chatter.kind, chatter.says) == ("irrelevant", False)
