"""Gaps, nulls and intervals on arrays: by hand, against a peer, and whatever the order."""

from __future__ import annotations

import numpy as np
import pytest

from auditing.made import audit_of
from clinqa.auditing.answers import Means, lay_out, means_of
from clinqa.auditing.deviations import AuditDraws
from clinqa.auditing.dimensions import Dimension
from clinqa.auditing.disparities import between_variance, crude, equality_difference, trend
from clinqa.auditing.engine import Found, audit_means
from clinqa.simulate.answerers import Effect
from clinqa.stats.nulls import adjusted, blocks_of, p_values

FEW = AuditDraws(seed=3, draws=200, permutations=199)


def grouped(codes: list[int], **more: object) -> Dimension:
    names = tuple(f"g{code}" for code in range(max(codes) + 1))
    return Dimension("d", "patient", "categories", names, np.array(codes), **more)  # type: ignore[arg-type]


def means(scores: list[float], repeats: list[list[float]] | None = None) -> Means:
    ones = np.ones(len(scores))
    sides = [np.array(scores), *map(np.array, repeats or [scores])]
    return lay_out([(sides, [ones] * len(sides))], "token_f1", "f1")


def audited(made: Means, patient: list[int], dimension: Dimension, strata: object = None) -> Found:
    size = len(dimension.codes)
    asked = np.zeros(len(patient), np.int64) if strata is None else np.asarray(strata)
    (found,) = audit_means(made, np.array(patient), np.arange(size), asked, [dimension], FEW)
    return found


def test_the_equality_difference_is_that_of_the_paper() -> None:
    # group scores 0.5 and 0.9, overall 0.7: the mean of |−0.2| and |0.2|
    found = audited(means([0.4, 0.6, 0.8, 1.0]), [0, 1, 2, 3], grouped([0, 0, 1, 1]))
    null = found.nulls["equality_difference"]
    assert null.value.tolist() == pytest.approx([0.2])
    assert found.crude.overall.tolist() == pytest.approx([0.7])
    assert found.nulls["max_min_gap"].value.tolist() == pytest.approx([0.4])
    assert found.crude.ratio.tolist() == pytest.approx([0.5 / 0.9])


def test_items_count_and_not_patients_and_missing_has_no_part() -> None:
    found = audited(means([1, 1, 1, 0, 0.5]), [0, 0, 0, 1, 2], grouped([0, 1, -1]))
    assert found.crude.overall.tolist() == [0.75]
    assert found.crude.deviations[:, 0].tolist() == pytest.approx([0.25, -0.75])


def test_a_withheld_group_has_no_part_in_the_gap() -> None:
    plain = audited(means([0.4, 0.8]), [0, 1], grouped([0, 1, -1]))
    small = grouped([0, 1, 2], small=frozenset({2}))
    found = audited(means([0.4, 0.8, 0.0]), [0, 1, 2], small)
    one, two = (f.nulls["equality_difference"].value.tolist() for f in (plain, found))
    assert one == two


def test_the_gap_of_the_mean_and_the_mean_of_the_gaps_are_two_things() -> None:
    # each repeat favours another group; on the whole neither is favoured
    made = means([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]])
    found = audited(made, [0, 1], grouped([0, 1]))
    assert found.nulls["equality_difference"].value.tolist() == [0.0]
    assert found.nulls["equality_difference_repeats"].value.tolist() == [0.5]
    assert np.asarray(found.repeats[0]).tolist() == [0.5, 0.5]


def test_the_mean_of_gaps_is_never_below_the_gap_of_the_mean() -> None:
    made = audit_of(5, repeats=3, runs=2)
    for found in audit_means(*parts(made), FEW):
        one, two = (found.nulls[f"equality_difference{end}"] for end in ("", "_repeats"))
        assert (two.value >= one.value - 1e-12).all()
        assert (two.expected >= one.expected - 1e-12).all()


def parts(made):  # type: ignore[no-untyped-def]
    return made.means, made.patient, made.tract, made.strata, made.dimensions


