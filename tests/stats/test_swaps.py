"""Gaps of two runs compared: swapped by unit, and beside what chance alone gives."""

from __future__ import annotations

import numpy as np
import pytest

from clinqa.stats.swaps import UnitSums, gap_differences, pairs_of

GROUPS = 4


def made(
    seed: int, right: list[float], less: list[float], patients: int = 240, draws: int = 99
) -> UnitSums:
    """Runs over the same patients; `less` often right about the first of four groups."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, GROUPS, patients)
    asked = random.poisson(10, patients) + 1.0
    ill = random.normal(0, 0.1, patients)
    over = np.stack(
        [
            random.binomial(
                asked.astype(int), np.clip(a + ill * min(a, 1 - a) - e * (codes == 0), 0, 1)
            )
            for a, e in zip(right, less, strict=True)
        ],
        axis=1,
    ).astype(float)
    under = np.repeat(asked[:, None], len(right), axis=1)
    permuted = np.stack([_gap(random.permutation(codes), over, under) for _ in range(draws)])
    return UnitSums("patient", codes, over, under, permuted)


def _gap(codes: np.ndarray, over: np.ndarray, under: np.ndarray) -> np.ndarray:
    level = over.sum(axis=0) / under.sum(axis=0)
    scores = [over[codes == g].sum(axis=0) / under[codes == g].sum(axis=0) for g in range(GROUPS)]
    return np.abs(np.stack(scores) - level).mean(axis=0)


def test_a_run_that_is_worse_about_one_group_is_told_from_two_that_are_not() -> None:
    one = made(1, [0.7, 0.7, 0.7], [0.3, 0.0, 0.0])
    (found,) = gap_differences([one], draws=199, seed=0)
    assert pairs_of(3) == [(0, 1), (0, 2), (1, 2)]
    assert found.value[0] > 0.05 and found.p_max[0] < 0.05 and found.p_max[1] < 0.05
    assert found.p[2] > 0.05
    assert (found.p_max >= found.p).all()


def test_the_difference_is_that_of_the_gaps_less_what_chance_gives_each() -> None:
    one = made(2, [0.7, 0.5], [0.2, 0.0])
    (found,) = gap_differences([one], draws=99, seed=0)
    gaps = _gap(one.codes, one.over, one.under) - one.permuted.mean(axis=0)
    assert found.value[0] == pytest.approx(gaps[0] - gaps[1], abs=1e-12)


def test_a_run_and_its_copy_are_not_told_apart_and_order_turns_the_sign() -> None:
    one = made(3, [0.7, 0.6], [0.2, 0.0])
    twice = UnitSums("patient", one.codes, one.over[:, [0, 0, 1]], one.under[:, [0, 0, 1]],
                     one.permuted[:, [0, 0, 1]])  # fmt: skip
    (found,) = gap_differences([twice], draws=99, seed=0)
    assert found.value[0] == 0 and found.p[0] == 1
    turned = UnitSums("patient", one.codes, one.over[:, ::-1], one.under[:, ::-1],
                      one.permuted[:, ::-1])  # fmt: skip
    (back,) = gap_differences([turned], draws=99, seed=0)
    assert back.value[0] == pytest.approx(-found.value[1]) and back.p[0] == found.p[1]


def test_patients_that_do_not_enter_have_no_part() -> None:
    one = made(4, [0.7, 0.6], [0.1, 0.0])
    more = UnitSums(
        "patient", np.append(one.codes, [-1, -1]), np.vstack([one.over, [[5, 0], [0, 9]]]),
        np.vstack([one.under, [[9, 9], [9, 9]]]), one.permuted,
    )  # fmt: skip
    (plain,), (wider,) = (gap_differences([x], draws=99, seed=0) for x in (one, more))
    assert plain.value[0] == pytest.approx(wider.value[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "less"),
    [
        ([0.7, 0.7], [0.0, 0.0]),
        ([0.5, 0.93], [0.0, 0.0]),  # noise of two sizes
        ([0.7, 0.7], [0.12, 0.12]),
        ([0.6, 0.85], [0.12, 0.12]),
    ],
)
def test_runs_of_equal_fairness_are_told_apart_in_no_more_than_5_of_100_samples(
    right: list[float], less: list[float]
) -> None:
    told = [
        gap_differences([made(seed, right, less)], draws=99, seed=seed)[0].p[0] <= 0.05
        for seed in range(400)
    ]
    assert sum(told) <= 32  # the upper 99 % bound of 400 at 5 %
