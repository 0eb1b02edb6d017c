"""The audit's charts: gaps beside the band of chance, scores of groups, performance and bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from clinqa.kinds.facets.charts import Dot, Dots, Plane, PlanePoint, Plate
from clinqa.kinds.facets.figure_tables import dot_of
from clinqa.present.audit.gap_tables import MISSING_GROUP, front_points, group_title
from clinqa.present.audit.read import AuditedMetric
from clinqa.present.drawing import round_span
from clinqa.stats.verdicts import gap_verdict

__all__ = ["MOST", "audit_plates", "gap_charts", "group_charts"]

MOST = 6  # runs that get panels of their own
_BAND = (
    "gap in {}; band: 90 % of gaps when the attribute is permuted, bar: their mean;\nfilled: told "
    "from chance over all comparisons (max-T, 0.05)"
)


def audit_plates(of: AuditedMetric) -> dict[str, Plate]:
    """The pictures for a paper (as EchoQA's Fig. 3 to 5)."""
    drawn = f"; the {MOST} runs with the largest excess" if len(of.audit.runs) > MOST else ""
    note = f"{of.name} by group, with 95 % intervals over {of.audit.who}{drawn}"
    panels = [
        replace(chart, title=f"{name}: {chart.title}")
        for name, charts in group_charts(of)
        for chart in charts
    ]
    made = {
        "gaps": Plate(gap_charts(of), 3, _BAND.format(of.name)),
        "groups": Plate(panels, 3, note),
    }
    plane = _front(of)
    made |= {"front": Plate([plane])} if plane.points else {}
    return {f"fairness-{name}-{of.key}": plate for name, plate in made.items()}


def _round_top(values: Sequence[float]) -> float:
    """A scale's end that is round and just holds all values; of shares none lies beyond 1.

    >>> _round_top([0.031]), _round_top([0.7]), _round_top([]), _round_top([3.3])
    (0.04, 1.0, 1.0, 4.0)
    """
    most = max(values, default=1.0)
    steps = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0)
    return next((step for step in steps if most <= step), round_span([0.0, most])[1])


def _round_start(values: Sequence[float], top: float) -> float:
    """Where a scale of scores begins: a fifth of it below all values, so that quarters are round.

    >>> _round_start([0.52, 0.7], 1.0), _round_start([], 1.0)
    (0.4, 0.0)
    """
    return math.floor(5 * min(values, default=0.0) / top) / 5 * top


def gap_charts(of: AuditedMetric) -> list[Dots]:
    """A panel a dimension, a row a run: the gap, and the band in which chance alone leaves it."""
    found = of.audit.gaps_of(of.metric)
    top = _round_top([v for gap in found for v in (gap.value, gap.null_high) if v is not None])
    panels = []
    for at, one in enumerate(of.audit.dimensions):
        rows = [
            Dot(of.labels[run], gap.value, gap.null_low, gap.null_high,
                of.looks.get(run, "g-none"), gap_verdict(gap.p, gap.p_max) != "found", gap.expected)
            for run in of.audit.runs
            if (gap := of.gap(run, one)) is not None
        ]  # fmt: skip
        if rows:  # else too few of its groups have answers that this metric is over
            chart = f"chart-gap-{of.key}-{at}"
            panels.append(Dots(chart, f"{one['name']}: gap", rows, top=top, banded=True))
    return panels


def group_charts(of: AuditedMetric) -> list[tuple[str, list[Dots]]]:
    """By dimension a panel a run, a row a group: the score with its interval."""
    runs = _chosen(of)
    values = [
        value
        for one in of.audit.scores
        if one.metric == of.metric and one.run in runs
        for value in (one.value, one.low, one.high)
        if value is not None
    ]
    top = _round_top(values)
    start = _round_start(values, top)
    made = []
    for at, one in enumerate(of.audit.dimensions):
        panels = []
        for number, run in enumerate(runs):
            dots = [
                dot_of(group_title(group), figure, of.looks.get(run, "g-none"),
                       group is MISSING_GROUP)
                for group in [*one["groups"], MISSING_GROUP]
                if (figure := of.audit.of_group(run, one["name"], of.metric, group["name"]))
            ]  # fmt: skip
            chart = f"chart-group-{of.key}-{at}-{number}"
            panels += [Dots(chart, of.labels[run], dots, start, top, 212)] if dots else []
        made += [(str(one["name"]), panels)] if panels else []
    return made


def _chosen(of: AuditedMetric) -> list[str]:
    """The runs that are drawn one by one: all, or those with the largest excess."""

    def excess(run: str) -> float:
        found = [gap.excess for gap in of.audit.gaps_of(of.metric) if gap.run == run]
        return -max((value for value in found if value is not None), default=-1.0)

    most = sorted(of.audit.runs, key=excess)[:MOST]
    return [run for run in of.audit.runs if run in most]


def _front(of: AuditedMetric) -> Plane:
    """Performance over everybody against the excess of the gap."""
    wanted, found = front_points(of)
    points = [
        PlanePoint(at, of.labels[p["run"]], of.looks.get(p["run"], "g-none"), p["bias"],
                   p["performance"], p["front"], not p["front"])
        for at, p in enumerate(found, 1)
    ]  # fmt: skip
    axes = f"excess gap, {wanted} (left is fairer)", of.name
    return Plane(f"chart-front-{of.key}", "", axes, points)