def test_nothing_hangs_on_the_order_of_items() -> None:
    made = audit_of(7, repeats=2)
    order = np.random.default_rng(0).permutation(len(made.patient))
    moved = made.means.rows(order)
    one = audit_means(*parts(made), FEW)
    two = audit_means(
        moved, made.patient[order], made.tract, made.strata[order], made.dimensions, FEW
    )
    for a, b in zip(one, two, strict=True):
        for name, null in a.nulls.items():
            assert null.value == pytest.approx(b.nulls[name].value, abs=1e-12)
            assert null.p.tolist() == b.nulls[name].p.tolist()
        assert a.intervals.low == pytest.approx(b.intervals.low, abs=1e-12)


def test_a_planted_gap_is_found_and_a_trend_with_it() -> None:
    made = audit_of(11, patients=400, effect=Effect("income", 0.3), tracts=60)
    insurance, income = audit_means(*parts(made), FEW)
    assert income.nulls["equality_difference"].p_max[0] <= 0.05
    assert income.nulls["trend"].value[0] > 0 and income.nulls["trend"].p[0] <= 0.05
    assert income.intervals.high[0, 0] < 0  # the lowest quarter lies below all together
    assert insurance.nulls["equality_difference"].p[0] > 0.05
    assert income.units < 61 < insurance.units


def test_p_values_count_the_observed_figure_itself() -> None:
    drawn = np.array([[0.1], [0.2], [0.3]])
    assert p_values(np.array([0.25]), drawn).tolist() == [0.5]
    assert p_values(np.array([0.9]), drawn).tolist() == [0.25]
    assert np.isnan(p_values(np.array([np.nan]), drawn)).all()


def test_adjusted_p_values_are_never_below_their_own_on_one_scale() -> None:
    random = np.random.default_rng(1)
    drawn = [random.normal(size=(400, 3)), random.normal(size=(400, 2)) * 9]
    seen = [np.array([2.5, 0.1, 1.0]), np.array([30.0, np.nan])]
    made = adjusted(seen, drawn)
    for p_max, observed, permuted in zip(made, seen, drawn, strict=True):
        own = p_values(observed, permuted)
        there = ~np.isnan(own)
        assert (p_max[there] >= own[there] - 0.02).all()
    assert np.isnan(made[1][1])


def test_blocks_hold_twenty_units_or_more_and_part_no_equal_values() -> None:
    values = np.random.default_rng(2).poisson(3, 300).astype(float)
    blocks = blocks_of(values)
    assert min(np.bincount(blocks)) >= 20
    for value in np.unique(values):
        assert len(set(blocks[values == value].tolist())) == 1
    assert set(blocks_of(np.arange(30.0)).tolist()) == {0}


def test_variance_net_of_noise_is_that_between_the_true_scores_on_average() -> None:
    random = np.random.default_rng(3)
    truth = np.array([0.6, 0.7, 0.8])
    found = []
    for _ in range(4000):
        seen = truth + random.normal(0, 0.05, 3)
        found.append(between_variance(seen[:, None], np.full((3, 1), 0.05**2))[0])
    assert np.mean(found) == pytest.approx(np.var(truth, ddof=1), rel=0.05)


def test_a_trend_is_the_least_squares_slope_over_answers() -> None:
    over, under = np.array([[2.0], [9.0], [16.0]]), np.array([[10.0], [20.0], [20.0]])
    of = crude(over, under, np.array([0]))
    ranks = np.repeat([0, 1, 3], [10, 20, 20])
    scores = np.repeat([0.2, 0.45, 0.8], [10, 20, 20])
    assert trend(of, np.array([0.0, 1, 3])).tolist() == pytest.approx(
        [np.polyfit(ranks, scores, 1)[0]]
    )


