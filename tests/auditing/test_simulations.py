"""What an audit finds over many made cohorts: long, so run by `make slow`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom

from auditing.made import Made, audit_of
from clinqa.auditing.deviations import AuditDraws, scores_with_intervals
from clinqa.auditing.engine import Found, audit_means
from clinqa.simulate.answerers import Effect

pytestmark = pytest.mark.slow
SIMULATIONS = 400
DROP = 0.15


def audits(count: int = SIMULATIONS, **how: object) -> Iterator[tuple[Made, list[Found]]]:
    for seed in range(count):
        made = audit_of(seed, **how)  # type: ignore[arg-type]
        drawing = AuditDraws(seed, 100, 199)
        yield (
            made,
            audit_means(
                made.means, made.patient, made.tract, made.strata, made.dimensions, drawing
            ),
        )


def rejections(found: Iterator[tuple[Made, list[Found]]]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for _, dimensions in found:
        smallest = min(one.nulls["equality_difference"].p_max[0] for one in dimensions)
        counts["any", "p_max"] += smallest <= 0.05
        for one in dimensions:
            for name, null in one.nulls.items():
                counts[one.dimension.name, name] += null.p[0] <= 0.05
    return counts


def band(level: float = 0.95) -> tuple[int, int]:
    low, high = binom.interval(level, SIMULATIONS, 0.05)
    return int(low), int(high)


def test_a_fair_answerer_is_accused_in_about_five_of_a_hundred_cohorts() -> None:
    counts = rejections(audits())
    low, high = band()
    for dimension in ("insurance", "income"):  # of patients and of tracts
        assert low <= counts[dimension, "equality_difference"] <= high, counts
    # the family together, and every other measure; nine more counts, so a wider band
    low, high = band(0.999)
    for key, count in counts.items():
        assert low <= count <= high, (key, counts)


def test_permuting_patients_would_accuse_a_fair_answerer_over_attributes_of_tracts() -> None:
    careless = 0
    for seed in range(SIMULATIONS):
        made = audit_of(seed, between_tracts=0.15, names=("income",))
        wrong = [replace(one, unit="patient") for one in made.dimensions]
        (found,) = audit_means(
            made.means, made.patient, made.tract, made.strata, wrong, AuditDraws(seed, 100, 199)
        )
        careless += found.nulls["equality_difference"].p[0] <= 0.05
    assert careless > 2 * band()[1]


def test_an_intersection_of_patients_with_tracts_keeps_its_level_too() -> None:
    accused = count = 0
    for seed in range(SIMULATIONS // 2):
        made = audit_of(seed, patients=400, tracts=60, intersect=["insurance", "income"])
        crossed = [one for one in made.dimensions if one.parts]
        for found in audit_means(
            made.means, made.patient, made.tract, made.strata, crossed, AuditDraws(seed, 100, 199)
        ):
            count += 1
            accused += found.nulls["equality_difference"].p[0] <= 0.05
    low, high = binom.interval(0.999, count, 0.05)
    assert count > SIMULATIONS // 4 and low <= accused <= high, (accused, count)


@pytest.mark.parametrize(("on", "power"), [("income", 0.5), ("insurance", 0.7)])
def test_a_planted_gap_is_found_with_the_power_that_the_documentation_reports(
    on: str, power: float
) -> None:
    counts = rejections(audits(effect=Effect(on, DROP)))
    other = "insurance" if on == "income" else "income"
    assert counts[on, "equality_difference"] / SIMULATIONS > power, counts
    assert counts[other, "equality_difference"] <= band(0.999)[1], counts


def test_groups_that_are_asked_harder_questions_differ_by_the_crude_gap_only() -> None:
    counts = rejections(audits(confounded=0.3))
    assert counts["insurance", "equality_difference"] > 0.4 * SIMULATIONS
    low, high = band(0.999)
    assert low <= counts["insurance", "equality_difference_standardised"] <= high


def test_the_gap_of_a_fair_answerer_is_never_nought_and_its_excess_is_on_average() -> None:
    gaps, excess = [], []
    for _, dimensions in audits(200):
        null = dimensions[0].nulls["equality_difference"]
        gaps.append(null.value[0])
        excess.append(null.value[0] - null.expected[0])
    assert min(gaps) > 0 and np.mean(gaps) > 0.015
    assert abs(np.mean(excess)) < 3 * np.std(excess) / np.sqrt(len(excess))


def test_intervals_of_all_deviations_of_a_dimension_cover_together() -> None:
    covered = []
    for _, dimensions in audits(between_tracts=0.0):
        for one in dimensions:
            interval = one.intervals
            covered.append(bool(((interval.low <= 0) & (interval.high >= 0)).all()))
    assert 0.92 <= np.mean(covered) <= 0.98, np.mean(covered)


def test_a_bootstrap_over_rows_is_too_narrow_where_patients_have_many_items() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    how = {"patients": 60, "items": 40, "between_patients": 0.2, "between_tracts": 0.0}

    def members(seed: int) -> tuple[Made, npt.NDArray[np.int64]]:
        made = audit_of(seed, names=("sex",), **how)  # type: ignore[arg-type]
        return made, made.dimensions[0].codes

    truth = float(np.mean([members(seed)[0].means.over.mean() for seed in range(SIMULATIONS)]))
    ours = rows = 0
    for seed in range(SIMULATIONS):
        made, codes = members(1000 + seed)
        summed = made.means.summed(made.patient, len(codes))
        group = np.flatnonzero(codes == 0)
        (estimate,) = scores_with_intervals(summed, group, AuditDraws(seed, 400))
        ours += estimate.low <= truth <= estimate.high
        scores = made.means.over[codes[made.patient] == 0, 0]
        reach = 1.96 * scores.std() / np.sqrt(len(scores))
        rows += abs(scores.mean() - truth) <= reach
    # that reach is the one of Fairlearn's bootstrap over rows
    made, codes = members(1000)
    frame = fairlearn.MetricFrame(
        metrics=lambda true, seen: float(np.mean(seen)),
        y_true=made.means.over[:, 0],
        y_pred=made.means.over[:, 0],
        sensitive_features=codes[made.patient],
        n_boot=100,
        ci_quantiles=[0.025, 0.975],
        random_state=1,
    )
    low, high = (float(by_group[0]) for by_group in frame.by_group_ci)
    scores = made.means.over[codes[made.patient] == 0, 0]
    assert high - low == pytest.approx(2 * 1.96 * scores.std() / np.sqrt(len(scores)), rel=0.25)
    print(f"coverage of 95 %: over patients {ours / SIMULATIONS}, over rows {rows / SIMULATIONS}")
    assert ours / SIMULATIONS > 0.91
    assert rows / SIMULATIONS < 0.75
