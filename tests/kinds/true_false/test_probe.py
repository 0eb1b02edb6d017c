"""The shortcut probe tells a label that the wording gives away, and only that."""

from __future__ import annotations

import random

from clinqa.kinds.true_false.pairs import FEWEST_PAIRS, probe


def made(cue: bool, pairs: int = 120) -> tuple[list[str], list[bool], list[str]]:
    rng = random.Random(1)
    words = [f"word{i}" for i in range(200)]
    statements, labels, names = [], [], []
    for number in range(pairs):
        body = " ".join(rng.choices(words, k=8))
        swapped = rng.random() < 0.5
        for label in (True, False):
            ending = (
                ("long" if label else "short")
                if cue or not swapped
                else ("short" if label else "long")
            )
            statements.append(f"The {body} is {ending}.")
            labels.append(label)
            names.append(f"pair{number}")
    return statements, labels, names


def test_a_word_that_stands_in_false_statements_only_is_found() -> None:
    found = probe(*made(cue=True)).accuracy
    assert found is not None
    assert found.value > 0.95
    assert (found.n, found.clusters) == (240, 120)


def test_words_that_are_as_often_true_as_false_give_nothing_away() -> None:
    found = probe(*made(cue=False)).accuracy
    assert found is not None
    assert found.value < 0.6


def test_the_order_of_items_does_not_matter() -> None:
    statements, labels, names = made(cue=False, pairs=40)
    order = list(range(len(labels)))
    random.Random(2).shuffle(order)
    shuffled = probe(
        [statements[i] for i in order], [labels[i] for i in order], [names[i] for i in order]
    )
    assert shuffled == probe(statements, labels, names)


def test_of_few_pairs_nothing_is_said() -> None:
    statements, labels, names = made(cue=True, pairs=FEWEST_PAIRS - 1)
    found = probe(statements, labels, names)
    assert found.accuracy is None
    assert found.as_json()["accuracy"] is None