def test_standardised_groups_asked_alike_differ_no_more_than_crude_ones() -> None:
    # group 1 is asked hard questions only; within each stratum all are alike
    scores = [0.9, 0.9, 0.9, 0.3, 0.3, 0.3, 0.3, 0.9]
    strata = [0, 0, 0, 1, 1, 1, 1, 0]
    found = audited(means(scores), list(range(8)), grouped([0, 0, 0, 0, 1, 1, 1, 1]), strata)
    assert found.nulls["equality_difference"].value[0] > 0.1
    assert found.nulls["equality_difference_standardised"].value[0] == pytest.approx(0)
    assert found.standard.covered.min() == pytest.approx(1)


def test_a_stratum_that_a_group_was_not_asked_says_nothing_of_it() -> None:
    found = audited(means([0.5, 0.9, 0.1]), [0, 1, 1], grouped([0, 1]), [0, 0, 1])
    assert found.standard.covered[:, 0].tolist() == pytest.approx([2 / 3, 1])
    # the shared stratum weighs 2 of 3; its groups lie 0.2 to each side
    assert found.standard.deviations[:, 0].tolist() == pytest.approx([-0.4 / 3, 0.4 / 3])


def test_intervals_of_deviations_hold_the_deviations_and_are_wider_for_more_groups() -> None:
    made = audit_of(13, patients=300)
    for found in audit_means(*parts(made), FEW):
        low, high = found.intervals.low, found.intervals.high
        assert (low < found.crude.deviations).all() and (found.crude.deviations < high).all()


def test_repeats_are_averaged_within_items_first() -> None:
    item, repeat = np.array([0, 0, 1]), np.array([0, 1, 0])
    above, below = means_of(item, repeat, np.array([1.0, 0, 1]), np.ones(3), 3)
    assert above[0].tolist() == [0.5, 1.0, 0.0] and below[0].tolist() == [1.0, 1.0, 0.0]
    assert above[2].tolist() == [0.0, 0.0, 0.0] and below[2].tolist() == [1.0, 0.0, 0.0]


def test_a_group_without_answers_has_no_deviation_and_one_group_alone_no_gap() -> None:
    assert equality_difference(np.array([[np.nan], [0.2], [-0.4]])).tolist() == [pytest.approx(0.3)]
    assert np.isnan(equality_difference(np.array([[np.nan], [0.2]]))).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("asked", [[0.0, 0, 0, 0], [0.0, 1, 0, 0]])
def test_a_measure_of_nothing_or_of_one_group_only_has_no_figure(asked: list[float]) -> None:
    sides = ([np.zeros(4)] * 2, [np.array(asked)] * 2)
    found = audited(lay_out([sides], "x", "s"), [0, 1, 2, 3], grouped([0, 0, 1, 1]))
    for null in found.nulls.values():
        assert np.isnan(null.value).all() and np.isnan(null.p).all() and np.isnan(null.p_max).all()


@pytest.mark.full
def test_group_scores_gaps_and_ratios_equal_those_of_fairlearn() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    made = audit_of(17, patients=200, runs=1)
    for found in audit_means(*parts(made), FEW):
        codes = found.dimension.codes[made.patient]
        known = codes >= 0
        frame = fairlearn.MetricFrame(
            metrics=lambda true, seen: float(np.mean(seen)),
            y_true=made.means.over[known, 0],
            y_pred=made.means.over[known, 0],
            sensitive_features=codes[known],
        )
        assert found.crude.overall[0] == pytest.approx(frame.overall)
        assert found.crude.scores[:, 0] == pytest.approx(frame.by_group.to_numpy(np.float64))
        gap = found.nulls["max_min_gap"].value[0]
        assert gap == pytest.approx(frame.difference(method="between_groups"))
        assert found.crude.ratio[0] == pytest.approx(frame.ratio(method="between_groups"))
        away = np.abs(frame.by_group.to_numpy(np.float64) - frame.overall)
        assert np.abs(found.crude.deviations).max() == pytest.approx(
            frame.difference(method="to_overall")
        )
        assert found.nulls["equality_difference"].value[0] == pytest.approx(away.mean())
