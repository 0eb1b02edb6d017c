"""clinqa score: what runs answered, scored against the dataset they were asked from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import (
    DatasetArgument,
    DatasetPack,
    DryRun,
    Fresh,
    Json,
    Limit,
    Out,
    RaisedClass,
    Resamples,
    RunsArgument,
    Seed,
)
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import Progress

__all__ = ["score"]


def score(
    dataset: DatasetArgument,
    runs: RunsArgument,
    out: Out,
    primary: Annotated[
        str,
        typer.Option(
            "--primary",
            metavar="METRIC",
            help="The metric on which runs are declared compared; of other kinds accuracy.",
        ),
    ] = "token_f1",
    family: Annotated[
        str,
        typer.Option(
            "--family", metavar="all|vs:RUN", help="All pairs of runs, or one against every other."
        ),
    ] = "all",
    human: Annotated[
        Path | None,
        typer.Option(
            "--human",
            metavar="FILE.csv",
            help="People's verdicts on a random sample (item_id, verdict, and run if there are "
            "several): level accuracy is corrected by them.",
        ),
    ] = None,
    ensemble: Annotated[
        list[str] | None,
        typer.Option(
            "--ensemble",
            metavar="NAME=RUN,RUN,...",
            help="True/False: the majority vote of these runs, named beforehand; repeatable.",
        ),
    ] = None,
    search: Annotated[
        int | None,
        typer.Option(
            "--search", metavar="K", help="True/False: the best K runs; on validation alone."
        ),
    ] = None,
    ensemble_from: Annotated[
        Path | None,
        typer.Option(
            "--ensemble-from",
            metavar="SCORES",
            help="True/False: the winner of a --search on validation, scored here.",
        ),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="SCORES",
            help="True/False: the same models on another set; is their ranking kept?",
        ),
    ] = None,
    reader: Annotated[
        str,
        typer.Option(
            "--reader",
            metavar="R",
            help="Multiple choice: string, first_token or matcher decides the declared tests.",
        ),
    ] = "",
    annotated: Annotated[
        Path | None,
        typer.Option(
            "--annotated",
            metavar="FILE.jsonl",
            help="Multiple choice: outputs with the letter they commit to; trains the matcher.",
        ),
    ] = None,
    resamples: Resamples = 1000,
    pack_dir: DatasetPack = None,
    data_class: RaisedClass = None,
    seed: Seed = 0,
    limit: Limit = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Score runs: text metrics, clinical reading, intervals, paired tests.

    Every figure has an interval over patients; dangerous errors stand on their own. Runs on true
    and false statements: two-way figures over pairs, agreement, ensembles, difficulty. Runs on
    multiple choice: accuracy by order of the options and by reader, bias of position.
    """
    from clinqa.scoring.score_options import ScoreOptions
    from clinqa.scoring.score_runs import score as make

    options = ScoreOptions(
        primary=primary,
        family=family,
        human=human,
        pack_dir=pack_dir,
        draws=resamples,
        seed=seed,
        limit=limit,
        data_class=data_class,
        ensembles=tuple(ensemble or ()),
        search=search,
        ensemble_from=ensemble_from,
        against=tuple(against or ()),
        reader=reader,
        annotated=annotated,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = make(dataset, runs, out, options, progress)
    lines = [*result.lines, *([] if dry_run else [f"scores in {out}"])]
    return Outcome("score", out, result.counts, result.warnings, text="\n".join(lines))
