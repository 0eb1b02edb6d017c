"""Diagonals against permutations gone through one by one, and what the paper's p-values imply."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinqa.stats.crossed import (
    centred_diagonal,
    gap,
    gap_weights,
    interaction_weights,
    permutation_test,
)


def _matrix(k: int, seed: int) -> np.ndarray:
    return np.round(np.random.default_rng(seed).uniform(30, 60, (k, k)), 1)


@given(st.integers(2, 7), st.integers(0, 1000))
def test_the_mean_of_the_centred_diagonal_is_a_fixed_share_of_the_gap(k: int, seed: int) -> None:
    matrix = _matrix(k, seed)
    assert centred_diagonal(matrix).mean() == pytest.approx((k - 1) / k * gap(matrix), abs=1e-9)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_good_rows_and_easy_columns_change_nothing(k: int, seed: int) -> None:
    matrix = _matrix(k, seed)
    random = np.random.default_rng(seed + 1)
    moved = matrix + random.uniform(-20, 20, (k, 1)) + random.uniform(-20, 20, (1, k))
    assert gap(moved) == pytest.approx(gap(matrix), abs=1e-9)
    assert centred_diagonal(moved) == pytest.approx(centred_diagonal(matrix), abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_weights_are_the_figures(k: int) -> None:
    matrix = _matrix(k, 5)
    assert (gap_weights(k) * matrix).sum() == pytest.approx(gap(matrix))
    for at in range(k):
        found = (interaction_weights(k, at) * matrix).sum()
        assert found == pytest.approx(centred_diagonal(matrix)[at])
    found = (interaction_weights(k) * matrix).sum()
    assert found == pytest.approx(centred_diagonal(matrix).mean())
    off = matrix.sum() - np.trace(matrix)
    assert gap(matrix) == pytest.approx(np.trace(matrix) / k - off / (k * (k - 1)))


@pytest.mark.parametrize("seed", range(5))
def test_the_test_is_the_720_permutations_of_six(seed: int) -> None:
    matrix = _matrix(6, seed)
    gaps = [gap(matrix[list(named)]) for named in permutations(range(6))]
    found = permutation_test(matrix)
    assert (found.arrangements, found.exact) == (720, True)
    assert found.as_large == sum(one >= gap(matrix) - 1e-9 for one in gaps)
    assert found.p == found.as_large / 720


def test_a_diagonal_above_all_has_the_least_p_that_six_can_have() -> None:
    # which is what is printed for Mistral-v0.1: 0.0014, the real naming counted in
    assert permutation_test(np.eye(6)).p == pytest.approx(0.0014, abs=5e-5)
    assert permutation_test(1 - np.eye(6)).p == 1.0


@pytest.mark.parametrize("printed", ["0.49", "0.051", "0.14", "0.0014"])
def test_each_printed_p_is_a_whole_number_of_720(printed: str) -> None:
    digits = len(printed) - 2
    assert any(f"{round(many / 720, digits):.{digits}f}" == printed for many in range(1, 721))


def test_equal_matrices_have_no_gap_and_every_naming_is_as_large() -> None:
    found = permutation_test(np.full((5, 5), 0.3))
    assert (found.p, found.as_large, found.arrangements) == (1.0, 120, 120)
    assert found.gap == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_fewer_than_five_rows_are_refused_with_the_least_p_they_could_have(k: int) -> None:
    with pytest.raises(ValueError, match=f"below 1/{factorial(k)}"):
        permutation_test(np.eye(k))


def test_many_rows_are_named_by_chance_and_the_seed_says_how() -> None:
    matrix = _matrix(10, 3)
    one, same = (permutation_test(matrix, seed=4) for _ in range(2))
    assert one == same
    assert (one.exact, one.arrangements) == (False, 9999)
    assert one.p == (one.as_large + 1) / 10_000


@pytest.mark.parametrize(
    "wrong", [[[1.0]], [[1, 2, 3], [1, 2, 3]], [[1, float("nan")], [2, 3]], [1, 2]]
)
def test_what_is_no_square_of_numbers_is_refused(wrong: list) -> None:
    with pytest.raises(ValueError, match=r"square|two rows"):
        gap(wrong)
