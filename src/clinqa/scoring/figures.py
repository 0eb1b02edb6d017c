"""Figures of a run with their intervals: every metric, over all items and over each subset.

Patients are drawn again, not items: what is said of one patient stands or falls together. Nothing
is computed again from texts: the figure of a drawn sample is a function of its summed statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.core.figures import Figure
from clinqa.scoring.inputs import Items
from clinqa.scoring.measures import Measure, clinical_measures, status_measures, text_measures
from clinqa.scoring.scored import COLUMNS, ScoredRun
from clinqa.scoring.subsets import Subset
from clinqa.stats.bootstrap import FEW, RULE, SHARE, SIGNED, Statistic, bootstrap_sums
from clinqa.stats.cluster import Estimate

__all__ = ["LEVEL", "METHOD", "Drawing", "figures_of", "overall_measures", "statistic_of"]

Floats = npt.NDArray[np.float64]
LEVEL = 0.95
METHOD = RULE.replace("clusters", "patients")
_LOOKS = 200  # samples drawn to see whether anything varies
_EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Drawing:
    """How samples are drawn."""

    seed: int = 0
    draws: int = 1000


def overall_measures(scored: ScoredRun, items: Items, pack: str, subset: Subset) -> list[Measure]:
    """What is said of all items of a run."""
    return _measures(scored, scored.total(), items, pack, subset)


def figures_of(
    scored: ScoredRun, items: Items, subsets: Sequence[Subset], drawing: Drawing, pack: str
) -> Iterator[Figure]:
    """Every figure of a run. One that does not exist (nothing at risk, say) has no value."""
    run = scored.run
    for subset in subsets:
        sums = _cluster_sums(scored, items, subset.mask)
        if not len(sums):
            continue
        total = sums.sum(axis=0)
        measures = _measures(scored, total, items, pack, subset)
        for measure, estimate in zip(measures, _estimates(measures, sums, drawing), strict=True):
            yield Figure(
                run=run.id,
                model=run.model,
                shots=run.shots,
                metric=measure.name,
                value=_number(estimate.value),
                low=_number(estimate.low),
                high=_number(estimate.high),
                n=round(float(measure.count(total))),
                clusters=int((measure.count(sums) > 0).sum()),
                signature=measure.signature,
                subset=subset.name,
            )


def statistic_of(measures: Sequence[Measure], columns: npt.NDArray[np.int64]) -> Statistic:
    """The measures as one statistic of sums that hold these columns only."""

    def statistic(totals: Floats) -> Floats:
        wide = np.zeros((len(totals), len(COLUMNS)))
        wide[:, columns] = totals
        return np.stack([measure.of(wide) for measure in measures], axis=1)

    return statistic


def _measures(
    scored: ScoredRun, total: Floats, items: Items, pack: str, subset: Subset
) -> list[Measure]:
    made = text_measures(scored.signatures)
    made += clinical_measures(
        total,
        pack,
        subset.type,
        classes=subset.graded,
    )
    return made + ([] if subset.name else status_measures())


def _estimates(measures: Sequence[Measure], sums: Floats, drawing: Drawing) -> list[Estimate]:
    columns = np.flatnonzero(sums.any(axis=0))
    found = bootstrap_sums(
        sums[:, columns],
        statistic_of(measures, columns),
        n=len(sums),
        seed=drawing.seed,
        draws=drawing.draws,
        level=LEVEL,
        bounds=[SHARE if measure.is_share else SIGNED for measure in measures],
    )
    return [
        _over_its_own(measure, sums, estimate, drawing.seed)
        for measure, estimate in zip(measures, found, strict=True)
    ]


def _over_its_own(measure: Measure, sums: Floats, estimate: Estimate, seed: int) -> Estimate:
    """Only patients count who have an item that the measure is of: one severe item bounds little.

    Drawing a few patients again knows too little of the others; with FEW or less of them the
    interval is Student's, and where nothing varies the exact bound over patients.
    """
    alike = estimate.signature.startswith(_EXACT)
    if alike and not measure.is_share:
        return Estimate(estimate.value, math.nan, math.nan, 0, 0, "no spread")
    own = sums[measure.count(sums) > 0]
    if not measure.is_share or not (alike or 1 < len(own) <= FEW):
        return estimate
    return bootstrap_sums(
        own,
        lambda totals: measure.of(totals)[:, None],
        n=len(own),
        seed=seed,
        draws=_LOOKS,
        level=LEVEL,
        method="logit",
    )[0]


def _cluster_sums(scored: ScoredRun, items: Items, mask: npt.NDArray[np.bool_]) -> Floats:
    """The sums of each patient over the items of a mask. Items come in the order of their ids, so
    that even the last digit hangs on nothing else."""
    chosen = np.flatnonzero(mask[scored.items])
    if not len(chosen):
        return np.empty((0, len(COLUMNS)))
    cluster = items.cluster[scored.items[chosen]]
    order = np.argsort(cluster, kind="stable")
    first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return scored.wide(np.add.reduceat(scored.statistics[chosen[order]], first, axis=0))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
