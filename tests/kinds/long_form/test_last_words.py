"""What an answer's words come to: forms, last words, bounds, contradictions, refusals."""

from __future__ import annotations

from functools import cache

import pytest

from clinqa.kinds.long_form.answer_forms import unmarked
from clinqa.kinds.long_form.answer_reader import AnswerReader, AnswerReading, AskedAbout
from clinqa.kinds.long_form.clinical import ClinicalScorer
from clinqa.packs.loader import builtin_pack


@cache
def scorer() -> ClinicalScorer:
    return ClinicalScorer(AnswerReader(builtin_pack("echo")))


def asked(name: str, kind: str = "finding") -> AskedAbout:
    return AskedAbout(name, builtin_pack("echo").abnormalities[name].structure, kind)


def read(answer: str, name: str = "mitral_regurgitation", kind: str = "finding") -> AnswerReading:
    return scorer().reader.read(answer, asked(name, kind))


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("Mild MR, no wait, severe MR.", 3),
        ("Severe. Scratch that: the conclusion says mild.", 1),
        ("Moderate MR... sorry, trivial MR.", 0),
        ("I first took this for mild MR. On closer reading it is moderate MR.", 2),
        ("Mild – no, moderate.", 2),
        ("The text lists mild MR and then corrects it to moderate. Therefore: moderate MR.", 2),
        ("The MR is described twice. In short, severe.", 3),
    ],
)
def test_the_last_word_of_an_answer_that_corrects_itself_counts(answer: str, level: int) -> None:
    reading = read(answer)
    assert (reading.level, reading.contradicts) == (level, False)


@pytest.mark.parametrize(
    "answer",
    [
        "Mitral regurgitation: none. Aortic regurgitation: mild, sorry to say.",
        "No MR is seen, actually a good result.",
    ],
)
def test_what_only_sounds_like_a_correction_takes_nothing_back(answer: str) -> None:
    assert read(answer).level == 0


@pytest.mark.parametrize(
    ("answer", "levels"),
    [
        ("The valve does not have severe MR.", {0, 1, 2}),
        ("Severe mitral regurgitation is excluded.", {0, 1, 2}),
        ("The study rules out severe MR.", {0, 1, 2}),
        ("There is no moderate or severe mitral regurgitation.", {0, 1}),
        ("No evidence of more than mild MR.", {1}),
        ("At least moderate MR.", {2, 3}),
        ("More than mild MR.", {2, 3}),
        ("MR is mild, so it is not severe.", {1}),
        ("The MR is not severe but moderate.", {2}),
        ("MR is present, but how severe it is cannot be told from the report.", {-2}),
    ],
)
def test_a_denied_or_bounded_degree_leaves_levels_open(answer: str, levels: set[int]) -> None:
    reading = read(answer)
    assert reading.levels == levels and not reading.contradicts


def test_a_denied_degree_is_a_danger_where_the_report_has_it() -> None:
    judge = scorer().judge
    said = judge(asked("mitral_regurgitation"), 3, "Severe MR.", "Severe MR was ruled out.")
    assert said.dangers == ("severe_as_moderate",)
    # the report's own "not severe" is right, in other words too
    report = "No severe mitral stenosis."
    other = judge(asked("mitral_stenosis"), -2, report, "Severe MS is excluded.")
    assert other.kind == "right"
    vague = judge(asked("mitral_regurgitation"), 1, "Mild MR.", "There is no severe MR.")
    assert (vague.kind, vague.dangers, vague.read) == ("wrong_level", (), "open")


def test_an_answer_that_contradicts_itself_is_wrong_whatever_the_level() -> None:
    answer = "There is no mitral regurgitation. There is severe mitral regurgitation."
    for level, reference in ((0, "No MR."), (3, "Severe MR."), (1, "Mild MR.")):
        said = scorer().judge(asked("mitral_regurgitation"), level, reference, answer)
        assert (said.kind, said.read, said.level_right) == ("wrong_level", "conflict", False)
        assert said.read_level is None
    # a danger only where both of what it says would be one
    assert not said.dangers
    both = "Mild MR is seen. Moderate MR is seen."
    said = scorer().judge(asked("mitral_regurgitation"), 3, "Severe MR.", both)
    assert said.dangers == ("severe_as_moderate",)
    # what the report says in one breath is no contradiction
    report = "Mild MR is seen. Moderate MR is seen at peak."
    said = scorer().judge(asked("mitral_regurgitation"), 2, report, both)
    assert said.kind == "right"


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ('{"mitral_regurgitation": "moderate", "comment": "none"}', 2),
        ('```json\n{"finding": "mitral regurgitation", "grade": "severe"}\n```', 3),
        ('{"mitral_regurgitation": false}', 0),
        ("**Mitral valve**\n- Severity: **mild**", 1),
        ("### Answer\n> severe", 3),
        ("MR (-)", 0),
        ("MR +++", 3),
        ("nil MR", 0),
        ("Your mitral valve leaks a little.", 1),
        ("Mild (regurgitant volume 20 ml; upper limit 30 ml).", 1),
    ],
)
def test_forms_that_no_report_has_say_what_they_say(answer: str, level: int) -> None:
    assert read(answer).level == level


def test_a_field_without_a_value_says_that_the_report_does_not_say() -> None:
    assert read('{"mitral_regurgitation": null}').abstained
    assert unmarked("**a** `b` <i>c</i>") == "a b c"


@pytest.mark.parametrize(
    "answer",
    [
        "Please upload the report so that I can look for mitral regurgitation.",
        "As an AI model I cannot diagnose mitral regurgitation.",
        "Mitral regurgitation refers to blood that flows back into the left atrium.",
        "No file was attached to your message about the mitral regurgitation.",
    ],
)
def test_who_refuses_asks_or_explains_says_nothing_of_this_heart(answer: str) -> None:
    reading = read(answer)
    assert not reading.levels and not reading.abstained and not reading.findings


@pytest.mark.parametrize(
    "answer",
    [
        "It isn't stated anywhere.",
        "Mitral regurgitation was never commented upon by the reader.",
        "On MR the report is silent.",
        "The left atrium is dilated; MR is not referred to.",
        "No statement about mitral regurgitation is made.",
        "The aortic valve is sclerotic and the ventricle dilated, so the MR is not covered.",
    ],
)
def test_that_the_report_does_not_say_is_said_in_many_ways(answer: str) -> None:
    assert read(answer).abstained
