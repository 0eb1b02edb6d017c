"""clinqa audit: is a run's score the same for every group of patients?"""

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

__all__ = ["audit"]

_NAME = "NAME"


def audit(
    dataset: DatasetArgument,
    runs: RunsArgument,
    groups: Annotated[
        list[Path],
        typer.Option(
            "--groups",
            metavar="TABLE",
            help="One row a patient, one a census tract, or (True/False) one a source document; "
            "every other column is a dimension. CSV or Parquet; may be given again.",
        ),
    ],
    out: Out,
    tract_map: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="Patient and tract, for a table of tracts."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="A score that is a mean over answers: token_f1 unless said otherwise; "
            "level_accuracy, error_dangerous_any, …; of statements accuracy, sensitivity, "
            "specificity; may be given again.",
        ),
    ] = None,
    dimension: Annotated[
        list[str] | None,
        typer.Option("--dimension", metavar=_NAME, help="Only these columns; all otherwise."),
    ] = None,
    intersect: Annotated[
        list[str] | None,
        typer.Option("--intersect", metavar="A,B[,C]", help="Two or three dimensions together."),
    ] = None,
    continuous: Annotated[
        list[str] | None,
        typer.Option("--continuous", metavar=_NAME, help="Cut this column at quartiles."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option("--categorical", metavar=_NAME, help="Take its numbers as categories."),
    ] = None,
    quantiles_over: Annotated[
        str,
        typer.Option(
            "--quantiles-over", metavar="patients|tracts|items", help="Quartiles of what."
        ),
    ] = "patients",
    min_patients: Annotated[
        int,
        typer.Option(
            "--min-patients", min=2, metavar="N", help="A group of fewer patients is withheld."
        ),
    ] = 10,
    patient_column: Annotated[
        str | None,
        typer.Option(
            "--patient-column",
            "--document-column",
            metavar=_NAME,
            help="The column of the patients' ids, or of the documents'.",
        ),
    ] = None,
    tract_column: Annotated[
        str | None, typer.Option("--tract-column", metavar=_NAME, help="The tracts' ids.")
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="WORD", help="A cell with this word is not known."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            "--scores",
            metavar="SCORES",
            help="What clinqa score wrote of these runs: nothing is scored again.",
        ),
    ] = None,
    resamples: Resamples = 1000,
    permutations: Annotated[
        int,
        typer.Option("--permutations", min=100, metavar="N", help="Permutations of attributes."),
    ] = 1000,
    pack_dir: DatasetPack = None,
    data_class: RaisedClass = None,
    seed: Seed = 0,
    limit: Limit = None,
    dry_run: DryRun = False,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Audit runs for fairness: scores by group, gaps beside what chance alone gives.

    No row of a patient is printed or written; groups of few patients are withheld.
    """
    from clinqa.auditing.audit_options import AuditOptions
    from clinqa.auditing.audit_runs import audit as make

    options = AuditOptions(
        groups=groups,
        tract_map=tract_map,
        metrics=tuple(metric or ()),
        dimensions=tuple(dimension or ()),
        intersect=[[name.strip() for name in crossed.split(",")] for crossed in intersect or ()],
        continuous=tuple(continuous or ()),
        categorical=tuple(categorical or ()),
        quantiles_over=quantiles_over,
        min_patients=min_patients,
        patient_column=patient_column,
        tract_column=tract_column,
        missing=tuple(missing or ()),
        scores=scores,
        draws=resamples,
        permutations=permutations,
        pack_dir=pack_dir,
        data_class=data_class,
        seed=seed,
        limit=limit,
        dry_run=dry_run,
        fresh=fresh,
    )
    with Progress() as progress:
        result = make(dataset, runs, out, options, progress)
    lines = [*result.lines, *([] if dry_run else [f"audit in {out}"])]
    return Outcome("audit", out, result.counts, result.warnings, text="\n".join(lines))
