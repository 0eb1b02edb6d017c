"""The figures and gaps as CSV: a file for each metric's scores, deviations and every measure.

So a score and a gap never share a column, nor do figures that were made in two ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.auditing.records import Gap, Point
from clinqa.core.cells import csv_text
from clinqa.core.figures import Figure

__all__ = ["tables_of"]


def tables_of(
    figures: Sequence[Figure],
    gaps: Sequence[Gap],
    meta: Mapping[str, Any],
    points: Sequence[Point],
) -> dict[str, str]:
    """The tables by file name."""
    made: dict[str, str] = {}
    who = meta["settings"]["who"]
    for metric in dict.fromkeys(f.metric for f in figures):
        made[f"groups_{metric}.csv"] = csv_text(
            (
                "dimension",
                "group",
                "run",
                "model",
                "shots",
                metric,
                "low",
                "high",
                "n",
                who,
                "signature",
            ),
            [
                (
                    f.subset.get("dimension", "all"),
                    f.subset.get("group", "all"),
                    f.run,
                    f.model,
                    f.shots,
                    f.value,
                    f.low,
                    f.high,
                    f.n or None,
                    f.clusters or None,
                    f.signature,
                )
                for f in figures
                if f.metric == metric
            ],
        )
    for metric, measure in dict.fromkeys((g.metric, g.measure) for g in gaps):
        made[f"gaps_{metric}_{measure}.csv"] = csv_text(
            (
                "dimension",
                "run",
                "model",
                "shots",
                measure,
                "sd_over_repeats",
                "expected",
                "excess",
                "null_low",
                "null_high",
                "p",
                "p_max",
                "low",
                "high",
                "groups",
                "n",
                who,
                "units",
                "signature",
            ),
            [
                (
                    g.dimension,
                    g.run,
                    g.model,
                    g.shots,
                    g.value,
                    g.sd,
                    g.expected,
                    g.excess,
                    g.null_low,
                    g.null_high,
                    g.p,
                    g.p_max,
                    g.low,
                    g.high,
                    g.groups,
                    g.n,
                    g.clusters,
                    g.units,
                    g.signature,
                )
                for g in gaps
                if (g.metric, g.measure) == (metric, measure)
            ],
        )
    return made | {
        "dimensions.csv": csv_text(
            ("dimension", "unit", "kind", "group", "range", who),
            [(d["name"], d["unit"], d["kind"], g["name"], g.get("range") or None, g["patients"])
             for d in meta["dimensions"] for g in d["groups"]],
        ),
        "performance_and_bias.csv": csv_text(
            ("dimension", "metric", "run", "performance", "excess_gap", "on_the_front"),
            [(p.dimension, p.metric, p.run, p.performance, p.bias, "yes" if p.front else "no")
             for p in points],
        ),
    }  # fmt: skip
