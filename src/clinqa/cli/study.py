"""clinqa study: from a study file to a paper's table; or the statistics of a table alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import DryRun, Fresh, Json, Out, Resamples, Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import Progress
from clinqa.core.records import DataClass

__all__ = ["study"]

study = typer.Typer(
    name="study", help="Whole studies: train, ask, compare, draw.", rich_markup_mode=None
)

File = Annotated[Path, typer.Argument(metavar="STUDY.yaml", help="What is trained and compared.")]


@study.callback()
def studies() -> None:
    """Whole studies: train per specialty and on all, ask every model everything, compare."""


@study.command("check")
def check(file: File, json: Json = False) -> Outcome:
    """What a study would train and ask, and what it will not be able to say."""
    from clinqa.studying.run import check_study

    found = check_study(file)
    # what is worth a warning stands among the lines already
    return Outcome("study check", None, found.counts, text="\n".join(found.lines))


@study.command("run")
def run(
    file: File,
    out: Out,
    device: Annotated[str | None, typer.Option("--device", metavar="D")] = None,
    threads: Annotated[int | None, typer.Option("--threads", min=1, metavar="N")] = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Do all of a study that is not done yet; resumable in the middle of a training or a run."""
    from clinqa.studying.run import check_study, run_study

    if dry_run:
        found = check_study(file)
        return Outcome("study run", out, found.counts, text="\n".join(found.lines))
    with Progress() as progress:
        found = run_study(file, out, device=device, threads=threads, fresh=fresh, progress=progress)
    lines = [*found.lines, f"study in {out}"]
    return Outcome("study run", out, found.counts, found.warnings, text="\n".join(lines))


@study.command("table")
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
    model: Annotated[str, typer.Option("--model", metavar="M", help="Its name, as shown.")] = "",
    draws: Resamples = 2000,
    data_class: Annotated[
        DataClass, typer.Option("--data-class", help="How far the table may travel.")
    ] = DataClass.PUBLIC,
    seed: Seed = 0,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Matrix, tests and picture of answers that were made elsewhere."""
    from clinqa.studying.run import cross_tables

    found = cross_tables(
        tables,
        out,
        model=model or "models of the table",
        data_class=data_class,
        seed=seed,
        draws=draws,
        fresh=fresh,
    )
    lines = [*found.lines, f"study in {out}"]
    return Outcome("study table", out, found.counts, found.warnings, text="\n".join(lines))


@study.command("matrix")
def matrix(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="MATRIX.csv", help="As printed: trained on downwards, tested on across."
        ),
    ],
    json: Json = False,
) -> Outcome:
    """What the diagonal of a printed matrix says, with its permutation test."""
    from clinqa.studying.printed import figures_of, lines_of, read_matrix

    printed = read_matrix(file)
    return Outcome("study matrix", None, figures_of(printed), text="\n".join(lines_of(printed)))


@study.command("totals")
def totals(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE.csv", help="Counts as printed; the row of totals is named total."
        ),
    ],
    json: Json = False,
) -> Outcome:
    """Do the rows of a printed table sum to its printed totals? Exit 1 where they do not."""
    from clinqa.studying.totals import read_totals

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
