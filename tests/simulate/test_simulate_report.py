"""The mechanisms of a made report, each on the smallest bank that shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from clinqa.core.ids import rng
from clinqa.simulate import report as report_module
from clinqa.simulate.abnormalities import IDS, INDEX, NAMES
from clinqa.simulate.bank import load_bank
from clinqa.simulate.report import Report
from clinqa.simulate.wording import capitals, misspell, wrap

CHANCES = [name for name in vars(report_module) if name.startswith("_P_")]


def compose(
    monkeypatch: pytest.MonkeyPatch,
    seed: str,
    *,
    severities: dict[str, int] | None = None,
    stated: dict[str, int] | None = None,
    **chances: float,
) -> Report:
    """A report in which only the named mechanisms can happen."""
    for name in CHANCES:
        monkeypatch.setattr(report_module, name, chances.get(name[3:].lower(), 0.0))
    if stated is not None:
        said = {INDEX[code]: level for code, level in stated.items()}
        monkeypatch.setattr(report_module, "stated_levels", lambda *_: dict(said))
    patient = [(severities or {}).get(code, 0) for code in NAMES]
    return report_module.compose(load_bank(), patient, rng(0, "test", seed).random)


SEEDS = [str(number) for number in range(40)]


def flat(text: str) -> str:
    return " ".join(text.split())


def test_only_what_is_said_is_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"MR": 2, "LVOT": 0})
        assert made.labels == {"mitral_regurgitation": 2, "lvot_obstruction": 0}


def test_an_empty_report_has_a_header_and_no_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compose(monkeypatch, "a", stated={"MR": 2}, empty=1.0)
    assert made.labels == {}
    assert made.text.endswith("Findings:\n\n\n\n\n")


def test_indication_history_and_earlier_values_label_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traps = 0
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"LAC": 0})
        text = flat(made.text)
        traps += bool(re.search(r"Indication: .*stenosis|previously|on the prior study", text))
        assert made.labels == {"la_cavity": 0}
    assert traps >= 5


def test_an_addendum_replaces_what_the_body_said(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = 0
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"MR": 3, "TR": 1}, addendum=1.0)
        assert "ADDENDUM" in made.text
        level = made.labels["mitral_regurgitation"]
        lowered += level < 3
        word = {1: "mild|slight", 2: "moderate", 3: "severe|marked"}[level]
        addendum = flat(made.text).split("ADDENDUM")[1]
        if "mitral" in addendum:
            assert re.search(word, addendum)
        else:
            assert level == 3
    assert lowered >= 5


def test_what_follows_bypass_is_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    severe = {"MR": 3, "AS": 3}
    for seed in SEEDS:
        made = compose(monkeypatch, seed, severities=severe, stated=severe, bypass=1.0)
        assert made.labels == {"mitral_regurgitation": 3, "aortic_stenosis": 3}
        assert made.post.get("mitral_regurgitation", 0) <= 1
        assert re.search(r"pre-.*:.*post-.*:", made.text, re.IGNORECASE | re.DOTALL)


def test_a_contradiction_gives_minus_fifty(monkeypatch: pytest.MonkeyPatch) -> None:
    for level in (-3, -2, 0, 1, 2, 3):
        for seed in SEEDS:
            made = compose(monkeypatch, seed, stated={"AR": level}, conflict=1.0)
            if "Conclusions" in made.text or "CONCLUSION" in made.text:
                assert made.labels == {"aortic_regurgitation": -50}


def test_a_lesion_graded_twice_has_the_worse_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"TR": 1}, raised=1.0)
        if "Conclusions" in made.text or "CONCLUSION" in made.text:
            assert made.labels == {"tricuspid_regurgitation": 2}


def test_a_valve_called_normal_gives_way_to_its_named_lesion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = 0
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"MR": 1}, looks_normal=0.5)
        assert made.labels["mitral_regurgitation"] == 1
        seen += made.labels.get("mitral_stenosis") == 0
    assert seen >= 3


def test_a_structure_not_seen_labels_its_own_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for seed in SEEDS:
        made = compose(monkeypatch, seed, stated={"PH": 0}, unseen=1.0)
        assert made.labels.pop("pulmonary_hypertension") == 0
        assert set(made.labels.values()) == {-3}
        seen += set(made.labels) == {"rv_cavity", "rv_systolic_function", "rv_wall"}
    assert seen >= 3


def test_a_narrative_has_no_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compose(monkeypatch, "b", stated={"MR": 2, "AS": 1}, narrative=1.0)
    assert "INTERPRETATION" not in made.text
    assert set(made.labels) <= {"mitral_regurgitation", "aortic_stenosis"}


def test_capitals_spare_placeholders() -> None:
    assert capitals("Mild MR on [**Date range **].") == "MILD MR ON [**Date range **]."


def test_wrapping_loses_no_word_and_keeps_the_width() -> None:
    text = "Overall left ventricular systolic function is mildly depressed (LVEF=45%)."
    wrapped = wrap(text, 20)
    assert wrapped.replace("\n", " ") == text
    assert max(map(len, wrapped.split("\n"))) <= 20
    assert wrap("x" * 30 + " y", 10) == "x" * 30 + "\ny"


def test_a_typo_changes_one_word_of_degree_or_finding_by_one_slip() -> None:
    random: Any = rng(0, "typo").random
    text = "Moderately dilated LA."
    for _ in range(200):
        slipped = misspell(text, random)
        changed = [(a, b) for a, b in zip(text.split(), slipped.split(), strict=True) if a != b]
        assert len(changed) <= 1
        for before, after in changed:
            assert abs(len(before) - len(after)) <= 1
            assert before[:2] == after[:2]
    assert misspell("No pericardial fluid.", random) == "No pericardial fluid."


def test_ids_are_those_of_the_labels() -> None:
    assert {"la_cavity", "regional_wall_motion", "lvot_obstruction"} < set(IDS)
