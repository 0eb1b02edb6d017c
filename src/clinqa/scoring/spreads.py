"""How far a figure moves between the repeats of a run, and what the repeats vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clinqa.scoring.measures import Measure
from clinqa.scoring.scored import ScoredRun

__all__ = ["spreads_of"]


def spreads_of(scored: ScoredRun, measures: Sequence[Measure]) -> list[dict[str, Any]]:
    """The standard deviation of each metric between repeats, each repeat scored as a whole.

    A run that answers the same each time has no spread; that is not a spread of 0. Nor has one
    that was asked once.
    """
    run, repeats = scored.run, len(scored.repeats)
    kind = "deterministic" if run.deterministic else "sd" if repeats > 1 else "asked once"
    varied = "nothing" if run.deterministic or repeats == 1 else run.vary
    made = []
    for measure in measures:
        value = None
        if kind == "sd":
            each = measure.of(scored.repeats)
            value = float(np.std(each, ddof=1)) if np.isfinite(each).all() else None
        made.append(
            {
                "run": run.id,
                "metric": measure.name,
                "kind": kind,
                "value": value,
                "varied": varied,
                "repeats": repeats,
            }
        )
    return made
