"""The arguments that verbs share, worded once. Their options are dataclasses of their rooms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "BuildArgument",
    "DatasetArgument",
    "DirectoryArgument",
    "DryRun",
    "Json",
    "Limit",
    "Out",
    "RunsArgument",
    "Seed",
]

Out = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="Folder of the results: absent, empty, or ours."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be read and written, and stop.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Read the first N only.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to stdout, also on errors.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of a build.")]
BuildArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="Folder made by a build.")]
RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Folders made by clinqa predict on it.")
]
DirectoryArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")
]
