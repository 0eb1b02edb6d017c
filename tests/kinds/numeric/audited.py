"""Patients compared by how near the answers are."""

from __future__ import annotations

from clinqa.kinds.facets.audited import PATIENTS, Audited
from kinds.numeric.judges import judged
from kinds.numeric.measures import DISTANCE, WITHIN

AUDITED = Audited(
    metric=WITHIN.name,
    who=PATIENTS,
    subject="group",
    asks=("category",),
    strata="what is measured",
    over="numbers",
    means=lambda _: (WITHIN, DISTANCE),
    known=lambda: (WITHIN, DISTANCE),
    kept_with=lambda *_: "the one way there is",
    kept=lambda rows, found, items, _: judged(rows, found, items),
    columns=lambda *_: ("answer",),
)
