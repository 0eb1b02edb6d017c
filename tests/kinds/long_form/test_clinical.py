from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.dataset.reader import Dataset
from clinqa.kinds.long_form.answer_reader import AnswerReader, AskedAbout, answer_text
from clinqa.kinds.long_form.clinical import KINDS, RANK, ClinicalScorer, Verdict
from clinqa.kinds.long_form.consequences import DANGERS, OTHER
from clinqa.kinds.long_form.questions import QuestionType, questionnaire
from clinqa.packs.loader import Pack, builtin_pack

MADE = Path(__file__).parent / "data" / "answers.jsonl"
STYLED = MADE.with_name("answers_2.jsonl")
UNMENTIONED = (
    "The report does not say.",
    "The report does not mention it.",
    "Not stated.",
    "Not mentioned in the report.",
    "This cannot be determined from the report.",
    "There is no information on this in the report.",
    "The report doesn't comment on it.",
)


@cache
def pack() -> Pack:
    return builtin_pack("echo")


@cache
def scorer() -> ClinicalScorer:
    return ClinicalScorer(AnswerReader(pack()))


def asked(abnormality: str, kind: str = "finding") -> AskedAbout:
    return AskedAbout(abnormality, pack().abnormalities[abnormality].structure, kind)


def judge(
    abnormality: str, level: int | None, reference: str, answer: str, kind: str = "finding"
) -> Verdict:
    return scorer().judge(asked(abnormality, kind), level, reference, answer)


def level_of(abnormality: str, answer: str, kind: str = "finding") -> int | None:
    return scorer().reader.read(answer, asked(abnormality, kind)).level


def test_made_answers_of_known_kind_are_judged_as_they_should_be() -> None:
    made = [json.loads(line) for line in MADE.read_text(encoding="utf-8").splitlines()]
    assert len(made) >= 60
    assert set(Counter(one["expected"] for one in made)) == set(KINDS)
    assert {danger for one in made for danger in one["dangers"]} == set(DANGERS) - {OTHER}
    wrong = []
    for one in made:
        verdict = judge(
            one["abnormality"],
            one["level"],
            one["reference"],
            answer_text(one["answer"]) or "",
            one["question_type"],
        )
        if (verdict.kind, list(verdict.dangers)) != (one["expected"], one["dangers"]):
            wrong.append(one["id"])
    assert 1 - len(wrong) / len(made) >= 0.95, wrong


def test_answers_in_the_styles_of_models_are_judged_as_a_reader_would() -> None:
    made = [json.loads(line) for line in STYLED.read_text(encoding="utf-8").splitlines()]
    wrong, harm = [], []
    for one in made:
        asked_for = asked(one["abnormality"], one["question_type"])
        verdict = scorer().judge(
            asked_for, one["level"], one["reference"], one["answer"], one["source"]
        )
        if verdict.kind != one["expected"]:
            wrong.append(one["id"])
        if bool(verdict.dangers) != one["danger"]:
            harm.append(one["id"])
    assert len(made) > 250
    assert len(wrong) <= 0.05 * len(made) and len(harm) <= 0.02 * len(made), (wrong, harm)


def test_the_reference_scores_right_on_every_item(dataset: Dataset) -> None:
    columns = ["category", "structure", "question_type", "level", "answer"]
    rows = [row for split in ("train", "test") for row in dataset.items(split, columns).to_pylist()]
    assert {row["question_type"] for row in rows} == {kind.name.lower() for kind in QuestionType}
    for row in rows:
        verdict = scorer().judge(
            AskedAbout(row["category"], row["structure"], row["question_type"]),
            row["level"],
            row["answer"],
            row["answer"],
        )
        assert verdict.kind == "right" and verdict.level_right and not verdict.dangers, row


@pytest.mark.parametrize("kind", ["adequacy", "presence", "severity"])
def test_canonical_answers_are_right_for_every_abnormality_and_level(kind: str) -> None:
    answers = questionnaire(pack()).answers[QuestionType[kind.upper()]]
    for name, by_level in zip(pack().abnormalities, answers, strict=True):
        for level, text in by_level.items():
            for written in (text, text.rstrip("."), text.lower(), f"Answer: {text}"):
                verdict = judge(name, level, text, written, kind)
                assert verdict.kind == "right", (name, level, written)


@pytest.mark.parametrize("answer", UNMENTIONED)
@pytest.mark.parametrize("name", list(builtin_pack("echo").abnormalities))
def test_an_abstention_is_right_where_nothing_is_said_and_wrong_elsewhere(
    name: str, answer: str
) -> None:
    nothing = "The report does not say."
    assert judge(name, None, nothing, answer, "unmentioned").kind == "right"
    elsewhere = judge(name, 0, "Normal.", answer)
    assert (elsewhere.kind, elsewhere.read) == ("wrong_level", "unmentioned")
    assert not elsewhere.dangers
    # of a normal finding that is no danger, of a graver one it is
    binary = pack().abnormalities[name].binary
    level = 1 if binary else 2
    assert judge(name, level, "It is there.", answer).dangers == ("abnormal_unseen",)


