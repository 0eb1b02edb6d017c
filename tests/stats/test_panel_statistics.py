"""Agreement of many judges, votes, rankings, frontier and McNemar against plain computation."""

from __future__ import annotations

from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import contingency_tables, inter_rater, multitest

from clinqa.stats.agreement import (
    agreement,
    hierarchy,
    kappa,
    majority,
    search,
)
from clinqa.stats.comparing import holm, mcnemar
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.measure import share
from clinqa.stats.rank import frontier, kendall, means_drawn, ranking_kept


def _codes(judges: int, items: int, seed: int = 0, silent: float = 0.1) -> np.ndarray:
    random = np.random.default_rng(seed)
    gold = random.random(items) < 0.5
    right = random.random((judges, items)) < np.linspace(0.4, 0.95, judges)[:, None]
    codes = np.where(right, gold, ~gold).astype(np.int8)
    codes[random.random(codes.shape) < silent] = -1
    return codes


def test_each_kappa_is_that_of_scikit_learn_and_its_interval_that_of_one_pair_alone() -> None:
    codes, groups = _codes(5, 240), np.repeat(np.arange(120), 2)
    found = agreement(codes, groups)
    for a, b in combinations(range(5), 2):
        reference = cohen_kappa_score(codes[a], codes[b])
        assert found.value[a, b] == pytest.approx(reference, abs=1e-9)
    alone = kappa(codes[0].tolist(), codes[1].tolist(), [-1, 0, 1], Design(groups))
    assert found.low[0, 1] == pytest.approx(alone.low, abs=1e-9)
    assert found.high[0, 1] == pytest.approx(alone.high, abs=1e-9)


def test_the_order_of_items_changes_no_kappa_and_no_interval() -> None:
    codes, groups = _codes(4, 100), np.repeat(np.arange(50), 2)
    order = np.random.default_rng(1).permutation(100)
    one = agreement(codes, groups)
    other = agreement(codes[:, order], groups[order])
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.low, other.low)


def test_one_cluster_gives_kappas_without_intervals() -> None:
    found = agreement(_codes(3, 20), ["same"] * 20)
    assert np.isfinite(found.value).all() and np.isnan(found.low[0, 1])


def test_judges_that_agree_stand_together() -> None:
    value = np.full((4, 4), 0.1)
    np.fill_diagonal(value, 1.0)
    value[0, 2] = value[2, 0] = value[1, 3] = value[3, 1] = 0.9
    order = hierarchy(value)
    assert abs(order.index(0) - order.index(2)) == 1 and abs(order.index(1) - order.index(3)) == 1


@given(st.integers(1, 7), st.integers(1, 130), st.integers(0, 5), st.data(), st.floats(0.0, 0.4))
def test_every_searched_set_counts_what_its_vote_has_right(
    judges: int, items: int, seed: int, data: st.DataObject, silent: float
) -> None:
    size = data.draw(st.integers(1, judges))
    codes = _codes(judges, items, seed, silent)
    gold = np.random.default_rng(seed + 1).random(items) < 0.5
    found = search(codes == gold, gold, size)
    assert [tuple(row) for row in found.members.tolist()] == list(combinations(range(judges), size))
    for row, members in enumerate(found.members.tolist()):
        voted = majority(codes[members]) == gold
        assert found.true_right[row] == (voted & gold).sum()
        assert found.false_right[row] == (voted & ~gold).sum()


def test_a_tie_is_no_answer() -> None:
    codes = np.array([[1, 1, 1], [0, 1, -1]], dtype=np.int8)
    assert majority(codes).tolist() == [-1, 1, -1]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_tau_is_that_of_scipy(rows: list[tuple[int, int]]) -> None:
    a, b = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    reference = scipy_stats.kendalltau(a, b).statistic
    np.testing.assert_allclose(kendall(a, b), reference, atol=1e-9)


def test_the_interval_of_a_ranking_comes_from_resamples_of_both_sets() -> None:
    random = np.random.default_rng(0)
    a, b = np.array([0.5, 0.6, 0.9]), np.array([0.4, 0.7, 0.8])
    samples = [x + 0.05 * random.standard_normal((500, 3)) for x in (a, b)]
    kept = ranking_kept(a, b, *samples)
    assert kept.value == 1.0 and kept.low <= kept.value <= kept.high and kept.n == 3
    none = ranking_kept(a, b, samples[0][:0], samples[1][:0])
    assert np.isnan(none.low)


def test_means_are_drawn_as_shares_are() -> None:
    values = np.random.default_rng(3).random((2, 60)).round()
    design = Design(np.arange(60) // 3, seed=4, draws=300)
    means, samples = means_drawn(values, design)
    (first, second) = estimates([share("a", 1, 0), share("b", 2, 0)],
                                np.stack([np.ones(60), *values], axis=1), design)  # fmt: skip
    assert means.tolist() == pytest.approx([first.value, second.value])
    assert samples.shape == (300, 2) and first.low < np.median(samples[:, 0]) < first.high
    assert means_drawn(values, Design(["one"] * 60))[1].shape == (0, 2)


def test_the_mean_kappa_of_one_pair_is_that_pairs() -> None:
    found = agreement(_codes(4, 200), np.repeat(np.arange(100), 2))
    one, none = found.mean([(0, 1)]), found.mean([])
    assert (one.value, one.low) == pytest.approx((found.value[0, 1], found.low[0, 1]))
    assert np.isnan(none.value) and np.isnan(none.low)


def test_the_frontier_holds_whatever_no_other_beats() -> None:
    random = np.random.default_rng(2)
    points = random.integers(0, 6, (40, 2)).astype(float)
    points[3, 0] = np.nan
    found = frontier(points)
    for at, (x, y) in enumerate(points):
        beaten = any(p >= x and q >= y and (p > x or q > y) for p, q in points)
        assert found[at] == (not beaten and at != 3)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_exact_test(a: int, b: int) -> None:
    reference = contingency_tables.mcnemar([[5, a], [b, 5]], exact=True).pvalue if a + b else 1.0
    assert mcnemar(a, b) == pytest.approx(reference, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_are_those_of_statsmodels(p_values: list[float]) -> None:
    with mock.patch("gc.collect"):  # it empties all memory at every call
        reference = multitest.multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(holm(p_values), reference, atol=1e-9)


def test_kappa_is_that_of_statsmodels() -> None:
    codes = _codes(2, 300)
    table = np.array([[((codes[0] == a) & (codes[1] == b)).sum() for b in (-1, 0, 1)]
                      for a in (-1, 0, 1)])  # fmt: skip
    reference = inter_rater.cohens_kappa(table).kappa
    found = agreement(codes, np.repeat(np.arange(150), 2))
    assert found.value[0, 1] == pytest.approx(reference, abs=1e-9)
