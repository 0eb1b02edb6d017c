"""The one rule of intervals: it covers, is smooth, never certain, and hangs on content only."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.core.arrays import Floats
from clinqa.stats.agreement import kappa_measure
from clinqa.stats.comparing import compare
from clinqa.stats.design import Design, cluster_sums, resampled_totals
from clinqa.stats.estimates import Estimate, estimate, estimates
from clinqa.stats.intervals import (
    SHARE,
    SIGNED,
    Bounds,
    alike,
    effective,
    exact,
    jointly,
    of_share,
    unseen,
)
from clinqa.stats.measure import Measure, mean, share

items = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1, width=32)), min_size=1, max_size=40
)


def the_mean(
    rows: object, groups: object, *, bounds: Bounds = SHARE, counted: bool = False
) -> Estimate:
    """The mean of rows (1, x)."""
    measure = mean(bounds=bounds, counted=counted)
    (found,) = estimates([measure], rows, Design(groups))  # type: ignore[arg-type]
    return found


def rows_of(values: list[float]) -> list[list[float]]:
    return [[1.0, value] for value in values]


def of(events: list[int], size: int) -> tuple[float, float]:
    """The interval of clusters of one size with so many events."""
    over = np.array(events, dtype=float)
    return of_share(over, np.full(len(over), float(size)), 0.95, counted=True)[:2]


@settings(deadline=None)
@given(items, st.randoms(use_true_random=False), st.sampled_from([SHARE, SIGNED]))
def test_the_order_of_items_has_no_part_in_it(
    made: list[tuple[str, float]], shuffler: object, bounds: Bounds
) -> None:
    mixed = list(made)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = (
        the_mean(rows_of([v for _, v in these]), [g for g, _ in these], bounds=bounds)
        for these in (made, mixed)
    )
    assert repr(one) == repr(other)


@settings(deadline=None)
@given(items, st.sampled_from([SHARE, SIGNED]), st.booleans())
def test_intervals_stay_within_the_bounds_and_hold_the_value(
    made: list[tuple[str, float]], bounds: Bounds, counted: bool
) -> None:
    values, groups = [v for _, v in made], [g for g, _ in made]
    found = the_mean(rows_of(values), groups, bounds=bounds, counted=counted)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.n, found.clusters) == (len(made), len(set(groups)))
    if found.clusters > 1:
        assert bounds is not None
        assert bounds[0] - 1e-9 <= found.low <= found.value + 1e-9
        assert found.value - 1e-9 <= found.high <= 1 + 1e-9
        assert found.low < found.high
    else:
        assert math.isnan(found.low) and math.isnan(found.high)


@pytest.mark.parametrize("clusters", [6, 10, 11, 50, 154, 500])
@pytest.mark.parametrize("size", [1, 3, 5, 20])
def test_one_more_event_in_another_cluster_lowers_neither_limit(clusters: int, size: int) -> None:
    ends = [of([1] * many + [0] * (clusters - many), size) for many in range(clusters + 1)]
    low, high = (np.array(column) for column in zip(*ends, strict=True))
    assert (np.diff(low) >= -1e-9).all()
    assert (np.diff(high) >= -1e-9).all()
    assert high[1] - low[1] >= high[0] - low[0]  # from no event to one it does not narrow
    assert low[0] == 0 and low[1] > 0


@pytest.mark.parametrize("clusters", [6, 11, 50, 200])
@pytest.mark.parametrize("size", [2, 5, 20])
def test_shares_and_their_mirror_have_mirrored_intervals(clusters: int, size: int) -> None:
    random = np.random.default_rng(clusters + size)
    events = random.integers(0, size + 1, clusters)
    low, high = of(events.tolist(), size)
    mirrored = of((size - events).tolist(), size)
    assert (1 - high, 1 - low) == pytest.approx(mirrored)


def test_it_is_smooth_in_the_number_of_clusters() -> None:
    """No cliff: 11 patients like those before have an interval much like that of 10."""
    random = np.random.default_rng(3)
    events = random.binomial(5, random.beta(6, 4, 60)).tolist()
    widths = []
    for many in range(5, 60):
        low, high = of((events * 2)[:many], 5)
        widths.append(high - low)
    steps = np.array(widths[1:]) / np.array(widths[:-1])
    assert (abs(np.log(steps)) < 0.25).all()


def test_no_event_is_bounded_between_items_and_clusters() -> None:
    low, high = of([0] * 154, 20)
    items, clusters = exact(0, 154 * 20, 0.95)[1], exact(0, 154, 0.95)[1]
    assert low == 0 and items < high < clusters
    assert high == pytest.approx(exact(0, 154 * math.sqrt(20), 0.95)[1])
    # each item a cluster: Clopper and Pearson's own
    assert of([0] * 20, 1) == pytest.approx((0, scipy.stats.binomtest(0, 20).proportion_ci().high))


@pytest.mark.parametrize("share_of", [0.0, 0.5, 1.0])
def test_without_spread_there_is_width_and_the_less_the_more_clusters(share_of: float) -> None:
    widths = []
    for clusters in (4, 12, 100, 1000):
        low, high = of([round(share_of * 2)] * clusters, 2)
        assert low <= share_of <= high
        widths.append(high - low)
    assert (np.diff(widths) < 0).all() and widths[-1] > 1e-4


def test_items_that_agree_within_patients_widen_the_interval() -> None:
    right = [1.0] * 45 * 10 + [0.0] * 5 * 10
    apart = the_mean(rows_of(right), [f"{n:03d}" for n in range(500)], counted=True)
    together = the_mean(rows_of(right), [f"{n // 10:03d}" for n in range(500)], counted=True)
    assert apart.value == together.value == 0.9
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_graded_values_that_vary_little_have_a_narrower_interval_than_hits() -> None:
    values = [0.48, 0.52, 0.5, 0.47, 0.53] * 6
    groups = [f"p{n}" for n in range(30)]
    graded, counted = (the_mean(rows_of(values), groups, counted=c) for c in (False, True))
    assert graded.high - graded.low < 0.2 * (counted.high - counted.low)
    half = scipy.stats.t.ppf(0.975, 29) * np.std(values, ddof=1) / math.sqrt(30)
    assert (graded.high - graded.low) / 2 == pytest.approx(half, rel=0.05)


def test_what_has_no_interval_says_why() -> None:
    assert the_mean(rows_of([0.5, 1.0]), ["p", "p"]).signature.startswith("one cluster")
    same = the_mean(rows_of([0.5, 0.5]), ["p", "q"], bounds=None)
    assert math.isnan(same.low) and "no spread" in same.signature
    empty = the_mean(np.zeros((0, 2)), [])
    assert math.isnan(empty.value) and empty.signature == "undefined" and empty.clusters == 0
    once = Measure(
        "x",
        lambda t: np.where(t[..., 1] > 0, t[..., 1] / t[..., 0], np.nan),
        lambda t: t[..., 0],
    )
    (found,) = estimates([once], [[1, 1], [1, 0], [1, 0]], Design())
    assert math.isnan(found.low) and "without one of its clusters" in found.signature


def test_clusters_of_nothing_have_no_part_in_it() -> None:
    rows = [[1, 1], [0, 0], [2, 1], [0, 0], [1, 0]]
    some = [row for row in rows if row[0]]
    found, other = (the_mean(own, range(len(own)), counted=True) for own in (rows, some))
    assert (found.value, found.low, found.high) == (other.value, other.low, other.high)
    assert found.clusters == 3


def test_several_figures_belong_together() -> None:
    random = np.random.default_rng(1)
    values = random.random((30, 2))
    rows = np.concatenate([np.ones((30, 1)), values], axis=1)
    groups = [f"p{n % 10}" for n in range(30)]
    both = estimates([share("a", 1, 0), share("b", 2, 0)], rows, Design(groups))
    alone = [the_mean(rows[:, [0, at]], groups, counted=True) for at in (1, 2)]
    for one, other in zip(both, alone, strict=True):
        assert one.low == pytest.approx(other.low) and one.high == pytest.approx(other.high)


def test_sizes_that_differ_count_for_fewer_clusters() -> None:
    assert effective(np.full(10, 7.0)) == pytest.approx(10)
    assert effective(np.array([100.0, 1, 1, 1])) < 1.1
    assert alike(np.full(10, 4.0)) == pytest.approx(2)
    assert unseen(np.full(20, 1.0), 0.95) == pytest.approx(1 - 0.025 ** (1 / 20))


def draw(
    random: np.random.Generator, clusters: int, size: int, rate: float, icc: float, sets: int
) -> Floats:
    """Events of clusters, (sets, clusters): beta-binomial with this correlation."""
    chance: Floats = np.full((sets, clusters), rate)
    if icc:
        scale = 1 / icc - 1
        chance = random.beta(rate * scale, (1 - rate) * scale, (sets, clusters))
    return random.binomial(size, chance).astype(float)


@pytest.mark.parametrize(
    ("clusters", "size", "rate", "icc"),
    [
        (6, 20, 0.5, 0.4),
        (10, 5, 0.3, 0.1),
        (11, 5, 0.3, 0.1),
        (20, 20, 0.05, 0.1),
        (30, 20, 0.05, 0.4),
        (50, 20, 0.95, 0.4),
        (150, 20, 0.005, 0.1),
        (500, 20, 0.005, 0.4),
    ],
)
def test_shares_are_covered(clusters: int, size: int, rate: float, icc: float) -> None:
    random = np.random.default_rng(clusters)
    found = [of(row.tolist(), size) for row in draw(random, clusters, size, rate, icc, 700)]
    assert np.mean([low <= rate <= high for low, high in found]) >= 0.915


@pytest.mark.parametrize("clusters", [6, 10, 20, 40])
def test_differences_of_two_models_with_unequal_patients_are_covered(clusters: int) -> None:
    random = np.random.default_rng(clusters)
    sizes = np.round(8 * np.exp(np.linspace(-1, 1, clusters))).astype(int)
    who = np.repeat(np.arange(clusters), sizes)
    chance, covered = lambda x: 1 / (1 + np.exp(-x)), 0
    truth = np.mean(
        chance(np.random.default_rng(0).normal(0.4, 1.12, 200_000))
        - chance(np.random.default_rng(1).normal(0, 1.12, 200_000))
    )
    for _ in range(400):
        patient, own = random.normal(0, 0.8, clusters), random.normal(0, 0.787, (2, clusters))
        a, b = (
            random.random(len(who)) < chance(at + (patient + mine)[who])
            for at, mine in zip((0.4, 0.0), own, strict=True)
        )
        rows = [np.stack([np.ones(len(who)), one], axis=1).astype(float) for one in (a, b)]
        (found,) = compare([mean(counted=True)], *rows, Design(who), flips=1)
        covered += found.low <= truth <= found.high
    assert covered / 400 >= 0.92


def test_equal_runs_may_still_differ_elsewhere() -> None:
    for many in (5, 50):
        same = np.stack([np.ones(many), np.arange(many) % 2], axis=1)
        (found,) = compare([mean(counted=True)], same, same, Design())
        assert found.difference == 0 and found.p == 1
        assert (found.low, found.high) == pytest.approx((-unseen(np.ones(many), 0.95),
                                                         unseen(np.ones(many), 0.95)))  # fmt: skip


def test_more_differing_items_never_narrow_the_difference_from_none_to_one() -> None:
    b = np.stack([np.ones(300), np.zeros(300)], axis=1)
    widths, highs = [], []
    for events in range(6):
        a = b.copy()
        a[:events, 1] = 1
        (found,) = compare([mean(counted=True)], a, b, Design(np.arange(300)), flips=1)
        widths.append(found.high - found.low)
        highs.append(found.high)
    assert widths[1] >= widths[0] and (np.diff(highs) >= -1e-9).all()


def test_kappa_of_perfect_agreement_is_not_certain() -> None:
    tables = np.array([[5.0, 0, 0, 5.0]] * 20)
    (found,) = estimates([kappa_measure("kappa", lambda rows: rows, 2, "none")], tables, Design())
    assert found.value == found.high == 1
    assert 0.7 < found.low < 0.99


def test_macro_means_know_less_where_a_class_is_rare() -> None:
    def macro(rows: Floats) -> Floats:
        return (rows[..., 1] / rows[..., 0] + rows[..., 3] / rows[..., 2]) / 2

    def classes(rows: Floats) -> Floats:
        return rows[..., [0, 2]]

    def one(rare: int) -> Estimate:
        rows = np.tile([10.0, 9.0, 0.0, 0.0], (40, 1))
        rows[:20, 1] = 8
        rows[:rare, 2:] = [1.0, 1.0]
        measure = Measure("m", macro, lambda r: r[..., 0] + r[..., 2], classes=classes)
        return estimates([measure], rows, Design())[0]

    assert one(2).high - one(2).low > 2 * (one(6).high - one(6).low)


def test_groups_hold_together_and_the_smallest_says_nothing() -> None:
    random = np.random.default_rng(4)
    group = np.repeat([0, 1, 2, 3], [60, 30, 5, 1])
    covered = 0
    for _ in range(300):
        right = random.binomial(6, 0.85, len(group)).astype(float)
        under = np.full(len(group), 6.0)
        over_of, under_of = (np.bincount(group, each) for each in (right, under))
        scores = over_of / under_of
        values = (scores - right.sum() / under.sum())[:, None]
        left = np.empty((len(group), 4, 1))
        overall = (right.sum() - right) / (under.sum() - under)
        left[:, :, 0] = scores - overall[:, None]
        with np.errstate(invalid="ignore"):
            own = (over_of[group] - right) / (under_of[group] - under)
        left[np.arange(len(group)), group, 0] = own - overall
        low, high = jointly(values, left, group, under, 0.95)
        assert math.isnan(low[3, 0])
        covered += bool(((low[:3] <= 0) & (high[:3] >= 0)).all())
    assert covered / 300 >= 0.93


def test_one_items_clusters_agree_with_evalstats_on_equal_clusters() -> None:
    resampling = pytest.importorskip("evalstats.core.resampling")
    random = np.random.default_rng(9)
    for rate in (0.2, 0.5, 0.8):
        values = (random.random((120, 8)) < random.beta(rate * 9, (1 - rate) * 9, 120)[:, None]) * 1
        low, high = of(values.sum(axis=1).tolist(), 8)
        theirs = resampling.jeffreys_nested_od(values.astype(float), 0.05)
        assert (low, high) == pytest.approx(theirs, abs=0.006)
        other = (random.random((120, 8)) < rate).astype(float)
        rows = [cluster_sums(np.stack([np.ones(960), one.ravel()], axis=1),
                             np.repeat(np.arange(120), 8)) for one in (values, other)]  # fmt: skip
        (found,) = compare([mean(counted=True)], *rows, Design(), flips=1)
        expected = resampling.modified_obuchowski_paired_ci(values.astype(float), other, 0.05)
        assert (found.low, found.high) == pytest.approx(expected, abs=0.006)


def test_the_mean_of_a_sample_needs_no_call_of_the_rest() -> None:
    found = estimate([1, 1, 0, 1], ["a", "b", "c", "d"])
    assert (found.value, found.clusters) == (0.75, 4) and 0.1 < found.low < 0.75


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


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="group"):
        cluster_sums([[1, 2]], [])
    with pytest.raises(ValueError, match="level"):
        Design(level=1)


@pytest.mark.parametrize("many", [3, 10, 50])
def test_runs_that_differ_everywhere_by_the_same_are_not_certain_to(many: int) -> None:
    ones, zeros = (np.stack([np.ones(many), np.full(many, one)], axis=1) for one in (1.0, 0.0))
    (found,) = compare([mean(counted=True)], ones, zeros, Design())
    assert found.difference == found.high == 1
    assert found.low == pytest.approx(1 - unseen(np.ones(many), 0.95))


def test_a_large_difference_is_covered() -> None:
    random = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        rows = [
            np.stack([np.ones(20), (random.random(20) < rate) * 1.0], axis=1)
            for rate in (0.98, 0.02)
        ]
        (found,) = compare([mean(counted=True)], *rows, Design(), flips=1)
        covered += found.low <= 0.96 <= found.high
    assert covered / 200 >= 0.93


def test_weights_count_in_their_proportions_and_nonsense_is_refused() -> None:
    made = [estimate([1, 0, 1, 0] * 10, weights=[scale] * 40) for scale in (1e-3, 1, 1e3)]
    assert len({(round(one.low, 12), round(one.high, 12)) for one in made}) == 1
    for weights in ([1, -1, 1], [1, math.nan, 1], [1, 1]):
        with pytest.raises(ValueError, match="weight"):
            estimate([1, 0, 1], weights=weights)
    with pytest.raises(ValueError, match="NaN or infinite"):
        estimate([1, math.inf, 0])
    nearly = estimate([1 + 1e-15, 0.2, 0.3, 0.9, 1, 1])
    assert nearly.high <= 1
