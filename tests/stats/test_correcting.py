"""Prediction-powered means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clinqa.stats.correcting import PredictionPowered, corrected, unlike
from clinqa.stats.design import Design


def of_sample(
    people: object, judge: object, groups: object, elsewhere: object, others: object
) -> PredictionPowered:
    said = np.r_[np.asarray(people, dtype=float), np.full(len(elsewhere), np.nan)]  # type: ignore[arg-type]
    judged = np.r_[np.asarray(judge, dtype=float), np.asarray(elsewhere, dtype=float)]
    return corrected(said, judged, Design([*groups, *others]))  # type: ignore[misc]


def drawn(
    random: np.random.Generator, *, hits: float, patients: int = 400, sampled: int = 60
) -> PredictionPowered:
    """Verdicts over patients with 3 items each; the judge sees the truth with chance `hits`."""
    rate = np.repeat(random.beta(8, 2, patients), 3)
    truth = (random.random(len(rate)) < rate).astype(float)
    judge = np.where(random.random(len(rate)) < hits, truth, random.random(len(rate)) < 0.9)
    groups = np.repeat(np.arange(patients), 3).astype(str)
    chosen = np.zeros(len(rate), dtype=bool)
    chosen[random.choice(len(rate), sampled, replace=False)] = True
    return of_sample(truth[chosen], judge[chosen], groups[chosen], judge[~chosen], groups[~chosen])


@pytest.mark.parametrize("hits", [0.0, 0.7, 0.95])
def test_the_interval_covers_the_truth_whatever_the_judge_is_worth(hits: float) -> None:
    random = np.random.default_rng(5)
    found = [drawn(random, hits=hits).corrected for _ in range(500)]
    covered = np.mean([one.low <= 0.8 <= one.high for one in found])
    # of 60 verdicts one or two differ from a good judge's: what they hide is in the interval
    assert 0.92 <= covered <= (1.0 if hits > 0.9 else 0.99)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_hardly_widens_it() -> None:
    random = np.random.default_rng(6)

    def ratio(hits: float) -> float:
        made = [drawn(random, hits=hits) for _ in range(100)]
        widths = [
            (m.corrected.high - m.corrected.low, m.sample_only.high - m.sample_only.low)
            for m in made
        ]
        return float(
            np.mean([ours for ours, _ in widths]) / np.mean([alone for _, alone in widths])
        )

    assert ratio(0.95) < 0.7
    assert ratio(0.0) < 1.02


def test_a_biased_judge_is_corrected() -> None:
    people = np.array([1, 0] * 50, dtype=float)
    judge = np.ones(100)
    found = of_sample(
        people, judge, [f"s{n}" for n in range(100)], np.ones(900), [f"o{n}" for n in range(900)]
    )
    assert found.judge_alone == 1
    assert found.corrected.value == pytest.approx(0.5)
    assert found.weight == 0


def test_the_tuned_weight_is_ppi_plus_plus_own_where_each_item_is_a_cluster() -> None:
    random = np.random.default_rng(8)
    y = random.random(50)
    f, rest = 0.6 * y + 0.4 * random.random(50), random.random(400)
    found = of_sample(y, f, [f"s{n}" for n in range(50)], rest, [f"o{n}" for n in range(400)])
    variances = np.var(f) / 50 + np.var(rest) / 400
    expected = np.cov(y, f, bias=True)[0, 1] / 50 / variances
    assert found.weight == pytest.approx(expected)
    assert found.corrected.value == pytest.approx(y.mean() + expected * (rest.mean() - f.mean()))


def test_a_judge_that_was_never_wrong_is_still_doubted() -> None:
    judge = np.array([1, 1, 1, 0] * 10, dtype=float)
    rest = np.array([1, 1, 1, 0] * 500, dtype=float)
    found = of_sample(
        judge, judge, [f"s{n}" for n in range(40)], rest, [f"o{n}" for n in range(2000)]
    )
    assert found.corrected.high - found.corrected.value >= 1 - 0.025 ** (1 / 40) - 1e-9


def test_without_other_items_the_sample_stands_alone() -> None:
    found = of_sample([1, 0, 1], [1, 1, 1], ["a", "b", "c"], [], [])
    assert found.corrected.value == found.sample_only.value == pytest.approx(2 / 3)
    assert found.corrected.low == found.sample_only.low


def test_one_patient_has_no_interval() -> None:
    found = of_sample([1, 0], [1, 0], ["a", "a"], [1, 1], ["b", "c"])
    assert math.isnan(found.corrected.low) and "one cluster" in found.corrected.signature


def test_no_verdict_of_people_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        of_sample([], [], [], [1], ["a"])


@pytest.mark.parametrize("verdict", [0.0, 1.0])
def test_verdicts_that_are_all_alike_have_width(verdict: float) -> None:
    random = np.random.default_rng(2)
    judge, rest = (random.random(many) < 0.8 for many in (50, 500))
    found = of_sample(np.full(50, verdict), judge, range(50), rest, range(50, 550))
    for one in (found.corrected, found.sample_only):
        assert one.value == verdict
        assert one.high - one.low == pytest.approx(1 - 0.025 ** (1 / 50))


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("hits", [0.0, 0.9, 1.0])
def test_fifty_verdicts_cover(rate: float, hits: float) -> None:
    random = np.random.default_rng(13)
    covered = 0
    for _ in range(400):
        truth = (random.random(1000) < rate).astype(float)
        judge = np.where(random.random(1000) < hits, truth, random.random(1000) < 0.9)
        people = np.where(np.arange(1000) < 50, truth, np.nan)
        one = corrected(people, judge, Design()).corrected
        covered += one.low <= rate <= one.high
    assert covered / 400 >= 0.915


def test_a_sample_of_the_hard_ones_is_mended_by_its_strata_and_by_its_weights() -> None:
    random = np.random.default_rng(5)
    hard = np.arange(2000) % 4 == 0
    truth = (random.random(2000) < np.where(hard, 0.4, 0.95)).astype(float)
    chance = np.where(hard, 0.2, 0.05)
    seen = random.random(2000) < chance
    people, judge = np.where(seen, truth, np.nan), np.ones(2000)
    plain = corrected(people, judge, Design()).corrected
    strata = corrected(people, judge, Design(strata=hard)).corrected
    weighed = corrected(people, judge, Design(weights=1 / chance)).corrected
    assert plain.high < 0.8125
    for mended in (strata, weighed):
        assert mended.low < 0.8125 < mended.high
    names = {"hard": hard.astype(float), "late": np.arange(2000) // 1000.0}
    (found,) = unlike(names, seen, Design())
    assert found.name == "hard" and found.judged > 2 * found.others and found.p < 0.001
    assert unlike(names, seen, Design(strata=hard)) == []


def test_a_fair_sample_is_hardly_ever_called_unlike() -> None:
    random = np.random.default_rng(8)
    called = 0
    for _ in range(300):
        features = {str(n): (random.random(600) < 0.3) * 1.0 for n in range(5)}
        called += bool(unlike(features, random.random(600) < 0.1, Design(np.arange(600) // 3)))
    assert called / 300 <= 0.03


def test_a_stratum_that_nobody_judged_is_refused() -> None:
    with pytest.raises(ValueError, match="every stratum"):
        corrected([1, np.nan], [1, 0], Design(strata=[0, 1]))
    with pytest.raises(ValueError, match="above 0"):
        corrected([1, np.nan], [1, 0], Design(weights=[0, 1]))


def test_a_rare_kind_of_item_that_no_verdict_fell_on_is_nothing_unlike() -> None:
    random = np.random.default_rng(21)
    who = np.repeat(np.arange(55), random.integers(5, 35, 55))
    category = random.integers(0, 21, len(who))
    features = {f"category {one}": (category == one) * 1.0 for one in range(21)}
    called = 0
    for _ in range(150):
        seen = np.zeros(len(who), np.bool_)
        seen[random.choice(len(who), 50, replace=False)] = True
        called += bool(unlike(features, seen, Design(who)))
    assert called / 150 <= 0.05


def test_verdicts_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        corrected([2, np.nan, 0], [1, 0, 1], Design())
    with pytest.raises(ValueError, match="in numbers"):
        corrected([1, np.nan, 0], [1, np.nan, 1], Design())
