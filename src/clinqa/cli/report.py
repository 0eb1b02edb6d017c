"""clinqa report: SCORES folders in, one page out, with figures and tables beside it if wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.outcome import Outcome
from clinqa.present.page_options import PageOptions

__all__ = ["report"]


def report(
    scores: Annotated[
        list[Path], typer.Argument(metavar="SCORES...", help="Folders made by clinqa score.")
    ],
    options: PageOptions,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="The page.")] = Path(
        "report.html"
    ),
) -> Outcome:
    """Make a page of scores: one file that fetches nothing and runs nothing.

    Results with intervals, dangerous errors, paired tests, worst answers, how to do it again.
    """
    from clinqa.present.report import write_report

    written = write_report(scores, out, options)
    lines = [f"page: {written.page}"]
    if written.private:
        shown = "shows text of records; " if options.examples else ""
        lines.append(f"{shown}readable by you alone: its data are restricted".capitalize())
    if options.figures is not None:
        lines.append(f"{len(written.files)} figures and tables: {options.figures}")
    counts = {
        "runs": written.runs,
        "models": written.models,
        "figures": written.figures,
        "tests": written.tests,
        "files": len(written.files),
    }
    return Outcome("report", written.page, counts, list(written.warnings), "\n".join(lines))
