"""clinqa simulate: made reports whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import DryRun, Json, Seed
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

__all__ = ["simulate"]

simulate = typer.Typer(
    name="simulate", help="Write made reports whose truth is known.", rich_markup_mode=None
)


@simulate.callback()
def domains() -> None:
    """Write made reports whose truth is known."""


@simulate.command("echo")
def echo(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE.csv", help="The reports; FILE.gold.jsonl lies beside."),
    ],
    studies: Annotated[
        int, typer.Option("--studies", min=1, metavar="N", help="How many reports.")
    ] = 400,
    seed: Seed = 0,
    workers: Annotated[
        int,
        typer.Option("--workers", min=1, metavar="N", help="Processes; the bytes are the same."),
    ] = 1,
    dry_run: DryRun = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Write over an earlier simulation of that name.")
    ] = False,
    json: Json = False,
) -> Outcome:
    """Echocardiogram reports in the MIMIC-III layout."""
    from clinqa.core.errors import ConfigError
    from clinqa.simulate.echo import gold_path
    from clinqa.simulate.echo import simulate as write

    gold = gold_path(out)
    # the truth beside it is the mark of a simulation: real reports are never written over
    ours = fresh and gold.is_file()
    if out.exists() and not ours:
        hint = "is no simulation of ours" if fresh else "exists (--fresh writes over a simulation)"
        raise ConfigError(f"{out} {hint}; choose another --out")
    if dry_run:
        return Outcome(
            "simulate echo",
            out,
            {"studies": studies},
            text=f"would write {studies:,} reports to {out} and their truth to {gold}",
        )
    made = write(studies, seed, out, workers=workers, overwrite=ours)
    counts = {"studies": made.studies, "subjects": made.subjects, "rows": made.rows}
    return Outcome(
        "simulate echo",
        out,
        counts,
        text=f"{made.studies:,} reports of {made.subjects:,} patients in {visible(str(out))}\n"
        f"their truth in {visible(str(gold))}",
    )
