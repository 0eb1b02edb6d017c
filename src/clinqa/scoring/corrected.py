"""A share corrected by people's verdicts on a sample (prediction-powered inference).

The judge of the answers may share an error with what made the references. Where people judged some
answers too, its share of right answers is corrected by how far it was off on those. That holds
only where the judged answers are like the others: strata or weights say how they were drawn, and
where they are seen to be unlike nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinqa.core.arrays import Bools, Floats
from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, known
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.scoring.human import HumanVerdicts
from clinqa.stats.correcting import PredictionPowered, Unlike, corrected, unlike
from clinqa.stats.design import Design

__all__ = ["Corrected", "corrected_by"]

#: A value of fewer items is no feature of its own.
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected figure of a run (without a value where the sample is unlike the rest), what it
    stands on, and what a reader must know."""

    figure: Figure
    about: Mapping[str, Any]
    warnings: tuple[str, ...]


def corrected_by(
    judged: JudgedRun,
    items: SplitItems,
    measures: Measures,
    verdicts: HumanVerdicts,
    strata: Sequence[str] = (),
) -> Corrected:
    """The share that people would give over all items.

    `strata` are columns of the items within which the judged ones were drawn at random. ConfigError
    where there is no such column, or people judged nothing that the run answered.
    """
    assert measures.corrects is not None
    metric, checked = measures.corrects.metric, measures.corrects.checked
    if odd := sorted(set(strata) - set(checked)):
        raise ConfigError(f"--human-strata {odd[0]}: give one or more of {', '.join(checked)}")
    (measure,) = [
        one for one, _ in next(iter(measures.figures(judged, items))).measures if one.name == metric
    ]
    assert measure.parts is not None
    ids = np.array(items.column("id"))[judged.items].tolist()
    said, weights = verdicts.by_run[judged.id], verdicts.weights.get(judged.id)
    people = np.array([said.get(name, np.nan) for name in ids])
    seen = ~np.isnan(people)
    if not seen.any():
        raise ConfigError(f"--human: none of the items judged for {judged.name} was answered by it")
    ours = judged.column(judged.layout[measure.parts[0]])
    columns = {name: _words(items.column(name), judged) for name in checked}
    design = Design(
        items.cluster[judged.items],
        strata=_together([columns[name] for name in strata]) if strata else None,
        weights=None if weights is None else [weights.get(name, 1.0) for name in ids],
    )
    _, *how, whole = measure.signature.split("|")
    drawn = f"within {' and '.join(strata)}" if strata else "one sample"
    drawn += ", weighted" if weights is not None else ""
    signature = "|".join(
        [f"{metric}_corrected", *how, "prediction-powered, weight tuned", drawn, whole]
    )
    try:
        found = corrected(people, ours, design)
        apart = unlike(_features(ours, columns), seen, design)
    except ValueError as error:
        raise ConfigError(f"--human, {judged.name}: {error}") from error
    figure = found.corrected.figure(
        f"{metric}_corrected", signature, run=judged.id, model=judged.model, shots=judged.shots
    )
    if apart:
        figure = Figure(
            judged.id, judged.model, judged.shots, figure.metric, None, None, None, figure.n,
            figure.clusters, signature, {},
        )  # fmt: skip
    gone = len(set(said) - set(ids))
    told = [f"{judged.id}: people judged {gone:,} items it did not answer"] if gone else []
    told += [_refused(judged, one, strata) for one in apart[:1]]
    return Corrected(figure, _about(judged, people, ours, found, apart), tuple(told))


def _words(values: Sequence[object], judged: JudgedRun) -> np.ndarray[Any, np.dtype[np.str_]]:
    return np.array(["unmentioned" if one is None else str(one) for one in values])[judged.items]


def _together(columns: Sequence[Iterable[str]]) -> list[str]:
    return [" / ".join(row) for row in zip(*columns, strict=True)]


def _features(ours: Floats, columns: Mapping[str, Any]) -> dict[str, Floats]:
    """What sample and rest are compared in: the judge's verdict, and each frequent value."""
    made = {"right by the labeller": ours}
    for name, values in columns.items():
        for value, many in zip(*np.unique(values, return_counts=True), strict=True):
            if _FEWEST <= many < len(values):
                is_it: Bools = values == value
                made[f"{name.replace('_', ' ')} {value}"] = is_it.astype(np.float64)
    return made


def _refused(judged: JudgedRun, one: Unlike, strata: Sequence[str]) -> str:
    within = " within their strata too" if strata else ""
    return (
        f"{judged.id}: the answers that people judged are unlike the others{within} "
        f"({one.name}: {100 * one.judged:.1f} % of the judged, {100 * one.others:.1f} % of the "
        "others), "
        "so that nothing is corrected by them; say how they were drawn (--human-strata, or a "
        "column weight: 1 over the chance of each)"
    )


def _about(
    judged: JudgedRun, people: Floats, ours: Floats, found: PredictionPowered, apart: list[Unlike]
) -> dict[str, Any]:
    seen = ~np.isnan(people)
    return {
        "run": judged.id,
        "n": int(seen.sum()),
        "labeller_alone": found.judge_alone,
        "people_alone": found.sample_only.value,
        "people_alone_low": known(found.sample_only.low),
        "people_alone_high": known(found.sample_only.high),
        "weight": found.weight,
        "agreement": float(np.mean(1 - np.abs(people - ours)[seen])),
        "unlike": [
            {"name": one.name, "judged": one.judged, "others": one.others, "p": one.p}
            for one in apart
        ],
    }
