"""Gain by tuning against the base, and agreement of the tuned, beside plain numpy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from clinqa.core.arrays import Floats
from clinqa.stats.design import Design
from clinqa.stats.gains import FEWEST_MODELS, alike, related
from clinqa.stats.measure import share

ACCURACY = share("accuracy", 1, 0)
Panel = tuple[list[Floats], list[Floats], list[int]]


def panel(
    models: int, clusters: int, seed: int, *, skill: float = 0.05, gain: float = 0.02,
    slope: float = 0.0,
) -> Panel:  # fmt: skip
    """Rows (1, right) of bases and of what was tuned from them, two items a cluster. The tuned
    share the luck of their base on six of ten items."""
    draw = np.random.default_rng(seed)
    base = 0.6 + skill * draw.standard_normal(models)
    more = 0.08 + gain * draw.standard_normal(models) + slope * (base - 0.6)
    hard = 0.15 * np.repeat(draw.standard_normal(clusters), 2)
    before, after = [], []
    for p, g in zip(base, more, strict=True):
        luck = draw.random(2 * clusters)
        other = np.where(draw.random(2 * clusters) < 0.6, luck, draw.random(2 * clusters))
        for rows, chance, drawn in ((before, p, luck), (after, p + g, other)):
            right = drawn < np.clip(chance + hard, 0.02, 0.98)
            rows.append(np.stack([np.ones(2 * clusters), right], axis=1).astype(np.float64))
    return before, after, np.repeat(np.arange(clusters), 2).tolist()


def test_the_correlation_is_that_of_numpy_over_the_same_halvings() -> None:
    before, after, clusters = panel(6, 40, 3)
    found = related(ACCURACY, ACCURACY, before, after, Design(clusters, seed=5))
    assert found is not None
    right = [np.stack([rows[:, 1].reshape(-1, 2).sum(axis=1) for rows in own])
             for own in (before, after)]  # fmt: skip
    order = np.argsort(np.random.default_rng([5, 40]).random((100, 40)), axis=1)
    told = []
    for one in order:
        halves = one[:20], one[20:]
        for a, b in (halves, halves[::-1]):
            skill = right[0][:, a].sum(axis=1) / 40
            gain = (right[1][:, b] - right[0][:, b]).sum(axis=1) / 40
            told.append(np.corrcoef(skill, gain)[0, 1])
    assert found.value == pytest.approx(np.mean(told), abs=1e-12)
    assert (found.models, found.n, found.clusters) == (6, 80, 40)


def test_of_too_few_models_nothing_is_told() -> None:
    before, after, clusters = panel(FEWEST_MODELS - 1, 40, 3)
    assert related(ACCURACY, ACCURACY, before, after, Design(clusters)) is None


def test_models_that_do_not_differ_have_no_correlation() -> None:
    before, after, clusters = panel(1, 40, 3)
    found = related(ACCURACY, ACCURACY, before * 5, after * 5, Design(clusters))
    assert found is not None and np.isnan([found.value, found.low, found.high, found.p]).all()


def test_one_seed_gives_one_result_whatever_the_order_of_items() -> None:
    before, after, clusters = panel(8, 30, 3)
    one = related(ACCURACY, ACCURACY, before, after, Design(clusters, seed=2))
    order = np.random.default_rng(1).permutation(60)
    mixed = [[rows[order] for rows in own] for own in (before, after)]
    other = related(ACCURACY, ACCURACY, *mixed, Design(np.array(clusters)[order], seed=2))
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize(("skill", "gain"), [(0.0, 0.0), (0.05, 0.02), (0.02, 0.05)])
def test_without_an_effect_the_test_finds_one_in_twenty_and_the_plain_correlation_many(
    skill: float, gain: float
) -> None:
    found, plain = [], []
    for seed in range(400):
        before, after, clusters = panel(6, 100, seed, skill=skill, gain=gain)
        one = related(ACCURACY, ACCURACY, before, after, Design(clusters, seed=seed))
        assert one is not None
        found.append(one)
        base, tuned = (np.array([rows[:, 1].mean() for rows in own]) for own in (before, after))
        plain.append(np.corrcoef(base, tuned - base)[0, 1])
    sizes = np.mean([one.p <= 0.05 for one in found])
    assert sizes <= 0.05 + 2.6 * (0.05 * 0.95 / 400) ** 0.5
    assert abs(np.mean([one.value for one in found])) < 0.1 < 0.2 < -np.mean(plain)
    assert all((one.p <= 0.05) == (not one.low <= 0 <= one.high) for one in found)


@pytest.mark.slow
def test_where_weak_bases_gain_more_it_is_mostly_found() -> None:
    found = [related(ACCURACY, ACCURACY, *panel(8, 300, seed, skill=0.08, slope=-0.8)[:2],
                     Design(np.repeat(np.arange(300), 2).tolist(), seed=seed))
             for seed in range(60)]  # fmt: skip
    assert np.mean([one is not None and one.p <= 0.05 and one.value < 0 for one in found]) > 0.7


def kappa(a: Floats, b: Floats) -> float:
    classes = np.union1d(a, b)
    chance = sum((a == one).mean() * (b == one).mean() for one in classes)
    return float(((a == b).mean() - chance) / (1 - chance))


def answers(judges: int, clusters: int, seed: int, common: Floats) -> Floats:
    """Codes 0 and 1; judge i follows a hidden answer (`common`) on some of the items."""
    draw = np.random.default_rng(seed)
    hidden = draw.integers(0, 2, (2, 2 * clusters))
    return np.stack([
        np.where(draw.random(2 * clusters) < 0.5, hidden[int(common[at])],
                 draw.integers(0, 2, 2 * clusters))
        for at in range(judges)
    ]).astype(np.int8)  # fmt: skip


def test_the_difference_of_mean_kappas_is_that_of_numpy() -> None:
    codes = answers(6, 60, 1, np.array([0, 0, 0, 1, 1, 1]))
    pairs, others = [(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 4), (2, 5)]
    clusters = np.repeat(np.arange(60), 2)
    found = alike(codes, pairs, others, Design(clusters.tolist(), seed=1))

    def difference(chosen: Floats) -> float:
        one, other = (np.mean([kappa(codes[a][chosen], codes[b][chosen]) for a, b in own])
                      for own in (pairs, others))  # fmt: skip
        return float(one - other)

    assert found.value == pytest.approx(difference(clusters >= 0), abs=1e-12)
    left = np.array([difference(clusters != at) for at in range(60)])
    error = np.sqrt(59 / 60 * ((left - left.mean()) ** 2).sum())
    from scipy.stats import t

    assert found.p == pytest.approx(2 * t.sf(abs(found.value) / error, 59))
    assert found.low < found.value < found.high and found.p < 0.05
    assert (found.pairs, found.others, found.n, found.clusters) == (3, 3, 120, 60)


def test_pairs_without_a_kappa_are_left_out() -> None:
    codes = np.array([[1] * 8, [1] * 8, [1, 0] * 4, [1, 0, 0, 1] * 2], np.int8)
    found = alike(codes, [(0, 1), (2, 3)], [(0, 2), (1, 3)], Design(list(range(8))))
    assert found.value == pytest.approx(kappa(codes[2], codes[3]) - 0.0)


@pytest.mark.slow
def test_where_all_agree_alike_the_difference_is_found_one_time_in_twenty() -> None:
    pairs = list(combinations(range(4), 2))
    p = [alike(answers(8, 60, seed, np.zeros(8)), pairs, [(a, a + 4) for a in range(4)],
               Design(np.repeat(np.arange(60), 2).tolist(), seed=seed, draws=200)).p
         for seed in range(400)]  # fmt: skip
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 2.6 * (0.05 * 0.95 / 400) ** 0.5
