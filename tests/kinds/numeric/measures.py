"""The share within the tolerance, and the mean distance, where a low one is the good one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import (
    EVERY,
    FigureTables,
    Measured,
    Measures,
    TestedTogether,
    Wording,
)
from clinqa.stats.measure import share
from kinds.numeric.judges import LAYOUT

_ITEMS, _WITHIN, _ANSWERED, _DISTANCE = range(len(LAYOUT))
WITHIN = share("within", _WITHIN, _ITEMS, signature="within|numeric|unanswered: outside")
DISTANCE = share(
    "distance", _DISTANCE, _ANSWERED, signature="distance|numeric|unanswered: left out",
    bounds=None, lower=True,
)  # fmt: skip


def _figures(judged: JudgedRun, items: SplitItems) -> Iterator[Measured]:
    yield Measured([(WITHIN, EVERY), (DISTANCE, EVERY)])
    categories = np.array(items.column("category"))[judged.items]
    for name in np.unique(categories).tolist():
        yield Measured([(WITHIN, {"category": name})], categories == name)


MEASURES = Measures(
    primary=WITHIN.name,
    primaries=(WITHIN.name, DISTANCE.name),
    figures=_figures,
    tests=lambda *_: [TestedTogether([WITHIN, DISTANCE])],
    wording=Wording(drawn="patients", unit="patient", flipped="|sign-flip of patients"),
    tables=FigureTables(keys=("category",), files={"by_category.csv": "category"}),
    lines=(DISTANCE.name,),
    against=lambda items: f"{len(items):,} numbers of {items.many():,} patients",
)
