"""From arrays to records: figures of groups and deviations, gaps beside their nulls.

The least size of a group counts patients that a metric is over, not patients of the split.

An error that only some questions can run into, or a run that was asked few of them, leaves a large
group with one patient behind its figure. Such a group is withheld in that metric, and no part of
its gaps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clinqa.auditing.answers import Means
from clinqa.auditing.cohort import TRACT
from clinqa.auditing.deviations import AuditDraws, scores_with_intervals
from clinqa.auditing.dimensions import MISSING, Dimension
from clinqa.auditing.engine import STANDARD, Found
from clinqa.auditing.records import GAP, Gap
from clinqa.core.arrays import Ints
from clinqa.core.figures import Figure, GapPair, known
from clinqa.core.predictions import FinishedRun
from clinqa.core.visible import visible
from clinqa.stats.estimates import Estimate
from clinqa.stats.swaps import pairs_of

__all__ = [
    "entering",
    "figures_of",
    "gap_pairs_of",
    "gaps_of",
    "overall_figures",
]


def entering(
    dimensions: Sequence[Dimension], of_patients: Means, least: int, who: str
) -> tuple[list[Dimension], list[str]]:
    """The dimensions of one metric with the groups of few such patients marked as small, and what
    to say of them. Rows of `of_patients` are patients.

    Runs are compared on the same groups: one run with few of them withholds the group. A run
    that no patient was asked has no figure, and holds back none.
    """
    means = of_patients.of_runs()
    asked = means.under[:, means.under_of] > 0
    asked = asked[:, asked.any(axis=0)]
    made: list[Dimension] = []
    told: list[str] = []
    for one in dimensions:
        name = f"{means.metric}, {visible(one.name)}"
        few = frozenset(
            code
            for code in range(len(one.groups))
            if code not in one.small
            and (not asked.size or asked[one.codes == code].sum(axis=0).min() < least)
        )
        left = len(one.groups) - len(one.small) - len(few)
        if left < 2:
            told.append(
                f"{name}: fewer than two groups have {least} {who} with answers that the metric is "
                "over: no figure"
            )
            continue
        if few:
            told.append(
                f"{name}: {len(few)} of {len(one.groups)} groups have fewer than {least} {who} "
                "with answers that the metric is over: withheld there, and not in the gap"
            )
        made.append(replace(one, small=one.small | few))
    return made, told


_WORDS = {
    "equality_difference": "mean absolute deviation of group scores from the score of all known "
    "groups; answers of repeats averaged first",
    "equality_difference_repeats": "mean over repeats of each repeat's mean absolute deviation",
    "max_min_gap": "highest group score less the lowest; answers of repeats averaged first",
    "equality_difference_standardised": "mean absolute deviation, directly standardised",
    "trend": "change of the score from one quarter to the next, least squares weighted by answers",
    "ratio": "lowest group score over the highest",
    "between_group_sd": "standard deviation between groups net of sampling noise (0 where noise "
    "explains it all)",
}


def overall_figures(
    means: Means, runs: Sequence[FinishedRun], drawing: AuditDraws
) -> Iterator[Figure]:
    """The score of each run over everybody, known or missing. Rows of `means` are patients."""
    every = np.arange(len(means.over))
    yield from _scores(means, runs, every, drawing, {}, 0)


def figures_of(
    found: Found, means: Means, runs: Sequence[FinishedRun], drawing: AuditDraws, least: int
) -> Iterator[Figure]:
    """The score of each group, and the missing; and the deviations of the groups compared.

    A group of fewer than `least` patients with answers that the metric is over is withheld: no
    value, no counts.
    """
    dimension = found.dimension
    for code, name in [*enumerate(dimension.groups), (-1, MISSING)]:
        rows = np.flatnonzero(dimension.codes == code)
        subset = {"dimension": dimension.name, "group": name}
        if not len(rows):
            continue
        if len(rows) < least or code in dimension.small:
            for run in runs:
                yield _withheld(means, run, subset, f"{least} {drawing.who}")
            continue
        yield from _scores(means, runs, rows, drawing, subset, least)
        if code >= 0:
            yield from _deviations(found, means, runs, code, rows, subset)
    yield from _worst(found, means, runs)


def _scores(
    means: Means,
    runs: Sequence[FinishedRun],
    rows: Ints,
    drawing: AuditDraws,
    subset: dict[str, str],
    least: int,
) -> Iterator[Figure]:
    """The score of each run over these patients, as far as it was asked about them; withheld where
    that is fewer than `least` of them."""
    below = means.under[rows][:, means.under_of]
    made: dict[bytes, list[Estimate]] = {}
    for at, run in enumerate(runs):
        own = rows[below[:, at] > 0]
        if 0 < len(own) < least:
            yield _withheld(means, run, subset, f"{least} {drawing.who}")
            continue
        if own.tobytes() not in made:
            made[own.tobytes()] = scores_with_intervals(means, own, drawing)
        yield made[own.tobytes()][at].figure(
            means.metric, means.signature, run=run.id, model=run.model, shots=run.shots,
            subset=subset,
        )  # fmt: skip


def _withheld(means: Means, run: FinishedRun, subset: dict[str, str], least: str) -> Figure:
    how = f"{means.signature}|withheld: fewer than {least}"
    return Figure(run.id, run.model, run.shots, means.metric, None, None, None, 0, 0, how, subset)


def _deviations(
    found: Found,
    means: Means,
    runs: Sequence[FinishedRun],
    code: int,
    rows: Ints,
    subset: dict[str, str],
) -> Iterator[Figure]:
    below = means.under[rows][:, means.under_of]
    for at, run in enumerate(runs):
        yield Figure(
            run.id,
            run.model,
            run.shots,
            f"{means.metric}_deviation",
            known(found.crude.deviations[code, at]),
            known(found.intervals.low[code, at]),
            known(found.intervals.high[code, at]),
            round(float(found.n[code, at])),
            int((below[:, at] > 0).sum()),
            f"deviation|from the score of all known groups|{found.intervals.signature}"
            f"|of {means.signature}",
            subset,
        )


def gaps_of(
    found: Found, means: Means, runs: Sequence[FinishedRun], drawing: AuditDraws, family: str
) -> Iterator[Gap]:
    """Every measure of every run over one dimension."""
    dimension, crude = found.dimension, found.crude
    for at, run in enumerate(runs):
        about: dict[str, Any] = {
            "run": run.id,
            "model": run.model,
            "shots": run.shots,
            "dimension": dimension.name,
            "metric": means.metric,
            "n": round(float(found.n[:, at].sum())),
            "clusters": int((dimension.entering() >= 0).sum()),
            "groups": len(dimension.groups) - len(dimension.small),
            "units": found.units,
        }
        for measure, null in found.nulls.items():
            interval = found.intervals
            trended = measure == "trend"
            repeats = [known(gap) for gap in found.repeats[at]]
            there = [gap for gap in repeats if gap is not None]
            repeated = measure == "equality_difference_repeats"
            spread = len(there) == len(repeats) > 1
            value, expected = known(null.value[at]), known(null.expected[at])
            yield Gap(
                **about,
                measure=measure,
                value=value,
                signature=_signature(measure, dimension, means, drawing, family),
                expected=expected,
                excess=None if value is None or expected is None else value - expected,
                null_low=known(null.low[at]),
                null_high=known(null.high[at]),
                p=known(null.p[at]),
                p_max=known(null.p_max[at]),
                low=known(interval.slope_low[at]) if trended else None,
                high=known(interval.slope_high[at]) if trended else None,
                repeats=repeats if repeated else (),
                sd=float(np.std(there, ddof=1)) if repeated and spread else None,
            )
        variance = known(found.between[at])
        others = {
            "ratio": known(crude.ratio[at]),
            "between_group_sd": None if variance is None else math.sqrt(max(variance, 0.0)),
        }
        for measure, value in others.items():
            yield Gap(
                **about,
                measure=measure,
                value=value,
                signature=f"{GAP}{measure}|{_WORDS[measure]}|of {means.signature}",
            )


def gap_pairs_of(
    found: Found, means: Means, runs: Sequence[FinishedRun], drawing: AuditDraws, dimensions: int
) -> Iterator[GapPair]:
    """How far the gaps of every two runs lie apart over one dimension; nothing of one run alone."""
    if found.pairs is None:
        return
    pairs = pairs_of(len(runs))
    units = "tracts" if found.dimension.unit == TRACT else drawing.who
    how = (
        f"{GAP}difference of two runs' equality_difference, each less what chance gives|runs "
        f"swapped by {units}, and attribute permuted, {drawing.permutations} draws of each: the "
        f"larger p, two-sided, max-T over {dimensions} dimensions × {len(pairs)} pairs of runs"
        f"|of {means.signature}"
    )
    for at, (one, other) in enumerate(pairs):
        yield GapPair(
            runs[one].id, runs[other].id, found.dimension.name, means.metric,
            known(found.pairs.value[at]), known(found.pairs.p[at]), known(found.pairs.p_max[at]),
            how,
        )  # fmt: skip


def _worst(found: Found, means: Means, runs: Sequence[FinishedRun]) -> Iterator[Figure]:
    """The score of the group that fares worst, by name. It is the worst of several: its own
    interval would say it is worse than it is, so it has none here."""
    dimension, scores = found.dimension, found.crude.scores
    compared = len(dimension.groups) - len(dimension.small)
    for at, run in enumerate(runs):
        if np.isnan(scores[:, at]).all():
            continue
        code = int(np.nanargmax(scores[:, at]) if means.lower else np.nanargmin(scores[:, at]))
        rows = np.flatnonzero(dimension.codes == code)
        below = means.under[rows][:, means.under_of[at]]
        yield Figure(
            run.id, run.model, run.shots, f"{means.metric}_worst_group",
            known(scores[code, at]), None, None, round(float(found.n[code, at])),
            int((below > 0).sum()), f"worst group|the worst of {compared} groups"
            f"{' (highest)' if means.lower else ' (lowest)'}|of {means.signature}",
            {"dimension": dimension.name, "group": dimension.groups[code]},
        )  # fmt: skip


def _signature(
    measure: str, dimension: Dimension, means: Means, drawing: AuditDraws, family: str
) -> str:
    units = "tracts" if dimension.unit == TRACT else drawing.who
    if dimension.parts and len({part.unit for part in dimension.parts}) > 1:
        units = "patients and tracts, each attribute at its own"
    within = "blocks of like item counts"
    if measure.endswith("standardised"):
        within += " and like expected scores"
    words = _WORDS[measure]
    if measure in STANDARD:
        words += f" over {drawing.strata}"
    sides = ", two-sided" if measure == "trend" else ""
    return (
        f"{GAP}{measure}|{words}|null: attribute permuted among {units} within {within}, "
        f"{drawing.permutations} permutations, p = (b+1)/(B+1){sides}, max-T over {family}"
        f"|of {means.signature}"
    )
