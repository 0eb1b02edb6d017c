"""The section of an audit, for a page of any kind: said, drawn, in tables.

A gap never stands without what chance alone gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clinqa.kinds.facets.charts import Plate
from clinqa.kinds.facets.pages import (
    Block,
    Bullets,
    Fold,
    Legend,
    PageSection,
    Panels,
    Prose,
    Subheading,
    Swatch,
    Warned,
)
from clinqa.kinds.facets.shows import Evaluation
from clinqa.present.audit.charts import MOST, audit_plates, gap_charts, group_charts
from clinqa.present.audit.gap_tables import dimensions, front, gaps, groups, more_of_gaps
from clinqa.present.audit.least import least_biased
from clinqa.present.audit.read import Audit, AuditedMetric
from clinqa.present.audit.says import sentences

__all__ = ["audit_section"]

_ROOM = 28  # letters of a name in a chart
_LEGEND = Legend([
    Swatch("what chance alone gives (90 of 100 times)", "band"),
    Swatch("its mean", "chance"),
    Swatch("gap, not told from chance", "ring", "g-none"),
    Swatch("gap, told from chance over all comparisons in this score", "dot", "g-none"),
])  # fmt: skip


def audit_section(audit: Audit, evaluation: Evaluation) -> tuple[PageSection, Mapping[str, Plate]]:
    """The section and its pictures; runs that the page has are called as everywhere on it."""
    labels = audit.labels() | {run.id: run.label for run in evaluation.runs}
    looks = {run.id: run.look for run in evaluation.runs}
    headlines = [str(one) for one in audit.meta.get("headlines") or []]
    blocks: list[Block] = [Prose(_question(audit))]
    if headlines:
        lost = f"Of more than 1 in 20 {audit.who} the tables say nothing: they are in no group."
        blocks.insert(0, Warned(lost, headlines))
    plates: dict[str, Plate] = {}
    for metric in audit.metrics:
        of = AuditedMetric(audit, metric, evaluation.metric_alone(metric), labels, looks)
        blocks += _metric(of)
        plates |= audit_plates(of)
    blocks += [Subheading("Who was compared"), dimensions(audit)]
    remarks = [one for one in audit.meta.get("warnings") or [] if one not in headlines]
    if remarks:
        many = "s" if len(remarks) > 1 else ""
        title = f"{len(remarks)} remark{many} on the tables of groups"
        blocks.append(Fold(title, [Bullets(remarks)]))
    return PageSection("fairness", "Fairness", blocks), plates


def _question(audit: Audit) -> str:
    who, patients = audit.who, audit.who == "patients"
    tracts = ", or among the census tracts it was assigned to" if patients else ""
    cause = (
        "who is asked what, how reports are written and how ill people are may differ too"
        if patients
        else "what is asked about the groups, and how hard it is, may differ too"
    )
    return (
        f"Is the score the same for every group of {who}? A gap is how far the scores of groups "
        "lie from the score of all of them together, on average. It can't be below 0, so even a "
        "perfectly fair model shows one. Each gap therefore stands beside the gaps that arise when "
        f"the attribute is dealt out anew by chance among the {who}{tracts} "
        f"({audit.meta['settings']['permutations']:,} times). What is found is a difference "
        f"between groups, not its cause: {cause}."
    )


def _metric(of: AuditedMetric) -> list[Block]:
    # a chart has little room: a name that would be cut there is the run's folder instead
    short = {
        str(run["run"]): label
        if len(label := of.labels[str(run["run"])]) <= _ROOM
        else str(run["name"])
        for run in of.audit.meta["runs"]
    }
    drawn = replace(of, labels=short)
    said = [line for line in sentences(of) if line]
    charts = gap_charts(drawn)
    few = f"Drawn: the {MOST} runs with the largest excess. The table holds all."
    scores = (
        "Line: 95 % interval of the group's score; the scales need not begin at 0. Ring: "
        f"{of.audit.who} of which the attribute is not known. Two intervals that overlap may still "
        "differ; the gaps above are what was tested."
    )
    more = "More of each gap: repeats, extremes, same mix of questions, trend"
    folds: list[Block] = [
        Fold(name, [Panels(panels)], open=at == 0)
        for at, (name, panels) in enumerate(group_charts(drawn))
    ]
    bias, table = front(of), least_biased(of)
    biased: list[Block] = [Subheading("Performance against bias", 4), bias] if bias else []
    return [
        Subheading(of.name),
        Bullets(said, "key"),
        _LEGEND,
        *([Panels(charts)] if charts else []),
        gaps(of),
        *([table] if table else []),
        Fold(more, [more_of_gaps(of)]),
        Subheading("Scores by group", 4),
        Prose(scores),
        *([Prose(few, "notes")] if len(of.audit.runs) > MOST else []),
        *folds,
        groups(of),
        *biased,
    ]
