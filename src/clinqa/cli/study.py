"""clinqa study: from a study file to a paper's table; or the statistics of a table alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.commands import Out, group
from clinqa.cli.outcome import Outcome, staged
from clinqa.studying.study_options import StudyOptions, TableOptions

__all__ = ["study"]

File = Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="What is trained and compared.")]


def check(file: File) -> Outcome:
    """What a study would train and ask, and what it will not be able to say."""
    from clinqa.studying.whole_study import check_study

    found = check_study(file)
    # what is worth a warning stands among the lines already
    return Outcome("study check", None, found.counts, text="\n".join(found.lines))


def run(file: File, out: Out, options: StudyOptions) -> Outcome:
    """Do all of a study that is not done yet; resumable in the middle of a training or a run."""
    from clinqa.studying.whole_study import run_study

    work = partial(run_study, file, out, options)
    return staged("study run", out, options, work, "study")


def table(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...",
            help="CSV or Parquet: trained_on, seed, item_id, specialty, order, right; and arm, "
            "group, train_items where known.",
        ),
    ],
    out: Out,
    options: TableOptions,
) -> Outcome:
    """Matrix, tests and picture of answers that were made elsewhere."""
    from clinqa.studying.whole_study import cross_tables

    work = partial(cross_tables, tables, out, options)
    return staged("study table", out, options, work, "study")


def matrix(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX.csv", help="As printed: trained on downwards, tested on across."
        ),
    ],
) -> Outcome:
    """What the diagonal of a printed matrix says, with its permutation test."""
    from clinqa.studying.printed import figures_of, lines_of, read_matrix

    printed = read_matrix(file)
    return Outcome("study matrix", None, figures_of(printed), text="\n".join(lines_of(printed)))


def totals(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv", help="Counts as printed; the row of totals is named total."
        ),
    ],
) -> Outcome:
    """Do the rows of a printed table sum to its printed totals? Exit 1 where they do not."""
    from clinqa.studying.printed import read_totals

    found = read_totals(file)
    wrong = "; ".join(found.wrong) or None
    return Outcome(
        "study totals",
        None,
        {"sums": found.sums, "printed": found.printed},
        text="\n".join(found.lines()),
        exit=1 if wrong else 0,
        error=wrong,
    )


study = group(
    "study",
    "Whole studies: train, ask, compare, draw.",
    {"check": check, "run": run, "table": table, "matrix": matrix, "totals": totals},
)
