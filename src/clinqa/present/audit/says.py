"""The audit in sentences: what was found, what was not, and how little the latter may say.

What an audit says in words that a non-statistician reads right.

A gap is never told alone: beside it stands what chance alone would give, and how often. What is
found is a difference between groups in these answers; its cause, and whether it matters for care,
no figure here can say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clinqa.core.wording import count, decimals, many, signed
from clinqa.present.audit.read import AuditedMetric, AuditGap
from clinqa.stats.verdicts import ALPHA, gap_verdict

__all__ = [
    "STANDARD",
    "by_chance",
    "sentences",
]

STANDARD = "equality_difference_standardised"
_MOST = 6


def sentences(of: AuditedMetric) -> list[str]:
    """What a reader should leave with."""
    gaps = [gap for gap in of.audit.gaps_of(of.metric) if gap.p is not None]
    if not gaps:
        return [f"{of.name}: not tested; no two groups of a dimension have a figure."]
    found = [gap for gap in gaps if gap_verdict(gap.p, gap.p_max) == "found"]
    found.sort(key=lambda gap: (gap.p_max or 0.0, -(gap.excess or 0.0)))
    made = [_scope(of, gaps, found)]
    made += [_found(of, gap) for gap in found[:_MOST]]
    if len(found) > _MOST:
        made.append(f"And {len(found) - _MOST} more: they stand in the table.")
    others = [gap for gap in gaps if gap not in found]
    if others:
        made.append(_largest_of_the_rest(of, others))
        made.append(_blind(others))
    return made


def _scope(of: AuditedMetric, gaps: Sequence[AuditGap], found: Sequence[AuditGap]) -> str:
    dimensions = len({gap.dimension for gap in gaps})
    runs = len({gap.run for gap in gaps})
    patients = count(float(of.audit.meta["settings"]["patients"]))
    above = len(found)
    said = (
        "no gap is told from chance"
        if not above
        else f"{above} gap{'s are' if above > 1 else ' is'} larger than chance explains"
    )
    return (
        f"{of.name}, {many(dimensions, 'dimension')} × {many(runs, 'run')}, {patients} "
        f"{of.audit.who}: {said}, all {len(gaps)} comparisons in this score taken together."
    )


def _found(of: AuditedMetric, gap: AuditGap) -> str:
    worst = of.audit.worst(gap)
    fares = ""
    if worst is not None:
        group = worst.subset["group"]
        away = of.audit.of_group(gap.run, gap.dimension, f"{gap.metric}_deviation", group)
        if away is not None and away.value is not None:
            fares = (
                f" It fares worst for “{group}”: {decimals(worst.value)}, "
                f"{signed(away.value)} from all known groups together."
            )
    return (
        f"{of.labels[gap.run]}, {gap.dimension}: groups lie {decimals(gap.value)} from the whole "
        f"on average, where chance alone gives {decimals(gap.expected)}; a gap as large arises by "
        f"chance {by_chance(gap.p)}.{fares}{_mix(of, gap)}"
    )


def _mix(of: AuditedMetric, gap: AuditGap) -> str:
    same = of.audit.gap(gap.run, gap.dimension, gap.metric, STANDARD)
    if same is None or same.p is None:
        return ""
    if gap_verdict(same.p, same.p_max) == "found":
        return " It stays when the groups are compared on the same mix of questions."
    return (
        " On the same mix of questions it is not told from chance: part of it may be that the "
        "groups are asked different things."
    )


def _largest_of_the_rest(of: AuditedMetric, others: Sequence[AuditGap]) -> str:
    gap = min(others, key=lambda one: (one.p or 0.0, one.run, one.dimension))
    doubt = ""
    if gap.p is not None and gap.p < ALPHA:
        doubt = f" Among all comparisons, one as unlikely arises by chance {by_chance(gap.p_max)}."
    return (
        f"Of the gaps that are not told from chance the least likely is that of "
        f"{of.labels[gap.run]} over {gap.dimension} ({decimals(gap.value)}): differences of this "
        f"size arise by chance {by_chance(gap.p)}.{doubt}"
    )


def _blind(others: Sequence[AuditGap]) -> str:
    reach = sorted(
        gap.null_high for gap in others if gap.null_high is not None
    )  # what chance stays under in 19 of 20 samples
    if not reach:
        return ""
    low, high = decimals(reach[0]), decimals(reach[-1])
    span = low if low == high else f"{low} to {high}"
    return (
        f"Not told from chance does not mean that there is no gap: chance alone gives up to {span} "
        "here (19 of 20 samples), so a true gap of about that size may well go unseen."
    )


def by_chance(p: float | None) -> str:
    """How often chance alone gives a gap of this size, as people count.

    >>> by_chance(0.41), by_chance(0.04), by_chance(0.001), by_chance(0.97)
    ('in 4 of 10 such samples', 'in 4 of 100 such samples', 'in 1 of 1,000 such samples or fewer', \
'in nearly all such samples')
    """
    if p is None or not math.isfinite(p):
        return ""
    if p >= 0.95:
        return "in nearly all such samples"
    if p >= 0.095:
        return f"in {round(10 * p)} of 10 such samples"
    if p >= 0.0095:
        return f"in {round(100 * p)} of 100 such samples"
    if p >= 0.0015:
        return f"in {round(1000 * p)} of 1,000 such samples"
    return "in 1 of 1,000 such samples or fewer"
