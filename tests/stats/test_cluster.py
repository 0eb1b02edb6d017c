"""Cluster bootstrap intervals for precision and recall."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats.cluster import precision_recall

counts = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30
)


def columns(made: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(column) for column in zip(*made, strict=True)]


@settings(deadline=None)
@given(counts, st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_order_of_reports_has_no_part_in_it(
    made: list[tuple[int, int, int]], shuffler: object, seed: int
) -> None:
    mixed = list(made)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    one = precision_recall(*columns(made), seed=seed, draws=50)
    other = precision_recall(*columns(mixed), seed=seed, draws=50)
    assert repr(one) == repr(other)


@settings(deadline=None)
@given(counts)
def test_the_figure_is_the_ratio_of_sums_and_bounds_are_shares(
    made: list[tuple[int, int, int]],
) -> None:
    both = precision_recall(*columns(made), seed=0, draws=50)
    tp, fp, fn = (sum(column) for column in columns(made))
    for figure, whole in ((both.precision, tp + fp), (both.recall, tp + fn)):
        if whole:
            assert figure.value == pytest.approx(tp / whole)
            assert 0 <= figure.low <= figure.high <= 1
            assert figure.n == whole
        else:
            assert math.isnan(figure.value) and figure.n == 0


def test_all_right_still_has_a_lower_bound_that_grows_with_the_reports() -> None:
    few = precision_recall([5] * 10, [0] * 10, [0] * 10, seed=1).precision
    many = precision_recall([5] * 300, [0] * 300, [0] * 300, seed=1).precision
    assert few.value == many.value == few.high == 1
    assert few.low == pytest.approx(0.025 ** (1 / 10))
    assert few.low < many.low < 1
    assert "exact over clusters" in few.signature


def test_clustered_errors_give_a_wider_interval_than_spread_ones() -> None:
    spread = precision_recall([9] * 50, [1] * 50, [0] * 50, seed=1).precision
    bunched = precision_recall([10] * 45 + [0] * 5, [0] * 45 + [10] * 5, [0] * 50, seed=1).precision
    assert spread.value == bunched.value == 0.9
    assert bunched.high - bunched.low > 5 * (spread.high - spread.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for trial in range(200):
        rate = random.beta(18, 2, 60)
        size = random.integers(5, 20, 60)
        right = random.binomial(size, rate)
        figure = precision_recall(right, size - right, 0 * size, seed=trial, draws=300).precision
        covered += figure.low <= 0.9 <= figure.high
    assert 0.88 <= covered / 200 <= 0.99


def test_the_seed_alone_decides_the_draws() -> None:
    made = (range(1, 31), [i % 7 for i in range(30)], [i % 5 for i in range(30)])
    assert precision_recall(*made, seed=3) == precision_recall(*made, seed=3)
    assert precision_recall(*made, seed=3) != precision_recall(*made, seed=4)


def test_nothing_at_all_is_undefined_and_no_error() -> None:
    both = precision_recall([], [], [], seed=0)
    assert math.isnan(both.precision.value) and math.isnan(both.recall.value)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        precision_recall([-1], [0], [0], seed=0)
