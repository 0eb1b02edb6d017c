"""Precision and recall from counts by report: estimates of sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.measure import share

counts = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30
)


def precision_recall(
    right: object,
    extra: object,
    missed: object,
    *,
    names: object = None,
) -> tuple[Estimate, Estimate]:
    tp, fp, fn = (np.asarray(one, dtype=float) for one in (right, extra, missed))
    measures = [share("precision", 0, 1), share("recall", 0, 2)]
    rows = np.stack([tp, tp + fp, tp + fn], axis=1)
    design = Design(range(len(tp)) if names is None else names)  # type: ignore[arg-type]
    precision, recall = estimates(measures, rows, design)
    return precision, recall


def columns(made: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(column) for column in zip(*made, strict=True)]


@settings(deadline=None)
@given(counts, st.randoms(use_true_random=False))
def test_the_order_of_reports_has_no_part_in_it(
    made: list[tuple[int, int, int]], shuffler: object
) -> None:
    names = list(range(len(made)))
    shuffler.shuffle(names)  # type: ignore[attr-defined]
    mixed = [made[at] for at in names]
    one = precision_recall(*columns(made))
    other = precision_recall(*columns(mixed), names=names)
    assert repr(one) == repr(other)


@settings(deadline=None)
@given(counts)
def test_the_figure_is_the_ratio_of_sums_and_bounds_are_shares(
    made: list[tuple[int, int, int]],
) -> None:
    both = precision_recall(*columns(made))
    tp, fp, fn = (sum(column) for column in columns(made))
    for figure, whole in ((both[0], tp + fp), (both[1], tp + fn)):
        if whole:
            assert figure.value == pytest.approx(tp / whole)
            assert math.isnan(figure.low) or -1e-9 <= figure.low <= figure.high <= 1 + 1e-9
            assert figure.clusters == 1 or figure.low <= figure.high
            assert figure.n == whole
        else:
            assert math.isnan(figure.value) and figure.n == 0


def test_all_right_still_has_a_lower_bound_that_grows_with_the_reports() -> None:
    few = precision_recall([5] * 10, [0] * 10, [0] * 10)[0]
    many = precision_recall([5] * 300, [0] * 300, [0] * 300)[0]
    assert few.value == many.value == few.high == 1
    # halfway between ten reports and fifty findings
    assert few.low == pytest.approx(0.025 ** (1 / (10 * math.sqrt(5))))
    assert few.low < many.low < 1


def test_clustered_errors_give_a_wider_interval_than_spread_ones() -> None:
    spread = precision_recall([9, 8, 10, 9, 9] * 10, [1, 2, 0, 1, 1] * 10, [0] * 50)[0]
    bunched = precision_recall([10] * 45 + [0] * 5, [0] * 45 + [10] * 5, [0] * 50)[0]
    assert spread.value == bunched.value == 0.9
    assert bunched.high - bunched.low > 4 * (spread.high - spread.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        rate = random.beta(18, 2, 60)
        size = random.integers(5, 20, 60)
        right = random.binomial(size, rate)
        figure = precision_recall(right, size - right, 0 * size)[0]
        covered += figure.low <= 0.9 <= figure.high
    assert 0.88 <= covered / 200 <= 0.99


def test_nothing_at_all_is_undefined_and_no_error() -> None:
    both = precision_recall([], [], [])
    assert math.isnan(both[0].value) and math.isnan(both[1].value)
