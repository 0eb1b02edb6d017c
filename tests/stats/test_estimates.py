"""The rule of intervals by measure, strata and weights, families, and what may be said."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from clinqa.core.figures import PairedTest
from clinqa.stats.comparing import compare, family_tests, mcnemar
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimate, estimates
from clinqa.stats.intervals import exact
from clinqa.stats.measure import Measure, mean, share
from clinqa.stats.verdicts import Told, Verdicts, verdict_of

#: rows (asked, right, severe, severe and right)
ROWS = np.array([[1, n % 3 > 0, n % 30 == 0, n % 30 == 0] for n in range(240)], dtype=float)
PATIENT = [f"p{n // 4:02d}" for n in range(240)]


def test_importing_the_room_loads_no_numpy() -> None:
    code = (
        "import sys, clinqa.stats; print('numpy' in sys.modules, clinqa.stats.estimate([1, 0]).n)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.split() == ["False", "2"]


def test_the_short_form_gives_shares_their_bounds_and_means_none() -> None:
    share_of = estimate([1, 1, 1], ["a", "b", "c"])
    assert (share_of.high, share_of.low) == (1, pytest.approx(0.025 ** (1 / 3)))
    degrees = estimate([36.6, 37.2, 39.9, 38.0])
    assert degrees.value == pytest.approx(37.925) and degrees.high > 38
    assert (degrees.n, degrees.clusters) == (4, 4)
    assert math.isnan(estimate([]).value) and math.isnan(estimate([1, 0], ["a", "a"]).low)


def test_a_figure_of_few_items_counts_those_and_their_patients() -> None:
    (severe,) = estimates([share("severe", 3, 2)], ROWS, Design(PATIENT))
    assert (severe.n, severe.clusters) == (8, 8)
    # all of them right: bounded by the patients that have one, not by all sixty
    assert severe.low == pytest.approx(exact(1.0, 8, 0.95)[0])


def test_a_measure_sees_its_columns_where_it_expects_them() -> None:
    wide = np.zeros((len(ROWS), 9))
    wide[:, [3, 7]] = ROWS[:, :2]
    measure = Measure("x", lambda rows: rows[..., 7] / rows[..., 3], lambda rows: rows[..., 3])
    (one,) = estimates([measure], wide, Design(PATIENT, seed=2))
    (other,) = estimates([mean()], ROWS[:, :2], Design(PATIENT, seed=2))
    assert (one.value, one.n, one.clusters) == (other.value, other.n, other.clusters)
    # the one is known to be a share by its value only, the other by what stands above the line
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=2e-3)


def test_sums_of_clusters_give_what_their_items_give() -> None:
    design = Design(PATIENT, seed=5)
    (one,) = estimates([mean()], ROWS, design)
    (other,) = estimates([mean()], design.sums(ROWS), Design(seed=5))
    assert one == other


def test_strata_are_drawn_apart_and_those_that_share_a_patient_together() -> None:
    random = np.random.default_rng(1)
    stratum = np.repeat([0, 1], 100)
    right = (random.random(200) < np.where(stratum, 0.95, 0.05)).astype(float)
    rows = np.stack([np.ones(200), right], axis=1)
    plain, apart = (
        estimates([mean()], rows, Design(np.arange(200), strata=strata, draws=500))[0]
        for strata in (None, stratum)
    )
    assert plain.value == apart.value
    assert apart.high - apart.low < 0.6 * (plain.high - plain.low)
    # the variance of a stratified sample: that within the strata
    within = np.mean([right[stratum == at].var() for at in (0, 1)])
    assert (apart.high - apart.low) / 3.92 == pytest.approx(math.sqrt(within / 200), rel=0.15)
    shared = Design(np.r_[np.arange(100), np.arange(100)], strata=stratum)
    assert list(shared.blocks()) == [0] and list(Design(strata=stratum).blocks()) == [0, 1]


def test_weights_count_rows_as_often() -> None:
    twice = np.concatenate([ROWS, ROWS[::2]])
    (one,) = estimates([mean()], twice, Design([*PATIENT, *PATIENT[::2]], seed=1))
    (other,) = estimates([mean()], ROWS, Design(PATIENT, weights=[2, 1] * 120, seed=1))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


def test_each_measure_is_compared_over_the_items_that_it_is_of_in_both_runs() -> None:
    a, b = ROWS, ROWS.copy()
    b[:, 1] = 0
    b[60:, 2:] = 0
    every, severe = compare(
        [share("right", 1, 0), share("severe", 3, 2)], a, b, Design(PATIENT), flips=99, both=True
    )
    assert (every.n, every.clusters) == (240, 60) and every.p == 1 / 100
    assert (severe.n, severe.clusters, severe.difference) == (2, 2, 0)
    (gone,) = compare([share("s", 3, 2)], a, b * [1, 1, 0, 0], Design(PATIENT), both=True)
    assert gone.as_test("a", "b", "s", "how") is None


def test_mcnemar_stands_in_only_where_each_item_is_alone() -> None:
    other = ROWS.copy()
    other[:9, 1] = 0
    measure = share("right", 1, 0)
    (alone,) = compare([measure], ROWS, other, Design(np.arange(240)), twofold=["right"])
    (together,) = compare([measure], ROWS, other, Design(PATIENT), twofold=["right"])
    assert alone.test == "McNemar" and alone.p == mcnemar(6, 0)
    assert together.test == "sign-flip"


def a_test(metric: str, p: float, a: str = "a", b: str = "b") -> PairedTest:
    return PairedTest(a, b, metric, 0.1, 0.05, 0.15, p)


def test_only_the_declared_family_is_adjusted_and_it_comes_first() -> None:
    tests = [a_test("f1", 0.5), a_test("bleu", 0.02), a_test("bleu", 0.01, "a", "c")]
    made = family_tests(tests, lambda test: test.metric == "bleu")
    assert [(test.metric, test.p_holm) for test in made] == [
        ("bleu", 0.02), ("bleu", 0.02), ("f1", None)
    ]  # fmt: skip
    assert family_tests([], lambda test: True) == []


def test_not_told_apart_is_said_only_of_tests_that_were_made() -> None:
    made = family_tests([a_test("bleu", 0.2), a_test("f1", 0.001)], lambda t: t.metric == "bleu")
    told = Verdicts(made)
    assert told.of("b", "a", "bleu") is Told.NOT_TOLD_APART
    assert told.of("a", "b", "f1") is Told.NOT_TESTED  # outside the family
    assert not told.better("a", "b", "f1")
    assert verdict_of(made[0], alpha=0.3) is Told.TOLD_APART
    assert told.of("a", "b", "bleu", comparable=False) is Told.NOT_COMPARABLE


@pytest.mark.parametrize("name", ["clusters", "strata"])
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "", "", "b"], "2 of 4 rows have no id"),
        (["a", None, "b", "c"], "1 of 4 rows have no id"),
        ([1.0, math.nan, math.nan, 2.0], "2 of 4 rows have no id"),
        (np.array([1.0, math.nan, 3.0, 2.0]), "1 of 4 rows have no id"),
        (np.array(["a", "b", "", "c"]), "1 of 4 rows have no id"),
        (["1", 1, 2, "b"], "ids of several types"),
        (np.array(["1", 1, 2, "b"], dtype=object), "ids of several types"),
        ([("a", 1), ("b", 2), ("a", 1), ("c", 1)], "ids of several types"),
    ],
)
def test_ids_that_are_missing_or_mixed_are_refused_and_never_one_cluster(
    name: str, ids: object, said: str
) -> None:
    with pytest.raises(ValueError, match=f"{name}: {said}"):
        Design(**{name: ids})


def test_ids_of_one_type_are_what_they_were() -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    told = [estimate(values, ids) for ids in (
        ["a", "a", "b", "b", "c", "c"], [7, 7.0, 8, 8, 9, 9], np.array([1, 1, 2, 2, 3, 3]),
        np.array(["a", "a", "b", "b", "c", "c"], dtype=object),
    )]  # fmt: skip
    assert len(set(told)) == 1 and told[0].clusters == 3


def test_rows_that_are_no_numbers_say_so() -> None:
    rows = [[1.0, 1.0], [1.0, math.nan], [1.0, 0.0], [1.0, 1.0]]
    (found,) = estimates([mean()], rows, Design(["a", "b", "c", "d"]))
    assert math.isnan(found.value) and "NaN" in found.signature
    (found,) = estimates([mean()], [[math.nan, 1.0], [1.0, 1.0]], Design(["a", "b"]))
    assert math.isnan(found.value) and "NaN" in found.signature and found.n == 0
