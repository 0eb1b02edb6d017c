"""clinqa verify: check a dataset folder against its own manifest and, when given, its source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.outcome import Outcome

__all__ = ["verify"]

NAMED = 3  # in the one line; stdout and --json name them all


def verify(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")],
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--source", metavar="INPUT", help="The reports it was built from; repeat for more."
        ),
    ] = None,
) -> Outcome:
    """Check a dataset: does all that it claims hold?

    Hashes, totals, splits, ids and, with --source, every span.
    Exit 1 names what broke.
    """
    from clinqa.dataset.verify import told_beside
    from clinqa.dataset.verify import verify as check

    found = [str(problem) for problem in check(directory, source or None)]
    if not found:
        held = "everything checked holds" + (", spans too" if source else "")
        counts, told = told_beside(directory)
        text = f"{directory}: {held}" + (f"\n{told}" if told else "")
        return Outcome("verify", directory, {"problems": 0, **counts}, text=text)
    more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return Outcome(
        "verify",
        directory,
        {"problems": len(found), "found": found},
        text="\n".join(found),
        exit=1,
        error=f"{directory}: {'; '.join(found[:NAMED])}{more}",
    )
