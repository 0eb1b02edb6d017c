"""clinqa simulate: made reports whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import DryRun, Json, Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.terminal import Progress

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
    dry_run: DryRun = False,
    json: Json = False,
) -> Outcome:
    """Echocardiogram reports in the MIMIC-III layout."""
    gold = out.with_suffix(".gold.jsonl")
    if dry_run:
        return Outcome(
            "simulate echo",
            out,
            {"studies": studies},
            text=f"would write {studies:,} reports to {out} and their truth to {gold}",
        )
    from clinqa.simulate.echo import simulate as write

    with Progress() as progress:
        write(out, studies=studies, seed=seed, progress=progress)
    return Outcome(
        "simulate echo",
        out,
        {"studies": studies},
        text=f"{studies:,} reports in {out}\ntheir truth in {gold}",
    )
