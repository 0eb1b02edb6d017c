"""The two models without weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.core.errors import ConfigError
from clinqa.kinds.registry import kind_named
from clinqa.models.baselines import prior, retrieve
from clinqa.models.protocol import Message, ModelOptions, Prompt, Sampling, TrainAnswer
from clinqa.models.registry import open_model

REPORT = """\
LEFT ATRIUM: The left atrium is mildly
dilated.

AORTIC VALVE: Normal aortic valve leaflets (3). No stenosis, gradient 3.5 mmHg. Trace AR.

MITRAL VALVE: Leaflets are thickened. Moderate (2+) regurgitation is seen.
"""


def prompt(question: str, context: str = "", category: str = "c", kind: str = "finding") -> Prompt:
    return Prompt("id", (Message("user", question),), question, context, category, kind, 0, 0)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What does the report say about left atrial size?", "The left atrium is mildly dilated."),
        ("What does the report say about mitral regurgitation?",
         "Moderate (2+) regurgitation is seen."),
        ("Is there aortic stenosis?", "No stenosis, gradient 3.5 mmHg."),
        ("What of the mitral leaflets?", "Leaflets are thickened."),
    ],
)  # fmt: skip
def test_the_sentence_that_matches_best_is_found_by_its_words_and_its_heading(
    question: str, sentence: str
) -> None:
    assert retrieve(question, REPORT) == sentence


def test_a_context_without_a_word_of_the_question_gives_nothing() -> None:
    assert retrieve("What about the pericardium?", REPORT) == ""
    assert retrieve("What about the pericardium?", "") == ""


def test_sentences_that_match_alike_are_told_apart_by_their_text() -> None:
    a, b = "Valve beta seen.", "Valve alpha seen."
    assert retrieve("valve?", f"{a} {b}") == retrieve("valve?", f"{b} {a}")


@given(st.permutations(["Mild MR.", "No AS.", "The valve is normal.", "Trace MR, no AS."]))
def test_the_order_of_sentences_changes_no_answer(sentences: list[str]) -> None:
    assert retrieve("MR or AS of the valve?", " ".join(sentences)) == retrieve(
        "MR or AS of the valve?", " ".join(sorted(sentences))
    )


@given(st.text(), st.text())
def test_any_text_is_borne_and_the_answer_is_of_the_context(question: str, context: str) -> None:
    answer = retrieve(question, context)
    assert "".join(answer.split()) in "".join(context.split())


def stratum(category: str, own: str) -> tuple[str, ...]:
    return category, own


COUNTED = [
    TrainAnswer(("mr", "finding"), "Mild MR.", 3),
    TrainAnswer(("mr", "finding"), "No MR.", 4),
    TrainAnswer(("mr", "presence"), "Yes.", 9),
    TrainAnswer(("as", "finding"), "No AS.", 4),
    TrainAnswer(("as", "finding"), "Mild AS.", 4),
]


def test_prior_gives_the_most_frequent_answer_of_that_question() -> None:
    answer = prior(COUNTED, stratum)
    assert answer(prompt("?", category="mr")) == "No MR."
    assert answer(prompt("?", category="mr", kind="presence")) == "Yes."


def test_prior_falls_back_to_the_type_and_then_to_everything() -> None:
    answer = prior(COUNTED, stratum)
    assert answer(prompt("?", category="new")) in ("Mild AS.", "No AS.", "No MR.")
    assert answer(prompt("?", category="new", kind="new")) == "Yes."
    assert prior([], stratum)(prompt("?")) == ""


@given(st.permutations(COUNTED))
def test_prior_does_not_depend_on_the_order_of_train(counted: list[TrainAnswer]) -> None:
    assert prior(counted, stratum)(prompt("?", category="as")) == "Mild AS."


def test_prior_reads_no_train_before_it_is_opened_and_retrieval_never() -> None:
    class Never:
        def __iter__(self):  # type: ignore[no-untyped-def]
            raise AssertionError

    model = open_model("baseline:retrieval", ModelOptions(train_answers=Never()))
    [(index, output)] = model.generate([prompt("Is there aortic stenosis?", REPORT)], Sampling())
    assert (index, output.text, output.finish_reason) == (
        0, "No stenosis, gradient 3.5 mmHg.", "stop",
    )  # fmt: skip


def test_there_are_two_baselines() -> None:
    with pytest.raises(ConfigError, match="retrieval"):
        open_model("baseline:magic", ModelOptions())


@pytest.mark.parametrize("name", ["", "baseline", "baseline:", "http://x", ":x", "gpt:4"])
def test_a_name_of_no_kind_is_an_error_that_lists_the_kinds(name: str) -> None:
    with pytest.raises(ConfigError, match="scripted:"):
        open_model(name, ModelOptions())


def test_there_is_no_retrieval_for_items_that_no_sentence_answers() -> None:
    baseline = kind_named("true_false").facet("baseline")
    with pytest.raises(ConfigError, match="no answer to items of this kind"):
        open_model("baseline:retrieval", ModelOptions(baseline=baseline))
