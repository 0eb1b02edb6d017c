"""How far a figure moves between the repeats of a run, and what the repeats vary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clinqa.kinds.facets.judges import JudgedRun
from clinqa.stats.measure import Measure

__all__ = ["spreads_of"]


def spreads_of(judged: JudgedRun, measures: Sequence[Measure]) -> Iterator[dict[str, Any]]:
    """The standard deviation of each metric between repeats, each repeat judged as a whole.

    A run that answers the same each time has no spread; that is not a spread of 0. Nor has one
    that was asked once.
    """
    run, repeats = judged.run, judged.repeats
    assert run is not None and judged.totals is not None
    kind = "deterministic" if run.deterministic else "sd" if repeats > 1 else "asked once"
    varied = "nothing" if run.deterministic or repeats == 1 else run.vary
    for measure in measures:
        value = None
        if kind == "sd":
            each = measure.of(judged.totals)
            value = float(np.std(each, ddof=1)) if np.isfinite(each).all() else None
        yield {
            "run": run.id,
            "metric": measure.name,
            "kind": kind,
            "value": value,
            "varied": varied,
            "repeats": repeats,
        }
