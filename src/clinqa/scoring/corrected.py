"""Level accuracy corrected by people's verdicts on a sample (prediction-powered inference).

The labeller that judges the answers also made the references. Where people judged some answers
too, its share of right answers is corrected by how far it was off on those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure
from clinqa.scoring.inputs import Items
from clinqa.scoring.scored import COLUMNS, ScoredRun
from clinqa.stats.ppi import prediction_powered_mean

__all__ = ["Corrected", "corrected"]

METRIC = "level_accuracy_corrected"


@dataclass(frozen=True, slots=True)
class Corrected:
    """The corrected figure of a run, and what it stands on."""

    figure: Figure
    about: Mapping[str, Any]
    unknown: int  # items that people judged and the run did not answer


def corrected(
    scored: ScoredRun, items: Items, verdicts: Mapping[str, float], pack: str
) -> Corrected:
    """The level accuracy that people would give; the sample is taken for a random one."""
    run = scored.run
    ids = np.array(items.column("id"))[scored.items]
    judged = np.array([name in verdicts for name in ids.tolist()])
    if not judged.any():
        raise ConfigError(f"--human: none of the items judged for {run.name} was answered by it")
    said = np.array([verdicts[name] for name in ids[judged].tolist()])
    every = np.arange(len(scored.items))
    ours = scored.chosen(every, np.array([COLUMNS.index("level_right")]))[:, 0]
    cluster = items.cluster[scored.items]
    found = prediction_powered_mean(
        said, ours[judged], cluster[judged], ours[~judged], cluster[~judged]
    )
    best = found.corrected
    figure = Figure(
        run=run.id,
        model=run.model,
        shots=run.shots,
        metric=METRIC,
        value=best.value,
        low=_number(best.low),
        high=_number(best.high),
        n=best.n,
        clusters=best.clusters,
        signature=f"{METRIC}|clinical|{pack}|prediction-powered, weight tuned|of all items",
    )
    about = {
        "run": run.id,
        "n": int(judged.sum()),
        "labeller_alone": found.judge_alone,
        "people_alone": found.sample_only.value,
        "people_alone_low": _number(found.sample_only.low),
        "people_alone_high": _number(found.sample_only.high),
        "weight": found.weight,
        "agreement": float(np.mean(1 - np.abs(said - ours[judged]))),
    }
    return Corrected(figure, about, len(set(verdicts) - set(ids.tolist())))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