@pytest.mark.parametrize(
    ("answer", "level"),
    [("Moderate.", 2), ("mild to moderate", 2), ("mild", 1), ("Severe", 3), ("None.", 0)],
)
@pytest.mark.parametrize("name", list(builtin_pack("echo").abnormalities))
def test_a_bare_degree_is_read_under_the_abnormality_asked_for(
    name: str, answer: str, level: int
) -> None:
    assert level_of(name, answer) == pack().fit(name, level)


@pytest.mark.parametrize(
    "answer",
    ["Normal leaflets.", "The leaflets are normal.", "Structurally normal valve.", "normal valve"],
)
@pytest.mark.parametrize("valve", ["mitral", "tricuspid", "aortic"])
@pytest.mark.parametrize("level", [0, 1, 2, 3, -3])
def test_normal_leaflets_never_count_irrelevant_for_regurgitation(
    valve: str, answer: str, level: int
) -> None:
    verdict = judge(f"{valve}_regurgitation", level, f"{valve} regurgitation", answer)
    assert verdict.kind == ("right" if level == 0 else verdict.kind) != "irrelevant"
    assert verdict.read_level == 0


@pytest.mark.parametrize(
    "answer",
    [
        "Severely thickened tricuspid leaflets.",
        "Slight mitral annular calcification.",
        "No masses or vegetations on the aortic valve.",
        "I cannot give medical advice.",
        "Moderate (2+) PR.",
        "The aortic valve leaflets are normal.",
        "What does the report say about mitral regurgitation?",
        "LVEF 55%",
    ],
)
def test_a_degree_of_something_else_is_no_level_of_what_was_asked(answer: str) -> None:
    for name in ("mitral_regurgitation", "pulmonary_hypertension", "tricuspid_stenosis"):
        assert level_of(name, answer) is None


def test_a_yes_or_no_is_read_under_the_question() -> None:
    assert judge("mitral_regurgitation", 2, "Yes.", "Yes, there is MR.", "presence").level_right
    assert judge("mitral_regurgitation", 2, "Yes.", "No.", "presence").kind == "not_highest"
    # only presence is asked, and it is there
    assert judge("mitral_regurgitation", 3, "Yes.", "Mild.", "presence").kind == "right"
    assert judge("mitral_regurgitation", 0, "No.", "Mild.", "presence").kind == "wrong_level"
    said = judge("mitral_regurgitation", 2, "Yes.", "Yes. There is no MR.", "presence")
    assert (said.kind, said.read) == ("wrong_level", "conflict")
    # of another structure of which one could not see enough
    other = judge("la_cavity", 0, "Yes.", "Unable to assess left ventricular size.", "adequacy")
    assert other.kind == "other_abnormality"


def test_quoting_the_deciding_sentence_adds_nothing() -> None:
    source = "No aortic stenosis or regurgitation."
    about = asked("aortic_regurgitation", "severity")
    assert scorer().judge(about, 0, "Normal.", source, source).kind == "right"
    more = f"{source} Severe MR."
    assert scorer().judge(about, 0, "Normal.", more, source).kind == "unrelated_added"


def test_the_level_read_is_what_the_answer_says() -> None:
    assert judge("mitral_regurgitation", 0, "Yes.", "There is mild MR.", "adequacy").read_level == 1
    assert judge("mitral_regurgitation", 2, "Yes.", "Yes.", "adequacy").read_level is None


def test_reasoning_is_no_part_of_the_answer() -> None:
    assert answer_text("<think>Severe? No: mild.</think>\nMild MR.") == "Mild MR."
    assert answer_text("it says severe </think> Mild MR.") == "Mild MR."
    assert answer_text("<think>and so on without end") is None


def test_a_level_below_the_references_in_order_of_severity_is_not_the_highest() -> None:
    words = {0: "No", -2: "Significant", 1: "Mild", 2: "Moderate", 3: "Severe"}
    for level, rank in RANK.items():
        for other, other_rank in RANK.items():
            kind = judge(
                "mitral_regurgitation", level, f"{words[level]} MR.", f"{words[other]} MR."
            ).kind
            expected = "right" if level == other else "wrong_level"
            assert kind == ("not_highest" if other_rank < rank else expected), (level, other)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.sampled_from([kind.name.lower() for kind in QuestionType]))
def test_any_answer_gets_one_kind(answer: str, kind: str) -> None:
    level = None if kind == "unmentioned" else 0
    verdict = judge("mitral_regurgitation", level, "Normal.", answer, kind)
    assert verdict.kind in KINDS and set(verdict.dangers) <= set(DANGERS)
    assert verdict.level_right == (verdict.kind in ("right", "unrelated_added"))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_sentences_does_not_matter(seed: int) -> None:
    draw = random.Random(seed)
    said = draw.sample(
        ["Mild MR.", "There is severe MR.", "Moderate TR.", "The LA is dilated.", "No AS."], 3
    )
    one = judge("mitral_regurgitation", 3, "Severe MR.", " ".join(said))
    other = judge("mitral_regurgitation", 3, "Severe MR.", " ".join(reversed(said)))
    assert one == other
