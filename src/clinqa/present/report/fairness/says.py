"""The audit in sentences: what was found, what was not, and how little the latter may say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinqa.present.report.fairness.read import Audit, Gap
from clinqa.present.report.fairness.words import by_chance, signed, verdict
from clinqa.present.report.words import DANGEROUS, ERROR_KINDS, count, decimals, metric_name

__all__ = ["named", "sentences"]

GAP, STANDARD = "equality_difference", "equality_difference_standardised"
_MOST = 6


def named(metric: str) -> str:
    """What a metric is called; errors in words.

    >>> named("level_accuracy"), named("error_dangerous_any"), named("error_irrelevant")
    ('Level accuracy', 'Dangerous errors', 'Errors: no finding')
    """
    if metric == DANGEROUS[0].key:
        return "Dangerous errors"
    for kinds, what in ((DANGEROUS, "Dangerous errors"), (ERROR_KINDS, "Errors")):
        for kind in kinds:
            if kind.key == metric:
                return "Right answers" if metric == "error_right" else f"{what}: {kind.name}"
    if metric.startswith("status_"):
        return f"Answers by status: {metric.removeprefix('status_')}"
    name = metric_name(metric)
    return name[:1].upper() + name[1:]


def sentences(audit: Audit, metric: str, labels: Mapping[str, str]) -> list[str]:
    """What a reader should leave with."""
    gaps = [g for g in audit.gaps if (g.metric, g.measure) == (metric, GAP) and g.p is not None]
    if not gaps:
        return [f"{named(metric)}: no figure in any group."]
    found = [gap for gap in gaps if verdict(gap.p, gap.p_max) == "found"]
    found.sort(key=lambda gap: (gap.p_max or 0.0, -(gap.excess or 0.0)))
    made = [_scope(audit, metric, gaps, found)]
    made += [_found(audit, gap, labels) for gap in found[:_MOST]]
    if len(found) > _MOST:
        made.append(f"And {len(found) - _MOST} more: they stand in the table.")
    others = [gap for gap in gaps if gap not in found]
    if others:
        made.append(_largest_of_the_rest(others, labels))
        made.append(_blind(others))
    return made


def _scope(audit: Audit, metric: str, gaps: Sequence[Gap], found: Sequence[Gap]) -> str:
    dimensions = len({gap.dimension for gap in gaps})
    runs = len({gap.run for gap in gaps})
    patients = count(float(audit.meta["settings"]["patients"]))
    many = len(found)
    said = (
        "no gap is told from chance"
        if not many
        else f"{many} gap{'s are' if many > 1 else ' is'} larger than chance explains"
    )
    return (
        f"{named(metric)}, {_of(dimensions, 'dimension')} × {_of(runs, 'run')}, {patients} "
        f"{audit.who}: {said}, all {len(gaps)} comparisons in this score taken together."
    )


def _of(n: int, word: str) -> str:
    return f"{n} {word}{'s' if n != 1 else ''}"


def _found(audit: Audit, gap: Gap, labels: Mapping[str, str]) -> str:
    worst = next(
        (
            one
            for one in audit.scores
            if (one.run, one.dimension, one.metric)
            == (gap.run, gap.dimension, f"{gap.metric}_worst_group")
        ),
        None,
    )
    fares = ""
    if worst is not None:
        away = audit.of_group(gap.run, gap.dimension, f"{gap.metric}_deviation", worst.group)
        if away is not None and away.value is not None:
            fares = (
                f" It fares worst for “{worst.group}”: {decimals(worst.value)}, "
                f"{signed(away.value)} from all known groups together."
            )
    return (
        f"{labels[gap.run]}, {gap.dimension}: groups lie {decimals(gap.value)} from the whole on "
        f"average, where chance alone gives {decimals(gap.expected)}; a gap as large arises by "
        f"chance {by_chance(gap.p)}.{fares}{_mix(audit, gap)}"
    )


def _mix(audit: Audit, gap: Gap) -> str:
    same = audit.gap(gap.run, gap.dimension, gap.metric, STANDARD)
    if same is None or same.p is None:
        return ""
    if verdict(same.p, same.p_max) == "found":
        return " It stays when the groups are compared on the same mix of questions."
    return (
        " On the same mix of questions it is not told from chance: part of it may be that the "
        "groups are asked different things."
    )


def _largest_of_the_rest(others: Sequence[Gap], labels: Mapping[str, str]) -> str:
    gap = min(others, key=lambda one: (one.p or 0.0, one.run, one.dimension))
    doubt = (
        " Among as many comparisons that is to be expected."
        if gap.p is not None and gap.p < 0.05
        else ""
    )
    return (
        f"Of the gaps that are not told from chance the least likely is that of "
        f"{labels[gap.run]} over {gap.dimension} ({decimals(gap.value)}): differences of this size "
        f"arise by chance {by_chance(gap.p)}.{doubt}"
    )


def _blind(others: Sequence[Gap]) -> str:
    reach = sorted(
        gap.null_high for gap in others if gap.null_high is not None
    )  # what chance stays under in 19 of 20 samples
    if not reach:
        return ""
    low, high = decimals(reach[0]), decimals(reach[-1])
    span = low if low == high else f"{low} to {high}"
    return (
        f"Not told from chance does not mean that there is no gap: chance alone gives up to {span} "
        "here (19 of 20 samples), so a true gap of about that size would mostly go unseen."
    )
