"""clinqa demo: the whole line on made reports, so that a newcomer sees what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli import build, simulate
from clinqa.cli.options import Json, Seed
from clinqa.cli.outcome import Outcome
from clinqa.cli.show import show
from clinqa.cli.verify import verify
from clinqa.core.errors import ConfigError

__all__ = ["demo"]

REPORTS = "reports.csv"
DATASET = "dataset"


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the demo: absent, empty, ours.")
    ] = Path("demo"),
    studies: Annotated[
        int, typer.Option("--studies", min=1, metavar="N", help="How many reports to make.")
    ] = 400,
    seed: Seed = 0,
    json: Json = False,
) -> Outcome:
    """Made reports to a checked dataset, in one go."""
    refuse_foreign(out)
    out.mkdir(parents=True, exist_ok=True)
    reports, dataset = out / REPORTS, out / DATASET
    made = simulate.echo(reports, studies=studies, seed=seed, fresh=reports.exists())
    built = build.echo([reports], dataset, seed=seed, fresh=dataset.exists())
    checked = verify(dataset, [reports])
    shown = show(dataset)
    text = f"""\
1. Reports, made up: nothing in them is about anyone
{indent(made.text)}

2. Dataset (clinqa build echo {reports} --out {dataset})
{indent(built.text)}

3. Check (clinqa verify {dataset} --source {reports})
{indent(checked.text)}

4. Summary (clinqa show {dataset})
{indent(shown.text)}

The results lie in {dataset}: start with {dataset / "README.md"}.
Load them in Python: datasets.load_dataset("{dataset}")"""
    return Outcome(
        "demo",
        out,
        built.counts,
        [*built.warnings, *shown.warnings],
        text,
        checked.exit,
        checked.error,
    )


def refuse_foreign(out: Path) -> None:
    """A demo is written over an earlier demo only, never over anybody's folder."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ConfigError(f"{out} is not a folder of ours; name another with --out")
    if out.is_dir():
        strangers = sorted(
            entry.name
            for entry in out.iterdir()
            if entry.name != DATASET and not entry.name.startswith("reports.")
        )
        if strangers:
            raise ConfigError(
                f"{out} holds {len(strangers)} things no demo wrote ({strangers[0]}, ...);"
                " name another folder with --out"
            )


def indent(text: str) -> str:
    """The text, set in by three blanks."""
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())
