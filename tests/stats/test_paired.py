"""Paired tests between two runs over the same items."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.stats import comparing
from clinqa.stats.comparing import Difference
from clinqa.stats.design import Design
from clinqa.stats.measure import Measure, mean

pairs = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.integers(0, 4), st.integers(0, 4)),
    min_size=2,
    max_size=25,
)


def compare(
    a: object, b: object, groups: object, measure: Measure | None = None, **how: int
) -> list[Difference]:
    """The difference of two means of rows (1, x), or of another measure."""
    flips = how.pop("flips", 9999)
    design = Design(groups, **how)  # type: ignore[arg-type]
    return comparing.compare([measure or mean()], a, b, design, flips=flips)  # type: ignore[arg-type]


def rows_of(values: list[float]) -> list[list[float]]:
    return [[1.0, value] for value in values]


@settings(deadline=None)
@given(pairs)
def test_few_clusters_give_the_exact_p_of_all_sign_flips(made: list[tuple[str, int, int]]) -> None:
    groups, a, b = (list(column) for column in zip(*made, strict=True))
    sums = dict.fromkeys(groups, 0)
    for g, one, other in made:
        sums[g] += one - other
    flips = [
        abs(sum(s * d for s, d in zip(signs, sums.values(), strict=True)))
        for signs in product((1, -1), repeat=len(sums))
    ]
    expected = np.mean([flip >= abs(sum(sums.values())) for flip in flips])
    (found,) = compare(rows_of(a), rows_of(b), groups, seed=1)
    assert found.p == pytest.approx(expected)
    assert found.difference == pytest.approx(np.mean(a) - np.mean(b))
    assert "all" in found.signature


@settings(deadline=None, max_examples=50)
@given(pairs, st.randoms(use_true_random=False))
def test_order_and_direction_have_no_part_in_it(
    made: list[tuple[str, int, int]], shuffler: object
) -> None:
    mixed = list(made)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    groups, a, b = (list(column) for column in zip(*made, strict=True))
    (one,) = compare(rows_of(a), rows_of(b), groups, seed=1)
    groups, a, b = (list(column) for column in zip(*mixed, strict=True))
    assert repr(compare(rows_of(a), rows_of(b), groups, seed=1)) == repr([one])
    (turned,) = compare(rows_of(b), rows_of(a), groups, seed=1)
    assert turned.p == one.p and turned.difference == -one.difference


def test_random_flips_agree_with_scipys_permutation_test() -> None:
    random = np.random.default_rng(5)
    a = random.random(40)
    b = a + random.normal(0.03, 0.1, 40)
    (ours,) = compare(rows_of(a.tolist()), rows_of(b.tolist()), [f"{n}" for n in range(40)], seed=2)
    theirs = scipy.stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=random,
    )
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.015)
    assert ours.low < ours.difference < ours.high


def test_equal_runs_are_rejected_about_as_often_as_the_level_says() -> None:
    random = np.random.default_rng(11)
    rejected = 0
    for trial in range(300):
        patient = np.repeat(random.normal(0, 1, 30), 4)
        a, b = (patient + np.repeat(random.normal(0, 1, 30), 4) for _ in range(2))
        (found,) = compare(
            rows_of(a.tolist()),
            rows_of(b.tolist()),
            np.repeat(np.arange(30), 4),
            seed=trial,
            flips=199,
        )
        rejected += found.p <= 0.05
    assert 0.02 <= rejected / 300 <= 0.09


def test_a_real_difference_is_found_and_random_p_is_never_zero() -> None:
    a, b = rows_of([0.9, 0.8, 0.7] * 20), rows_of([0.5, 0.4, 0.6] * 20)
    (found,) = compare(a, b, [f"{n}" for n in range(60)], seed=1, flips=999)
    assert found.p == 1 / 1000
    assert found.low > 0


def test_equal_runs_differ_by_nothing_and_three_patients_prove_little() -> None:
    same = rows_of([0.1, 0.7, 0.2])
    (found,) = compare(same, same, list("abc"), seed=1)
    assert (found.difference, found.p) == (0, 1) and found.low == -found.high < -0.5


def test_a_figure_that_is_no_mean_changes_sides_by_its_counts() -> None:
    def ratio(totals: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        return np.sqrt(totals[:, 1] / totals[:, 0])

    a, b = [[1, 1], [3, 2], [2, 2]], [[1, 0], [3, 1], [2, 1]]
    (found,) = compare(
        a, b, list("xyz"), Measure("root", ratio, lambda totals: totals[:, 0]), seed=1
    )
    every = []
    for sides in product((0, 1), repeat=3):
        one = [(b if s else a)[n] for n, s in enumerate(sides)]
        other = [(a if s else b)[n] for n, s in enumerate(sides)]
        every.append(ratio(np.sum(one, 0)[None]) - ratio(np.sum(other, 0)[None]))
    expected = np.mean([abs(v) >= abs(every[0]) - 1e-12 for v in every])
    assert found.p == pytest.approx(expected)
    assert found.difference == pytest.approx(float(every[0][0]))


def test_different_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        compare(rows_of([1]), rows_of([1, 2]), ["a"], seed=1)
