from __future__ import annotations

import pytest

from clinqa.training.examples import TrainExample
from clinqa.training.validation import Choice, macro_f1, scores_of


def example(label: bool | None) -> TrainExample:
    return TrainExample("i", "c", [1, 2, 3], 1, 1.0, label)


def test_an_answer_is_exact_if_all_its_tokens_are_likeliest() -> None:
    examples = [example(None), example(None)]
    rows = [([0, 0, 1], [0.1, 0.2, 0.3], [True, False, True], None)]
    found = scores_of(examples, rows, None)
    assert found.items == 2
    assert found.exact == found.accuracy == 0.5
    assert found.loss == pytest.approx(0.2)
    assert not found.classes


def test_true_and_false_are_told_by_the_token_in_which_they_differ() -> None:
    examples = [example(True), example(False), example(False)]
    rows = [
        ([0, 0], [0.1, 0.1], [True, True], [True, False]),
        ([1, 1, 2, 2], [1.0, 1.0, 1.0, 1.0], [False] * 4, [True, False, False, True]),
    ]
    found = scores_of(examples, rows, Choice((4, 5), 0, ("False", "True")))
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.classes["true_share"] == pytest.approx(2 / 3)
    assert found.classes["macro_f1"] == pytest.approx(
        macro_f1([True, False, False], [True, True, False])
    )


def test_macro_f1_agrees_with_hand_figures() -> None:
    assert macro_f1([True, True, False, False], [True, False, False, False]) == pytest.approx(
        (2 / 3 + 0.8) / 2
    )
    assert macro_f1([True, True], [True, True]) == 0.5


def test_of_multiple_choice_the_letter_decides() -> None:
    examples = [TrainExample("i", "c", [1, 2, 3, 4], 1, 1.0) for _ in range(3)]
    rows = [
        ([0, 0, 0, 1, 1, 1], [0.1] * 6, [True, False, True, False, True, True], None),
        ([2, 2, 2], [0.1] * 3, [True] * 3, None),
    ]
    found = scores_of(examples, rows, None, first_decides=True)
    assert (found.accuracy, found.exact) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
