"""Reasoning and the marks of chat templates are no part of an answer, in all three kinds."""

from __future__ import annotations

import pytest

from clinqa.kinds.registry import kind_named

OPTIONS = ("apple pie", "banana bread", "cherry cake", "date")
#: What stands before the answer, after it, and between them a thought.
FORMS = {
    "a block": ("<think>{}</think>", ""),
    "a block with attributes": ('<think time="3s">{}</think>\n', ""),
    "a block of another name": ("<seed:think>{}</seed:think>", ""),
    "its end alone": ("{}</think>\n\n", ""),
    "in brackets": ("[THINK]{}[/THINK]", ""),
    "a channel": ("<|channel>thought\n{}\n<channel|>", ""),
    "a channel of harmony": (
        "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>",
        "<|return|>",
    ),
    "marks with begin and end": (
        "<|begin_of_thought|>{}<|end_of_thought|>\n<|begin_of_solution|>", "<|end_of_solution|>",
    ),
    "marks with start and end": (
        "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>",
    ),
    "folded": ('<details type="reasoning" done="true"><summary>2 s</summary>{}</details>\n', ""),
    "the word of a mark": ("thought\n{}\n", ""),
    "the words of marks": ("analysis{}assistantfinal", ""),
    "wrapped": ("<think>{}</think>\n<answer>", "</answer>"),
}  # fmt: skip
MARKS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>")


@pytest.mark.parametrize("form", FORMS)
def test_what_was_thought_is_no_answer(form: str) -> None:
    before, after = FORMS[form]
    for kind, thought, answer, own, meant in (
        ("multiple_choice", "The answer is A, perhaps.", "B", OPTIONS, "B"),
        ("true_false", "The statement is false at first sight.", "True", None, "true"),
        ("long_form", "Severe would be wrong.", "Mild leak, <35 % | 2+.", None, None),
    ):
        reads = kind_named(kind).facet("reads")
        said = reads.said(f"{before.format(thought)}{answer}{after}", "stop", "", own)
        assert (said.status, said.answer) == ("answered", meant or answer)


@pytest.mark.parametrize("mark", [*MARKS, "assistant\n\n", "<|im_start|>assistant\n"])
def test_the_marks_of_a_template_are_no_words_of_the_answer(mark: str) -> None:
    for kind, answer, own, meant in (
        ("multiple_choice", "B", OPTIONS, "B"),
        ("true_false", "True", None, "true"),
        ("long_form", "Mild leak.", None, "Mild leak."),
    ):
        reads = kind_named(kind).facet("reads")
        text = f"{answer}{mark}" if mark in MARKS else f"{mark}{answer}"
        assert reads.said(text, "stop", "", own).answer == meant


@pytest.mark.parametrize(
    "text",
    ["<think>The answer is A", "<|channel>thought\nThe answer is A", "analysisThe answer is A",
     '<details type="reasoning" done="false">The answer is A', "<|START_THINKING|>The answer is A"],
)  # fmt: skip
def test_thinking_that_never_ends_gives_no_answer(text: str) -> None:
    assert (
        kind_named("multiple_choice").facet("reads").said(text, "stop", "", OPTIONS).answer is None
    )
    assert kind_named("long_form").facet("reads").said(text, "stop", "").status == "empty"


def test_thinking_that_was_cut_off_is_not_read_for_its_last_line() -> None:
    for kind in ("multiple_choice", "true_false", "long_form"):
        reads = kind_named(kind).facet("reads")
        said = reads.said("thought\nIs it A?\nIt is false. A", "length", "", OPTIONS)
        assert (said.status, said.answer) == ("truncated", None)


def test_words_of_reports_are_no_marks() -> None:
    reads = kind_named("long_form").facet("reads")
    for text in ("[Reason for study] Mild MR.", "Analysis\nMild MR.\nNo AS.", "LVEF <35 | E/A > 2",
                 "<details>Mild</details>", "Model\nA"):  # fmt: skip
        assert reads.said(text, "stop", "").answer == text
