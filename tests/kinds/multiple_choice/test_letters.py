"""A letter as a model committed to it, or a status that says why there is none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.kinds.multiple_choice.letters import read_letter

DATA = Path(__file__).parents[4] / "shared" / "data"
OPTIONS = {"A": "Atrial flutter", "B": "Atrial fibrillation", "C": "Sinus arrest", "D": "None"}

SAID = {
    "B": "B",
    "(b) is wrong. The answer is (C).": "C",
    "The answer is B because the rhythm is irregular.": "B",
    "**C**": "C",
    "C) Sinus arrest": "C",
    "Answer: A. Atrial flutter": "A",
    "atrial fibrillation": "B",
    "It must be sinus arrest, I think.": "C",
    '{"answer": "B. Atrial fibrillation"}': "B",
    '{"answer_choice": "Atrial flutter"}': "A",
    "<think>A or B?</think>D": "D",
    "b": "B",
    "(b)": "B",
    "d.": "D",
    "b) because of the rhythm": "B",
    "\uff22": "B",
    "B\n\nA) is wrong, for there are no saw teeth.": "B",
    "It is not atrial flutter but sinus arrest.": "C",
    "B rather than C": "B",
    "The answer is A. Wait, actually the answer is B.": "B",
}
NOT_SAID = {
    "": "empty",
    '{"answer_choice": "A/B"}': "ambiguous",
    '{"answer_choice": "A and C"}': "ambiguous",
    "The answer is A and B.": "ambiguous",
    "Answer: B, or C": "ambiguous",
    "The answer is G.": "unreadable",
    "I cannot answer this question.": "refused",
    '{"answer_choice": ""}': "refused",
    "A patient with palpitations": "unreadable",
    "<think>C": "unreadable",
    # Cyrillic: of a list in Russian it would be the third
    "\u0412": "unreadable",
    "A\nB\nC\nD": "ambiguous",
    "A, C": "ambiguous",
    "A) Atrial flutter\nB) Atrial fibrillation\nC) Sinus arrest\nD) None": "ambiguous",
    "The answer is not atrial flutter.": "unreadable",
    "It isn't the sinus arrest": "unreadable",
    "The answer is not B": "unreadable",
    "Surely (B) is wrong": "unreadable",
}


@pytest.mark.parametrize(("output", "letter"), SAID.items())
def test_the_letter_committed_to_is_read(output: str, letter: str) -> None:
    assert read_letter(output, OPTIONS).answer == letter


@pytest.mark.parametrize(("output", "status"), NOT_SAID.items())
def test_two_letters_or_none_are_no_answer(output: str, status: str) -> None:
    said = read_letter(output, OPTIONS)
    assert (said.answer, said.status) == (None, status)


@given(st.text(max_size=200))
def test_no_letter_is_invented(text: str) -> None:
    said = read_letter(text, OPTIONS)
    assert (said.answer in OPTIONS) == (said.status == "answered")


def test_the_written_cases_of_letters_come_out_right() -> None:
    path = DATA / "cases_qa.jsonl"
    if not path.is_file():
        pytest.skip("../shared/data/cases_qa.jsonl is not there")
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    read = 0
    for case in cases:
        if case["area"] == "mcq_parse":
            given_ = case["input"]
            said = read_letter(given_["output"], given_.get("options", "ABCD"))
            assert (said.answer or said.status) == case["expected"].split()[0], case["id"]
            read += 1
    assert read >= 8


def test_refusals_and_double_answers_of_real_outputs_are_no_letters() -> None:
    path = DATA / "outputs" / "medqa_cot_gpt35.jsonl"
    if not path.is_file():
        pytest.skip("../shared/data/outputs is not there")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    said = [read_letter(row["output"], "ABCD") for row in rows]
    statuses = Counter(one.status for one in said)
    assert statuses["ambiguous"] == 4
    assert statuses["refused"] >= 18
    # where both read a letter it is the same; the other parser reads one out of everything
    both = [(s.answer, r["mirage_pred"]) for s, r in zip(said, rows, strict=True) if s.answer]
    assert all(ours == theirs for ours, theirs in both)
    right = sum(s.answer == r["gold"] for s, r in zip(said, rows, strict=True))
    assert right / statuses["answered"] > sum(r["mirage_pred"] == r["gold"] for r in rows) / len(
        rows
    )
