"""The gaps of all runs over all dimensions in one table, as EchoQA's Table 4 has them.

The least gap of a dimension and the second least are marked only where the tests carry it: each
pair of runs is compared, and no run is called least biased that is not told from every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.core.figures import PairedTest
from clinqa.core.wording import MISSING, decimals
from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow
from clinqa.present.audit.read import AuditedMetric, AuditGap
from clinqa.stats.verdicts import Verdicts

__all__ = ["least_biased", "marks_of"]

_REPEATED = "equality_difference_repeats"


def least_biased(of: AuditedMetric) -> Grid | None:
    """A row a run, a column a dimension; nothing of one run alone."""
    runs, dimensions = of.audit.runs, of.audit.dimensions
    if len(runs) < 2:
        return None
    marks = {str(one["name"]): marks_of(of, one) for one in dimensions}
    rows = [
        GridRow(
            of.labels[run],
            tuple(_cell(of, run, one, marks[str(one["name"])].get(run, "")) for one in dimensions),
        )
        for run in runs
    ]
    columns = tuple(
        GridColumn(f"dimension_{at}", str(one["name"])) for at, one in enumerate(dimensions, 1)
    )
    return Grid(
        f"fairness-least-{of.key}",
        f"Gaps in {of.name} by dimension and run (lower is fairer)",
        "Run",
        columns,
        tuple(rows),
        (_note(of, marks),),
    )


def marks_of(of: AuditedMetric, dimension: Mapping[str, Any]) -> dict[str, str]:
    """The run whose gap is least, and the one whose is second least, where tests tell each of them
    from every run with a larger one."""
    name = str(dimension["name"])
    shown = {
        run: gap.value
        for run in of.audit.runs
        if (gap := _shown(of, run, dimension)) is not None and gap.value is not None
    }
    ranked = sorted(shown, key=lambda run: (shown[run], run))
    tests = [
        PairedTest(one.a, one.b, name, one.difference, one.difference, one.difference,
                   one.p if one.p is not None else 1.0, one.p_max)
        for one in of.audit.gap_pairs
        if (one.metric, one.dimension) == (of.metric, name) and one.difference is not None
    ]  # fmt: skip
    verdicts = Verdicts(tests, lower=[name])
    made: dict[str, str] = {}
    for at, mark in enumerate(("best", "second")):
        rest = ranked[at + 1 :]
        if not rest or not all(verdicts.better(ranked[at], run, name) for run in rest):
            break
        made[ranked[at]] = mark
    return made


def _shown(of: AuditedMetric, run: str, dimension: Mapping[str, Any]) -> AuditGap | None:
    return of.gap(run, dimension, _REPEATED) or of.gap(run, dimension)


def _cell(of: AuditedMetric, run: str, dimension: Mapping[str, Any], mark: str) -> GridCell:
    gap = _shown(of, run, dimension)
    if gap is None or gap.value is None:
        return GridCell(MISSING, reason="too few answers in its groups")
    spread = "" if gap.sd is None else f"± {decimals(gap.sd)}"
    return GridCell(decimals(gap.value), spread=spread, mark=mark, value=gap.value)


def _note(of: AuditedMetric, marks: Mapping[str, Mapping[str, str]]) -> str:
    """What marks mean, and where there is none."""
    pairs = len(of.audit.runs) * (len(of.audit.runs) - 1) // 2
    how = (
        "Mean of the repeats' gaps, ± sd over repeats where there are several. Marked is the least "
        "gap (best), and the second least (2nd), only where tests tell the run from every run with "
        "a larger gap: the runs' gaps less what chance gives each are compared in pairs, all "
        f"{pairs} pair{'s' if pairs > 1 else ''} × {len(marks)} dimensions together (max-T, 0.05)."
    )
    bare = [name for name, found in marks.items() if not found]
    if not of.audit.gap_pairs:
        return f"{how} This audit holds no such tests, so nothing is marked."
    if not bare:
        return how
    every = len(bare) == len(marks)
    where = "no dimension is a run" if every else f"{', '.join(bare)} no run is"
    return f"{how} In {where} told from all the others: which is least is not known."
