"""Prediction-powered means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from clinqa.stats.design import Design
from clinqa.stats.estimates import PredictionPowered, corrected


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
    assert 0.92 <= np.mean([one.low <= 0.8 <= one.high for one in found]) <= 0.99


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
    assert "exact bound" in found.corrected.signature
    assert found.corrected.high - found.corrected.value >= 1 - 0.025 ** (1 / 40) - 1e-9


def test_without_other_items_the_sample_stands_alone() -> None:
    found = of_sample([1, 0, 1], [1, 1, 1], ["a", "b", "c"], [], [])
    assert found.corrected.value == found.sample_only.value == pytest.approx(2 / 3)
    assert found.corrected.low == found.sample_only.low


def test_one_patient_has_no_interval() -> None:
    found = of_sample([1, 0], [1, 0], ["a", "a"], [1, 1], ["b", "c"])
    assert math.isnan(found.corrected.low) and "one sampled cluster" in found.corrected.signature


def test_no_verdict_of_people_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        of_sample([], [], [], [1], ["a"])


def test_a_sample_that_is_no_simple_one_is_refused() -> None:
    for design in (Design(strata=[0, 1]), Design(weights=[1, 2])):
        with pytest.raises(ValueError, match="simple random sample"):
            corrected([1, np.nan], [1, 0], design)
