"""True or False as a model committed to it, or a status that says why there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.answers import Said
from clinqa.kinds.true_false.labels import read_label
from clinqa.kinds.true_false.reads import READS

CASES = Path(__file__).parents[4] / "shared" / "data" / "cases_qa.jsonl"

SAID = {
    "True or False? The answer is False.": "false",
    "**False**\n\nThe PR interval is longer.": "false",
    "not true": "false",
    "The statement is not entirely true.": "false",
    "The statement would be true if the axis were normal. Therefore the answer is False.": "false",
    "False. The statement would be true if the axis were normal.": "false",
    "True. Wait, actually the statement is false.": "false",
    "True\n\nStatement: the T wave": "true",
    "Answer: True": "true",
    '{"answer": "Not true"}': "false",
    "{'label': 'True'}": "true",
    '{"reason": "the wave is "tall"" "answer": true}': "true",
    "This isn't true.": "false",
    "This isn\u2019t true.": "false",
    "It is not false.": "true",
    "Yes, it is correct.": "true",
    "No": "false",
    "F": "false",
    "(T)": "true",
    "\\boxed{False}": "false",
    "The claim is incorrect.": "false",
    "As a model I can't provide medical advice, but the answer is False.": "false",
    'The statement "The QRS is wide" is false.': "false",
    "<|channel|>analysis<|message|>True?<|channel|>final<|message|>False": "false",
    "Die Aussage ist falsch.": "false",
    "Vrai": "true",
}

NOT_SAID = {
    "": "empty",
    "  \n": "empty",
    "<think>so it must be True": "unreadable",
    "True <think> or is it": "unreadable",
    "True and False": "ambiguous",
    "Both true and false.": "ambiguous",
    '{"answer": "True and False", "log_probability": {"True": -1, "False": -1}}': "ambiguous",
    "Partially true.": "ambiguous",
    "True, but the statement is false.": "ambiguous",
    '{"answer": true, "label": false}': "ambiguous",
    "I cannot determine whether this is true or false.": "refused",
    "I don't know if this is true.": "refused",
    '{"answer": null}': "refused",
    "right bundle branch block": "unreadable",
    "T wave inversion": "unreadable",
    "A true posterior infarct shows tall R waves": "unreadable",
    "It would be true if the rate were 50.": "unreadable",
}


OTHER_SHAPES = {
    "\uff34\uff52\uff55\uff45": "true",
    "T\u200brue.": "true",
    "\u201cFalse\u201d": "false",
    "\u00abTrue\u00bb": "true",
    "\U0001d413\U0001d42b\U0001d42e\U0001d41e": "true",
    "False\u3002": "false",
    "<answer>True</answer>": "true",
    "<|im_start|>assistant\nTrue<|im_end|>": "true",
    "True</s>": "true",
    "<|channel|>analysis<|message|>False?<|end|><|channel|>final<|message|>True": "true",
    "[THINK]It is false.[/THINK] True": "true",
    "\u25c1think\u25b7True\u25c1/think\u25b7 False": "false",
    "Answer: T": "true",
    "Final answer: F.": "false",
    '{"is_correct": true}': "true",
    '{"verdict": {"value": false}}': "false",
    "I don't think that it is true.": "false",
    "I do not believe the statement is false.": "true",
    "I disagree that it is true.": "false",
    "It is not the case that this is true.": "false",
    "The statement is true in most patients.": "true",
}
NO_VERDICT = (
    "The axis deviates to the right.",
    "It is right axis deviation.",
    "left/right",
    "This is a false positive finding, or it is false negative",
    "Answer: T wave inversion",
    "The answer is T wave inversion.",
    "I doubt that it is true.",
    "There is no evidence that it is true.",
    "I am not sure it is true.",
    "<|channel|>analysis<|message|>It is True",
    "[THINK]It is true.",
    "<reasoning>True",
)


@pytest.mark.parametrize(("output", "answer"), OTHER_SHAPES.items())
def test_letters_quotes_marks_and_turns_of_other_shapes_are_read(output: str, answer: str) -> None:
    assert (read_label(output).answer, read_label(output).status) == (answer, "answered")


@pytest.mark.parametrize("output", NO_VERDICT)
def test_sides_waves_and_doubts_are_no_verdict(output: str) -> None:
    assert read_label(output).answer is None


@pytest.mark.parametrize(("output", "answer"), SAID.items())
def test_what_was_committed_to_is_read(output: str, answer: str) -> None:
    assert (read_label(output).answer, read_label(output).status) == (answer, "answered")


@pytest.mark.parametrize(("output", "status"), NOT_SAID.items())
def test_where_nothing_was_committed_to_the_status_says_why(output: str, status: str) -> None:
    assert (read_label(output).answer, read_label(output).status) == (None, status)


@given(st.text(max_size=200))
def test_any_text_gives_an_answer_exactly_where_it_is_answered(text: str) -> None:
    said = read_label(text)
    assert (said.answer in ("true", "false")) == (said.status == "answered")


def test_a_text_cut_off_is_truncated_only_where_it_said_neither() -> None:
    assert READS.said("False. The axis", "length", "") == Said("false", "answered")
    assert READS.said("Let us think about", "length", "") == Said(None, "truncated")
    assert READS.said("True", "refusal", "") == Said(None, "refused")
    assert READS.said("True", "error", "context") == Said(None, "error")


def test_the_written_cases_of_answer_reading_come_out_right() -> None:
    if not CASES.is_file():
        pytest.skip("../shared/data/cases_qa.jsonl is not there")
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    read = 0
    for case in cases:
        if case["area"] == "tf_parse":
            said = read_label(case["input"])
            assert (said.answer or said.status) == case["expected"], case["id"]
            read += 1
    assert read >= 5
