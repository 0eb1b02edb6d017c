"""The audit's charts as inline SVG, for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from clinqa.present.report.charts import Banded, Dot, dot_panel, gap_panel
from clinqa.present.report.fairness.read import Audit
from clinqa.present.report.fairness.says import GAP, named
from clinqa.present.report.fairness.tables import group_title
from clinqa.present.report.fairness.words import verdict

__all__ = ["MOST", "Drawn", "chosen", "drawn", "round_start", "round_top"]

MOST = 6  # runs that get panels of their own


@dataclass(frozen=True, slots=True)
class Drawn:
    """The panels of one metric: gaps, and by dimension the scores of groups."""

    metric: str
    name: str
    gaps: list[Markup]
    groups: list[tuple[str, list[Markup]]]
    note: str


def drawn(audit: Audit, labels: Mapping[str, str], looks: Mapping[str, str]) -> list[Drawn]:
    """The charts, metric by metric."""
    return [
        Drawn(
            metric,
            named(metric),
            _gaps(audit, metric, labels, looks),
            _groups(audit, metric, labels, looks),
            f"Drawn: the {MOST} runs with the largest excess. The table holds all."
            if len(audit.runs) > MOST
            else "",
        )
        for metric in audit.metrics
    ]


def round_top(values: Sequence[float]) -> float:
    """A scale's end that is round and just holds all values.

    >>> round_top([0.031]), round_top([0.7]), round_top([])
    (0.04, 1.0, 1.0)
    """
    most = max(values, default=1.0)
    for step in (0.01, 0.02, 0.04, 0.1, 0.2, 0.4):
        if most <= step:
            return step
    return 1.0


def round_start(values: Sequence[float], top: float) -> float:
    """Where a scale of scores begins: a tenth of it below all values.

    >>> round_start([0.52, 0.7], 1.0), round_start([], 1.0)
    (0.5, 0.0)
    """
    return math.floor(10 * min(values, default=0.0) / top) / 10 * top


def _gaps(
    audit: Audit, metric: str, labels: Mapping[str, str], looks: Mapping[str, str]
) -> list[Markup]:
    gaps = [g for g in audit.gaps if (g.metric, g.measure) == (metric, GAP)]
    ends = [value for gap in gaps for value in (gap.value, gap.null_high) if value is not None]
    top = round_top(ends)
    panels = []
    for at, one in enumerate(audit.dimensions):
        rows = []
        for run in audit.runs:
            gap = audit.gap(run, one["name"], metric, GAP)
            if gap is None:
                continue
            rows.append(
                Banded(
                    labels[run], gap.value, gap.expected, gap.null_low, gap.null_high,
                    looks.get(run, "g-none"), verdict(gap.p, gap.p_max) == "found",
                )
            )  # fmt: skip
        if not rows:  # too few of its groups have answers that this metric is over
            continue
        chart = f"chart-gap-{metric.replace('_', '-')}-{at}"
        panels.append(gap_panel(chart, f"{one['name']}: gap", rows, top=top))
    return panels


def _groups(
    audit: Audit, metric: str, labels: Mapping[str, str], looks: Mapping[str, str]
) -> list[tuple[str, list[Markup]]]:
    runs = chosen(audit, metric)
    values = [
        value
        for one in audit.scores
        if one.metric == metric and one.run in runs
        for value in (one.value, one.low, one.high)
        if value is not None
    ]
    top = round_top(values)
    start = round_start(values, top)
    made = []
    for at, one in enumerate(audit.dimensions):
        panels = []
        for number, run in enumerate(runs):
            dots = [
                _dot(audit, run, one, group, metric, looks)
                for group in [*one["groups"], {"name": "missing", "range": ""}]
            ]
            shown = [dot for dot in dots if dot is not None]
            if not shown:
                continue
            chart = f"chart-group-{metric.replace('_', '-')}-{at}-{number}"
            panels.append(
                dot_panel(chart, labels[run], shown, top=top, start=start, label_width=212)
            )
        if panels:
            made.append((str(one["name"]), panels))
    return made


def chosen(audit: Audit, metric: str) -> list[str]:
    """The runs that are drawn one by one: all, or those with the largest excess."""

    def excess(run: str) -> float:
        found = [g.excess for g in audit.gaps
                 if (g.run, g.metric, g.measure) == (run, metric, GAP)]  # fmt: skip
        return -max((value for value in found if value is not None), default=-1.0)

    most = sorted(audit.runs, key=excess)[:MOST]
    return [run for run in audit.runs if run in most]


def _dot(
    audit: Audit,
    run: str,
    dimension: Mapping[str, Any],
    group: Mapping[str, Any],
    metric: str,
    looks: Mapping[str, str],
) -> Dot | None:
    figure = audit.of_group(run, dimension["name"], metric, group["name"])
    if figure is None:
        return None
    hollow = group["name"] == "missing"
    return Dot(group_title(group), figure.value, figure.low, figure.high,
               looks.get(run, "g-none"), hollow)  # fmt: skip
