"""The audit for the terminal: cut points, what was left out, and each gap beside chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.auditing.records import Gap
from clinqa.core.predictions import FinishedRun
from clinqa.core.visible import visible
from clinqa.core.wording import decimals, p_value
from clinqa.present.audit.chances import by_chance
from clinqa.stats.verdicts import gap_verdict

__all__ = ["lines_of"]


def lines_of(
    dimensions: Sequence[Mapping[str, Any]],
    excluded: Sequence[Mapping[str, Any]],
    gaps: Sequence[Gap],
    runs: Sequence[FinishedRun],
    metrics: Sequence[str],
) -> list[str]:
    """Dimensions with their groups, then a line a metric, dimension and run."""
    lines = []
    for one in dimensions:
        lines.append(f"{visible(one['name'])} ({one['unit']} level): {_groups(one)}")
    lines += [f"{visible(one['name'])}: left out: {one['reason']}" for one in excluded]
    names = {run.id: run.name for run in runs}
    for metric in metrics:
        lines += ["", f"{metric}: gap between groups, beside what chance alone gives"]
        for gap in gaps:
            if gap.metric == metric and gap.measure == "equality_difference":
                lines.append(f"  {visible(gap.dimension)}, {visible(names[gap.run])}: {_told(gap)}")
    return lines


def _groups(one: Mapping[str, Any]) -> str:
    parts = []
    for group in one["groups"]:
        held = f" ({group['range']})" if group["range"] else ""
        n = "withheld" if group["withheld"] else f"{group['patients']:,}"
        parts.append(f"{visible(group['name'])}{held} {n}")
    if one["missing"] is None or one["missing"]:
        parts.append(f"missing {'few' if one['missing'] is None else format(one['missing'], ',')}")
    return "; ".join(parts)


def _told(gap: Gap) -> str:
    if gap.value is None:
        return "no figure"
    return (
        f"{decimals(gap.value)} (by chance {decimals(gap.expected)}, excess "
        f"{decimals(gap.excess)}), p {p_value(gap.p)}, over all {p_value(gap.p_max)}: "
        f"{gap_verdict(gap.p, gap.p_max)}; this much arises by chance {by_chance(gap.p)}"
    )
