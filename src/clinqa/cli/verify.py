"""clinqa verify: check a dataset folder against its own manifest and, when given, its source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import Json
from clinqa.cli.outcome import Outcome

__all__ = ["verify"]


def verify(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")],
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--source", metavar="INPUT", help="The reports it was built from; repeat for more."
        ),
    ] = None,
    json: Json = False,
) -> Outcome:
    """Check a dataset: hashes, totals, splits, ids and, with --source, every span.

    Exit 1 names what broke.
    """
    from clinqa.dataset import verify as room

    problems = room.verify(directory, source or None)
    lines = [str(problem) for problem in problems]
    if not lines:
        return Outcome(
            "verify", directory, {"problems": 0}, text=f"{directory}: everything checked holds"
        )
    return Outcome(
        "verify",
        directory,
        {"problems": len(lines)},
        text="\n".join(lines),
        exit=1,
        error=f"{directory}: {len(lines)} checks failed: {lines[0]}",
    )
