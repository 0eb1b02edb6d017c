"""clinqa report: SCORES folders in, one page out, with figures and tables beside it if wanted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.outcome import Outcome

__all__ = ["report"]


def report(
    scores: Annotated[
        list[Path], typer.Argument(metavar="SCORES...", help="Folders made by clinqa score.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.html", help="The page.")] = Path(
        "report.html"
    ),
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples", help="Show the worst answers: text of the records."
        ),
    ] = True,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures",
            metavar="DIR",
            help="Also figures as SVG and PDF, tables as CSV and LaTeX, into this folder.",
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="The page's title.")] = "",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete our own earlier figures in --figures first.")
    ] = False,
) -> Outcome:
    """Make a page of scores: one file that fetches nothing and runs nothing.

    Results with intervals, dangerous errors, paired tests, worst answers, how to do it again.
    """
    from clinqa.present.report import write_report

    written = write_report(
        scores,
        out,
        title=title,
        examples=examples,
        figures=figures,
        fresh=fresh,
        command=["clinqa", *sys.argv[1:]],
    )
    lines = [f"page: {written.page}"]
    if written.private:
        shown = "shows text of records; " if examples else ""
        lines.append(f"{shown}readable by you alone: its data are restricted".capitalize())
    if figures is not None:
        lines.append(f"{len(written.files)} figures and tables: {figures}")
    counts = {
        "runs": written.runs,
        "models": written.models,
        "figures": written.figures,
        "tests": written.tests,
        "files": len(written.files),
    }
    return Outcome("report", written.page, counts, list(written.warnings), "\n".join(lines))
