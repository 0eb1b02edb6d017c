"""clinqa audit: is a run's score the same for every group of patients?"""

from __future__ import annotations

from clinqa.auditing.audit_options import AuditOptions
from clinqa.cli.arguments import DatasetArgument, Out, RunsArgument
from clinqa.cli.outcome import Outcome, ended
from clinqa.cli.terminal import ProgressLine

__all__ = ["audit"]


def audit(dataset: DatasetArgument, runs: RunsArgument, out: Out, options: AuditOptions) -> Outcome:
    """Audit runs for fairness: scores by group, gaps beside what chance alone gives.

    No row of a patient is printed or written; groups of few patients are withheld.
    """
    from clinqa.auditing.audit_runs import audit as make

    with ProgressLine() as progress:
        result = make(dataset, runs, out, options, progress)
    return ended("audit", out, result, options.dry_run, f"audit in {out}")
