"""clinqa audit: is a run's score the same for every group of patients?"""

from __future__ import annotations

from functools import partial

from clinqa.auditing.audit_options import AuditOptions
from clinqa.cli.commands import DatasetArgument, Out, RunsArgument
from clinqa.cli.outcome import Outcome, staged

__all__ = ["audit"]


def audit(dataset: DatasetArgument, runs: RunsArgument, out: Out, options: AuditOptions) -> Outcome:
    """Audit runs for fairness: scores by group, gaps beside what chance alone gives.

    No row of a patient is printed or written; groups of few patients are withheld.
    """
    from clinqa.auditing.audit_runs import audit as make

    work = partial(make, dataset, runs, out, options)
    return staged("audit", out, options, work, "audit")
