"""The options that verbs share, worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.core.records import DataClass

__all__ = ["Class", "DryRun", "Fresh", "Json", "Limit", "Out", "Seed"]

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
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
Class = Annotated[
    DataClass, typer.Option("--data-class", help="How far the text may travel; results inherit it.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to stdout, also on errors.")
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Delete our own results in the output folder and start again."),
]
