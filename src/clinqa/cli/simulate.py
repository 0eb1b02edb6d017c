"""clinqa simulate: made reports whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.commands import DryRun, Seed, group
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

__all__ = ["simulate"]


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


def cohort(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="A dataset of long-form items.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Tables and scripts: absent or empty.")
    ],
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="NAME",
            help="Where the unfair answerer is unfair: income, "
            "schooling (tracts); age, sex, race, insurance (patients).",
        ),
    ] = "income",
    drop: Annotated[
        float,
        typer.Option("--drop", metavar="X", help="How much less often it is right about them."),
    ] = 0.15,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Replies an item.")
    ] = 3,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="The split to answer.")
    ] = "test",
    seed: Seed = 0,
    dry_run: DryRun = False,
) -> Outcome:
    """Social determinants for a dataset's patients, and a fair and an unfair answerer.

    Ask with: clinqa predict DATASET --model scripted:DIR/unfair.jsonl --repeats N --vary sampling
    --out RUN
    """
    from clinqa.core.errors import ConfigError
    from clinqa.dataset.reader import open_dataset
    from clinqa.simulate.answerers import FILES, AnswererItem, Effect, write_cohort

    opened = open_dataset(dataset)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out}: is there already; name an absent or empty folder")
    table = opened.items(split, ["id", "group", "category", "level", "answer"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    items = [AnswererItem(*row) for row in rows]
    if dry_run:
        told = f"would write {', '.join(FILES)} for {len(items):,} items to {out}"
        return Outcome("simulate cohort", out, {"items": len(items)}, text=told)
    made = write_cohort(items, out, seed=seed, effect=Effect(on, drop), repeats=repeats)
    counts = {"items": len(items), "patients": len(made.patients)}
    where = visible(str(out))
    return Outcome(
        "simulate cohort",
        out,
        counts,
        text=f"{len(made.patients):,} patients with attributes in {where}\n"
        f"clinqa predict {visible(str(dataset))} --model scripted:{where}/unfair.jsonl "
        f"--repeats {repeats} --vary sampling --out RUN",
    )


simulate = group(
    "simulate", "Write made reports whose truth is known.", {"echo": echo, "cohort": cohort}
)
