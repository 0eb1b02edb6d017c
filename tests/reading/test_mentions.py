"""What a statement speaks of, whatever it labels: only the rest may be asked as not said."""

from __future__ import annotations

from functools import cache

import pytest

from clinqa.packs.loader import builtin_pack, load_pack
from clinqa.reading.labeller import LONGEST
from clinqa.reading.mentions import Mentions
from made_notes import FULL, THYROID, built


@cache
def mentions() -> Mentions:
    return Mentions(builtin_pack("echo"))


@pytest.mark.parametrize(
    ("text", "section", "spoken_of"),
    [
        ("Severe regional LV systolic dysfunction.", "LV", "lv_systolic_function"),
        ("Distal anterior hypokinesis.", "LV", "lv_systolic_function"),
        ("LVEF 60% by biplane method.", "LV", "lv_systolic_function"),
        ("EF 55%.", "*", "lv_systolic_function"),
        ("PA systolic pressure 28 mmHg.", "*", "pulmonary_hypertension"),
        ("RVSP 45 mmHg.", "*", "pulmonary_hypertension"),
        ("TR gradient 28 mmHg.", "*", "pulmonary_hypertension"),
        ("TR gradient 28 mmHg.", "*", "tricuspid_regurgitation"),
        ("TR is mild (1+), gradient 24 mmHg.", "*", "pulmonary_hypertension"),
        ("Mild regurgitation, gradient 23 mmHg.", "TV", "pulmonary_hypertension"),
        ("RVSP was 40 on the earlier study.", "*", "pulmonary_hypertension"),
        ("LA 4.7 cm.", "*", "la_cavity"),
        ("LA diameter 4.7 cm.", "LA", "la_cavity"),
        ("Normal global LV systolic function.", "LV", "regional_wall_motion"),
        ("Mitral regurgitation is hidden by acoustic shadowing.", "MV", "mitral_regurgitation"),
        ("Images of the mitral valve are suboptimal.", "*", "mitral_stenosis"),
        ("The aortic valve area is 1.2 cm2.", "AV", "aortic_stenosis"),
        ("IVC diameter 1.8 cm.", "*", "right_atrial_pressure"),
        ("Leaflets appear normal.", "MV", "mitral_stenosis"),
        ("Mild ___.", "MV", "mitral_regurgitation"),
        ("Mild ___ regurgitation.", "*", "aortic_regurgitation"),
        ("Previously severe, the regurgitation is not graded.", "AV", "aortic_regurgitation"),
        ("Borderline septal thickness 1.1 cm.", "LV", "lv_wall"),
        ("E/e' ratio 12.", "LV", "lv_diastolic_function"),
        ("Chordal systolic anterior motion.", "MV", "lvot_obstruction"),
    ],
)
def test_a_statement_that_labels_nothing_may_speak(text: str, section: str, spoken_of: str) -> None:
    assert spoken_of in mentions().of(text, section)


@pytest.mark.parametrize(
    ("text", "section", "silent_on"),
    [
        ("PA systolic pressure 28 mmHg.", "*", "right_atrial_pressure"),
        ("RV systolic function is normal.", "RV", "lv_systolic_function"),
        ("Mild MR.", "MV", "mitral_stenosis"),
        ("No pericardial effusion.", "PE", "lv_cavity"),
        ("Normal LV wall thickness.", "LV", "lv_cavity"),
        ("The mitral valve leaflets are mildly thickened.", "MV", "mitral_regurgitation"),
        ("Mild AS.", "*", "aortic_regurgitation"),
        ("The left atrium is dilated.", "LA", "lv_cavity"),
    ],
)
def test_a_statement_is_silent_on_what_it_does_not_name(
    text: str, section: str, silent_on: str
) -> None:
    assert silent_on not in mentions().of(text, section)


def test_a_statement_too_long_to_be_read_may_speak_of_anything() -> None:
    assert len(mentions().of("word " * LONGEST)) == 21


def test_only_what_no_statement_names_is_asked_as_not_said() -> None:
    note = (
        "LEFT VENTRICLE: Severe regional LV systolic dysfunction with distal anterior "
        "hypokinesis.\nRIGHT VENTRICLE: PA systolic pressure 28 mmHg.\nMITRAL VALVE: Mild MR.\n\n"
        "POST-BYPASS: Aortic valve gradient 10 mmHg."
    )
    rows = built([("s", "p", note)], items=FULL).tables.items.to_pylist()
    silent = {row["category"] for row in rows if row["question_type"] == "unmentioned"}
    named = {"lv_systolic_function", "pulmonary_hypertension", "regional_wall_motion"}
    assert not silent & {*named, "mitral_regurgitation", "aortic_stenosis"}
    assert {"aortic_regurgitation", "la_cavity", "tricuspid_stenosis"} <= silent


def test_another_domain_needs_no_code() -> None:
    read = Mentions(load_pack(THYROID))
    assert read.of("The gland measures 5.1 cm, size as before.") == {"goitre"}
    assert read.of("Vascularity was increased last year.", "GLAND") >= {"hypervascularity"}
