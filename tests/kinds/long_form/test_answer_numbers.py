"""Numbers of answers: beside the report's own, else beside the pack's table; never right alone."""

from __future__ import annotations

from functools import cache

import pytest

from clinqa.kinds.long_form.answer_numbers import AnswerNumbers
from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout
from clinqa.kinds.long_form.clinical import ClinicalScorer
from clinqa.packs.loader import builtin_pack


@cache
def numbers() -> AnswerNumbers:
    return AnswerNumbers(builtin_pack("echo"))


@cache
def scorer() -> ClinicalScorer:
    return ClinicalScorer(AnswerReader(builtin_pack("echo")))


@pytest.mark.parametrize(
    ("abnormality", "level", "report", "answer", "against"),
    [
        ("lv_systolic_function", 2, "LVEF 35 %.", "EF 35-40 percent", False),
        ("lv_systolic_function", 2, "LVEF 35 %.", "EF 55 %", True),
        ("lv_systolic_function", 2, "EF 30-35%.", "ejection fraction of 33 %", False),
        ("lv_systolic_function", 0, "LVEF > 55 %.", "LVEF 60 %", False),
        ("lv_systolic_function", 0, "Normal LV.", "EF 25 %", True),
        ("lv_systolic_function", 0, "Normal LV.", "EF 62 %", False),
        ("lv_systolic_function", 0, "Normal LV.", "RVSP 62 mmHg", False),
        ("aortic_stenosis", 3, "AVA 0.7 cm2, mean gradient 45 mmHg.", "AVA 0.7 cm²", False),
        ("aortic_stenosis", 3, "AVA 0.7 cm2, mean gradient 45 mmHg.", "mean 18 mmHg", True),
        ("aortic_stenosis", 3, "AVA 0.7 cm2, mean gradient 45 mmHg.", "peak 80 mmHg", False),
        ("aortic_stenosis", 3, "Severe AS.", "Vmax 2.1 m/s", True),
        ("la_cavity", 1, "LA 4.4 cm.", "the left atrium measures 44 mm", False),
        ("la_cavity", 1, "LA 4.4 cm.", "the left atrium measures 5.9 cm", True),
        ("pulmonary_hypertension", 0, "Normal PASP.", "PASP 25 mmHg on 3/4/2019, 78 years", False),
        ("lv_systolic_function", -3, "Not assessed.", "EF 25 %", False),
    ],
)
def test_a_number_counts_against_the_reports_own_or_else_the_table(
    abnormality: str, level: int, report: str, answer: str, against: bool
) -> None:
    assert numbers().contradict(abnormality, level, report, answer) == against


def test_a_number_makes_an_answer_wrong_and_never_right() -> None:
    lv = AskedAbout("lv_systolic_function", "LV", "finding")
    reference = "LV systolic function is moderately reduced (LVEF 35 %)."
    judge = scorer().judge
    assert judge(lv, 2, reference, "Moderately reduced, EF 35 %.").kind == "right"
    wrong = judge(lv, 2, reference, "Moderately reduced, EF 60 %.")
    assert (wrong.kind, wrong.level_right, wrong.read) == ("wrong_level", False, "number")
    # the word is right, so that nobody is led to harm by it
    assert not wrong.dangers
    assert not judge(lv, 2, reference, "EF 35 %.").level_right
