"""Figures of judged runs with their intervals: the same for every kind.

A share corrected by people's verdicts on a sample (prediction-powered inference).

The judge of the answers may share an error with what made the references. Where people judged some
answers too, its share of right answers is corrected by how far it was off on those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, known
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.stats.correcting import corrected
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates

__all__ = [
    "Corrected",
    "corrected_by",
    "figures_of",
]


def figures_of(
    judged: JudgedRun, items: SplitItems, measures: Measures, design: Design
) -> Iterator[Figure]:
    """Every figure of a run. One that does not exist (nothing at risk, say) has no value.

    Clusters are drawn again, not items. Nothing is judged again: the figure of a drawn sample is a
    function of its summed rows. `design` gives seed, draws and level.
    """
    every = np.arange(len(judged.items))
    for part in measures.figures(judged, items):
        rows = every if part.mask is None else np.flatnonzero(part.mask)
        if not len(rows) or not part.measures:
            continue
        cluster = items.clusters[part.by] if part.by else items.cluster
        sums = judged.summed(rows, cluster[judged.items[rows]])
        found = estimates([one for one, _ in part.measures], sums, replace(design, clusters=None))
        for (measure, subset), one in zip(part.measures, found, strict=True):
            yield one.figure(
                measure.name,
                measure.signature,
                run=judged.id,
                model=judged.model,
                shots=judged.shots,
                subset=subset,
            )


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected figure of a run, and what it stands on."""

    figure: Figure
    about: Mapping[str, Any]
    unknown: int  # items that people judged and the run did not answer


def corrected_by(
    judged: JudgedRun, items: SplitItems, measures: Measures, verdicts: Mapping[str, float]
) -> Corrected:
    """The share that people would give; the sample is taken for a random one."""
    assert measures.corrects is not None
    metric = measures.corrects.metric
    (measure,) = [
        one for one, _ in next(iter(measures.figures(judged, items))).measures if one.name == metric
    ]
    ids = np.array(items.column("id"))[judged.items]
    sample = np.array([name in verdicts for name in ids.tolist()])
    if not sample.any():
        raise ConfigError(f"--human: none of the items judged for {judged.name} was answered by it")
    assert measure.parts is not None
    ours = judged.column(judged.layout[measure.parts[0]])
    people = np.array([verdicts.get(name, np.nan) for name in ids.tolist()])
    found = corrected(people, ours, Design(items.cluster[judged.items]))
    _, *how, whole = measure.signature.split("|")
    made = f"{metric}_corrected"
    figure = found.corrected.figure(
        made,
        "|".join([made, *how, "prediction-powered, weight tuned", whole]),
        run=judged.id,
        model=judged.model,
        shots=judged.shots,
    )
    about = {
        "run": judged.id,
        "n": int(sample.sum()),
        "labeller_alone": found.judge_alone,
        "people_alone": found.sample_only.value,
        "people_alone_low": known(found.sample_only.low),
        "people_alone_high": known(found.sample_only.high),
        "weight": found.weight,
        "agreement": float(np.mean(1 - np.abs(people - ours)[sample])),
    }
    return Corrected(figure, about, len(set(verdicts) - set(ids.tolist())))
