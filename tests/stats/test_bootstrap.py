"""Cluster bootstrap intervals of statistics of sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats.design import Design, cluster_sums, resampled_totals
from clinqa.stats.estimates import FEW, Estimate, estimates
from clinqa.stats.intervals import SHARE, SIGNED, Bounds
from clinqa.stats.measure import Measure, mean, share

items = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1, width=32)), min_size=1, max_size=40
)


def bootstrap(
    rows: object, groups: object, *, seed: int, draws: int = 1000, bounds: Bounds = SHARE
) -> list[Estimate]:
    """The mean of rows (1, x)."""
    design = Design(groups, seed=seed, draws=draws)  # type: ignore[arg-type]
    return estimates([mean(bounds=bounds)], rows, design)  # type: ignore[arg-type]


def rows_of(values: list[float]) -> list[list[float]]:
    return [[1.0, value] for value in values]


@settings(deadline=None)
@given(items, st.randoms(use_true_random=False), st.sampled_from([SHARE, SIGNED]))
def test_the_order_of_items_has_no_part_in_it(
    made: list[tuple[str, float]], shuffler: object, bounds: Bounds
) -> None:
    mixed = list(made)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (
        bootstrap(
            rows_of([v for _, v in these]), [g for g, _ in these], seed=3, draws=60, bounds=bounds
        )
        for these in (made, mixed)
    )
    assert repr(one) == repr(other)


@settings(deadline=None)
@given(items, st.sampled_from([SHARE, SIGNED]))
def test_intervals_stay_within_the_bounds(made: list[tuple[str, float]], bounds: Bounds) -> None:
    (found,) = bootstrap(
        rows_of([v for _, v in made]),
        [g for g, _ in made],
        seed=3,
        draws=60,
        bounds=bounds,
    )
    assert found.value == pytest.approx(np.mean([v for _, v in made]))
    assert found.n == len(made)
    assert found.clusters == len({g for g, _ in made})
    if found.clusters > 1:
        assert bounds is not None and bounds[0] - 1e-9 <= found.low <= found.high <= 1 + 1e-9
    else:
        assert math.isnan(found.low) and math.isnan(found.high)


def test_bca_agrees_with_scipys_where_each_item_is_a_cluster() -> None:
    random = np.random.default_rng(2)
    values = random.beta(8, 1, 60)
    (ours,) = bootstrap(
        rows_of(values.tolist()), [f"p{n:03d}" for n in range(60)], seed=1, draws=20_000
    )
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="BCa", rng=random
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=2e-3)
    assert ours.high == pytest.approx(theirs.high, abs=2e-3)
    assert "BCa" in ours.signature


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    covered = 0
    for trial in range(500):
        sizes = random.integers(2, 9, 60)
        rates = np.repeat(random.beta(18, 2, 60), sizes)
        right = (random.random(len(rates)) < rates).astype(float)
        groups = np.repeat(np.arange(60), sizes)
        (found,) = bootstrap(
            np.stack([np.ones(len(right)), right], axis=1),
            groups,
            seed=trial,
            draws=500,
        )
        covered += found.low <= 0.9 <= found.high
    assert 0.92 <= covered / 500 <= 0.98


def test_items_of_one_patient_that_agree_widen_the_interval() -> None:
    right = [1.0] * 45 * 10 + [0.0] * 5 * 10
    apart = bootstrap(rows_of(right), [f"{n:03d}" for n in range(500)], seed=1)[0]
    together = bootstrap(rows_of(right), [f"{n // 10:03d}" for n in range(500)], seed=1)[0]
    assert apart.value == together.value == 0.9
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_all_right_has_the_exact_bound_over_patients() -> None:
    (found,) = bootstrap(rows_of([1.0] * 40), [f"p{n % 20}" for n in range(40)], seed=1)
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(0.025 ** (1 / 20))
    assert found.low == pytest.approx(scipy.stats.binomtest(20, 20).proportion_ci().low)
    assert found.signature == "exact over clusters|0.95"
    (none,) = bootstrap(rows_of([0.0] * 40), [f"p{n % 20}" for n in range(40)], seed=1)
    assert none.low == 0 and none.high == pytest.approx(1 - 0.025 ** (1 / 20))


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (1, 2), (3, 8), (7, 7)])
def test_what_varies_between_no_patients_has_the_bounds_of_clopper_and_pearson(
    hits: int, trials: int
) -> None:
    each = [hits / trials] * trials
    (found,) = bootstrap(rows_of(each), [f"p{n}" for n in range(trials)], seed=1)
    theirs = scipy.stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_what_has_no_interval_says_why() -> None:
    assert bootstrap(rows_of([0.5, 1.0]), ["p", "p"], seed=1)[0].signature.startswith("one cluster")
    alike = bootstrap(rows_of([0.5, 0.5]), ["p", "q"], seed=1, bounds=None)[0]
    assert (alike.low, alike.high) == (0.5, 0.5) and "no spread" in alike.signature
    (empty,) = bootstrap(np.zeros((0, 2)), [], seed=1)
    assert math.isnan(empty.value) and empty.signature == "undefined" and empty.clusters == 0


def test_samples_without_the_figure_are_left_out_and_counted() -> None:
    rows = [[1, 1], [0, 0], [2, 1], [0, 0], [1, 0]]
    (found,) = bootstrap(rows, list("abcde"), seed=1, draws=400)
    assert found.value == 0.5 and "undefined" in found.signature
    rare = [[1, 1], *[[0, 0]] * 9]
    (hardly,) = bootstrap(rare, list("abcdefghij"), seed=1, draws=400)
    assert hardly.value == 1 and hardly.low <= 1


def test_several_figures_come_from_the_same_samples() -> None:
    random = np.random.default_rng(1)
    values = random.random((30, 2))
    rows = np.concatenate([np.ones((30, 1)), values], axis=1)
    groups = [f"p{n % 10}" for n in range(30)]
    both = estimates([share("a", 1, 0), share("b", 2, 0)], rows, Design(groups, seed=4))
    alone = [bootstrap(rows[:, [0, at]], groups, seed=4)[0] for at in (1, 2)]
    for one, other in zip(both, alone, strict=True):
        assert one.low == pytest.approx(other.low) and one.high == pytest.approx(other.high)


def test_totals_of_samples_have_the_right_mean_and_spread() -> None:
    sums = np.array([[1.0, n] for n in range(10)])
    totals = resampled_totals(sums, draws=20_000, seed=1)
    assert (totals[:, 0] == 10).all()
    assert totals[:, 1].mean() == pytest.approx(45, abs=0.4)
    assert totals[:, 1].std() == pytest.approx(math.sqrt(10 * 8.25), rel=0.03)


def test_drawing_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = cluster_sums(rows_of([n / 50 for n in range(50)]), [f"{n % 17}" for n in range(50)])
    whole = resampled_totals(sums, draws=100, seed=1)
    monkeypatch.setattr("clinqa.stats.design._WEIGHTS_AT_ONCE", 17 * 7)
    assert np.array_equal(whole, resampled_totals(sums, draws=100, seed=1))


def test_the_seed_alone_decides_the_draws() -> None:
    rows, groups = rows_of([n % 7 / 7 for n in range(60)]), [f"{n % 20}" for n in range(60)]
    assert bootstrap(rows, groups, seed=3) == bootstrap(rows, groups, seed=3)
    assert bootstrap(rows, groups, seed=3) != bootstrap(rows, groups, seed=4)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="group"):
        cluster_sums([[1, 2]], [])
    with pytest.raises(ValueError, match="level"):
        Design(level=1)


def test_few_clusters_have_students_interval_and_many_the_bootstraps() -> None:
    rng = np.random.default_rng(5)
    rows = [[1.0, float(right)] for right in rng.random(200) < 0.7]
    few, many = ([f"p{n % size}" for n in range(200)] for size in (FEW, 40))
    (of_few,) = bootstrap(rows, few, seed=1)
    (of_many,) = bootstrap(rows, many, seed=1)
    assert "t on the logit scale" in of_few.signature and "BCa" in of_many.signature
    (difference,) = bootstrap(rows, few, seed=1, bounds=None)
    assert "BCa" in difference.signature  # no share
    # the two figures of one call may lie between different bounds
    skill = Measure("skill", lambda t: 2 * t[:, 1] / t[:, 0] - 1, lambda t: t[:, 0], bounds=SIGNED)
    of_share, signed = estimates([mean(), skill], rows, Design(few, seed=1))
    assert "logit" in of_share.signature and "BCa" in signed.signature


def test_no_interval_without_width_where_samples_vary() -> None:
    def macro(totals: np.ndarray) -> np.ndarray:
        first = 2 * totals[:, 0] / (2 * totals[:, 0] + totals[:, 1] + totals[:, 2])
        second = 2 * totals[:, 3] / (2 * totals[:, 3] + totals[:, 1] + totals[:, 2])
        return (np.nan_to_num(first) + np.nan_to_num(second)) / 2

    measure = Measure("macro", macro, lambda totals: totals.sum(axis=-1))
    (found,) = estimates([measure], [[2.0, 1, 0, 0], [0, 0, 1, 2]], Design(seed=1))
    assert found.low < found.value


@pytest.mark.parametrize("clusters", [2, 3, 5, 8])
def test_intervals_of_few_clusters_cover(clusters: int) -> None:
    """Clusters of one mean and a spread of their own: BCa over so few covers 50 to 85 %."""
    rng = np.random.default_rng(clusters)
    covered = tries = 0
    for _ in range(300):
        shares = np.clip(0.6 + 0.12 * rng.standard_normal(clusters), 0.01, 0.99)
        right = rng.random((clusters, 40)) < shares[:, None]
        rows = [[1.0, float(one)] for one in right.ravel()]
        groups = np.repeat(np.arange(clusters), 40)
        (found,) = bootstrap(rows, groups, seed=1, draws=100)
        covered += found.low <= 0.6 <= found.high
        tries += 1
    assert covered / tries >= 0.92
