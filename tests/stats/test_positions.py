"""Does the test of positions see what is there, and nothing else?"""

from __future__ import annotations

import numpy as np
import pytest

from clinqa.stats.positions import position_test


def _asked(items: int, orders: int, options: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), orders)
    places = random.permuted(np.tile(np.arange(options), (len(item), 1)), axis=1)
    return item, places


def test_a_reader_of_content_is_not_called_biased_more_often_than_chance() -> None:
    p = []
    for seed in range(120):
        item, places = _asked(30, 3, 4, seed)
        random = np.random.default_rng(seed + 1000)
        picked = random.integers(0, 4, 30)[item]  # the same option in each order
        gold = random.integers(0, 4, 30)[item]
        p.append(position_test(item, places, picked, gold, seed=seed, redraws=99).p)
    shares = [np.mean(np.array(p) <= level) for level in (0.05, 0.2, 0.5)]
    assert shares[0] <= 0.1 and shares[1] <= 0.3 and 0.38 <= shares[2] <= 0.62


def test_changing_its_mind_by_chance_is_no_bias_either() -> None:
    p = []
    for seed in range(120):
        item, places = _asked(30, 3, 4, seed)
        picked = np.random.default_rng(seed + 1000).integers(0, 4, len(item))
        p.append(position_test(item, places, picked, picked * 0, seed=seed, redraws=99).p)
    assert np.mean(np.array(p) <= 0.05) <= 0.1


def test_a_leaning_to_one_place_is_found() -> None:
    found = 0
    for seed in range(40):
        item, places = _asked(60, 4, 5, seed)
        random = np.random.default_rng(seed)
        content = random.integers(0, 5, 60)[item]
        leaning = np.argmin(places, axis=1)  # what stands first
        picked = np.where(random.random(len(item)) < 0.3, leaning, content)
        found += position_test(item, places, picked, content, seed=1, redraws=199).p <= 0.05
    assert found >= 38


def test_a_cyclic_design_with_one_content_has_nothing_to_test() -> None:
    item = np.repeat(np.arange(10), 4)
    places = np.stack([np.roll(np.arange(4), turn) for _ in range(10) for turn in range(4)])
    picked = np.repeat(np.arange(10) % 4, 4)
    test = position_test(item, places, picked, picked, seed=0, redraws=50)
    assert (test.picks, test.chi2, test.p, test.spread, test.spread_p) == ((10,) * 4, 0, 1, 0, 1)


def test_unanswered_prompts_count_for_no_place_and_lower_recall() -> None:
    item, places = _asked(40, 2, 3, 5)
    picked = np.where(np.argmin(places, axis=1) == 0, 0, -1)  # answers only if 0 stands first
    test = position_test(item, places, picked, np.zeros(80, np.int64), seed=0, redraws=199)
    assert sum(test.picks) == test.picks[0] == int((picked == 0).sum())
    assert test.p < 0.05 and test.spread > 0.4 and test.spread_p < 0.05
    nobody = position_test(item, places, np.full(80, -1), picked * 0, seed=0, redraws=19)
    assert nobody.p == 1 and nobody.chi2 == 0


def test_rows_that_do_not_belong_together_are_refused() -> None:
    item, places = _asked(3, 2, 3, 0)
    with pytest.raises(ValueError, match="a row a prompt"):
        position_test(item[:2], places, item, item, seed=0)
