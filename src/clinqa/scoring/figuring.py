"""Figures of judged runs with their intervals: the same for every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from clinqa.core.figures import Figure
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates

__all__ = ["figures_of"]


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
