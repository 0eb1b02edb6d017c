"""The near-duplicate join: every pair, no other, whatever the order and the words."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.dataset.near_duplicates import (
    clusters,
    highest_across,
    jaccard,
    near_duplicates,
    normalised,
    stay,
)

TEXTS = st.lists(st.text(alphabet="abcdeé ,-1", max_size=14), max_size=14)


def brute(texts: list[str], threshold: float) -> list[tuple[int, int, float]]:
    pairs = ((i, j, jaccard(texts[i], texts[j])) for i, j in combinations(range(len(texts)), 2))
    return [one for one in pairs if one[2] >= threshold - 1e-12]


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.75, 0.8, 0.9, 1.0]))
def test_it_finds_what_comparing_all_pairs_finds(texts: list[str], threshold: float) -> None:
    found = near_duplicates(texts, threshold).pairs()
    assert [(a, b) for a, b, _ in found] == [(a, b) for a, b, _ in brute(texts, threshold)]
    assert all(abs(s - jaccard(texts[a], texts[b])) < 1e-12 for a, b, s in found)


def test_a_thousand_sentences_with_copies_and_changed_words() -> None:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(300)]
    texts: list[str] = []
    for _ in range(1000):
        if texts and rng.random() < 0.5:
            changed = rng.choice(texts).split()
            changed[rng.randrange(len(changed))] = rng.choice(words)
            texts.append(" ".join(changed))
        else:
            texts.append(" ".join(rng.choices(words, k=rng.randint(1, 40))))
    assert near_duplicates(texts, 0.8).pairs() == brute(texts, 0.8)


def test_a_hyphen_between_numbers_is_a_blank() -> None:
    one, other = "The normal PR interval is 120 to 200 ms.", "The normal PR interval is 120-200 ms"
    assert normalised(other) == "the normal pr interval is 120 200 ms"
    assert round(jaccard(one, other), 3) == 0.889
    assert near_duplicates([one, other], 0.9).pairs() == []
    assert len(near_duplicates([one, other], 0.88).pairs()) == 1


def test_texts_without_words_are_like_nothing() -> None:
    assert near_duplicates(["", "...", "\u2014", "a"], 0.5).pairs() == []
    assert near_duplicates([], 0.8).pairs() == []


def test_of_what_is_alike_the_lowest_stays() -> None:
    texts = ["a b c d e f g h i j", "a b c d e f g h i", "x y z", "j i h g f e d c b a"]
    alike = near_duplicates(texts, 0.8)
    assert stay(alike, [3, 2, 1, 0], 0.9).tolist() == [3, 3, -1, -1]
    assert stay(alike, [0, 1, 2, 3], 0.9).tolist() == [-1, 0, -1, 0]


def test_a_text_goes_only_for_one_that_stays() -> None:
    # b is like a and like c, a and c are not alike: with a and c kept, only b goes
    a = " ".join(f"w{i}" for i in range(20))
    b = " ".join(f"w{i}" for i in range(1, 20))
    c = " ".join(f"w{i}" for i in range(2, 20))
    alike = near_duplicates([a, b, c], 0.8)
    assert stay(alike, [0, 1, 2], 0.95).tolist() == [-1, 0, -1]


def test_what_differs_is_no_duplicate_for_all_its_likeness() -> None:
    words = " ".join(f"w{i}" for i in range(30))
    texts = [f"left axis {words}", f"right axis {words}"]
    alike = near_duplicates(texts, 0.8)
    assert stay(alike, [0, 1], 0.9).tolist() == [-1, 0]
    assert stay(alike, [0, 1], 0.9, lambda one, other: True).tolist() == [-1, -1]
    assert clusters(alike).tolist() == [0, 0]


def test_clusters_are_chains_and_leave_out_what_does_not_count() -> None:
    texts = [" ".join(f"w{i}" for i in range(k, k + 20)) for k in (0, 1, 2, 50)]
    alike = near_duplicates(texts, 0.9)
    assert clusters(alike).tolist() == [0, 0, 0, 3]
    assert clusters(alike, [0, 2, 3]).tolist() == [0, -1, 2, 3]


@given(TEXTS)
def test_clusters_do_not_depend_on_the_order_of_texts(texts: list[str]) -> None:
    def partition(order: list[int]) -> set[frozenset[int]]:
        made = clusters(near_duplicates([texts[i] for i in order], 0.6)).tolist()
        groups: dict[int, set[int]] = {}
        for i, name in zip(order, made, strict=True):
            groups.setdefault(name, set()).add(i)
        return {frozenset(group) for group in groups.values()}

    order = list(range(len(texts)))
    assert partition(order) == partition(order[::-1])


def test_the_highest_similarity_across_splits() -> None:
    texts = ["a b c d", "a b c e", "a b c d", "q r"]
    assert highest_across(texts, [0, 1, 0, 1]) == 0.6
    assert highest_across(texts, [0, 1, 1, 1]) == 1.0
    assert highest_across(["a b", "c d"], [0, 1]) == 0.0
    assert highest_across([], []) == 0.0


def test_without_numba_the_pairs_are_the_same(tmp_path: object) -> None:
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'numba' else real(name, *a)\n"
        "from clinqa.dataset import near_kernel\n"
        "assert not near_kernel.COMPILED\n"
        "from clinqa.dataset.near_duplicates import near_duplicates\n"
        "texts = [f'w{i} w{i + 1} w{i + 2} w{i // 3} é' for i in range(40)]\n"
        "print(near_duplicates(texts, 0.5).pairs())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    texts = [f"w{i} w{i + 1} w{i + 2} w{i // 3} é" for i in range(40)]
    assert done.stdout.strip() == str(near_duplicates(texts, 0.5).pairs())


def test_a_threshold_that_means_nothing_is_refused() -> None:
    for threshold in (0, 1.5, -1):
        with pytest.raises(ValueError, match="threshold"):
            near_duplicates(["a"], threshold)


def test_many_copies_cost_no_more_than_one() -> None:
    alike = near_duplicates(["a b c d"] * 20_000 + ["a b c d e"], 0.8)
    assert len(alike.left) == 1
    assert np.unique(alike.set_of).tolist() == [0, 1]
