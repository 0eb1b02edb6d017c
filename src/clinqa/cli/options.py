"""The options that verbs share, worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.core.records import DataClass

__all__ = [
    "ApiKeyEnv",
    "ApiVersion",
    "Attestations",
    "BaseUrl",
    "Class",
    "DryRun",
    "Fresh",
    "Json",
    "Limit",
    "MaxCost",
    "MaxParallel",
    "Out",
    "Prices",
    "Region",
    "Seed",
    "Timeout",
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
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
Class = Annotated[
    DataClass, typer.Option("--data-class", help="How far the text may travel; results inherit it.")
]
RaisedClass = Annotated[
    DataClass | None,
    typer.Option("--data-class", help="That of what is read, unless it is raised here."),
]
Resamples = Annotated[
    int,
    typer.Option(
        "--resamples", min=100, metavar="N", help="Samples drawn, for intervals and tests."
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to stdout, also on errors.")
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Delete our own results in the output folder and start again."),
]

# of models behind a server
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Where a remote model is served.")
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="NAME", help="Environment variable with the key."),
]
ApiVersion = Annotated[str | None, typer.Option("--api-version", metavar="V", help="For azure.")]
Region = Annotated[str | None, typer.Option("--region", metavar="R", help="For bedrock.")]
MaxParallel = Annotated[
    int, typer.Option("--max-parallel", min=1, metavar="N", help="Requests at once.")
]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="For one request.")
]
Prices = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Prices for a million tokens, YAML.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="X", help="Stop, resumable, before more is spent."),
]
Attestations = Annotated[
    Path | None,
    typer.Option(
        "--attestations", metavar="FILE", help="Which hosts may see restricted text, and why."
    ),
]

# of what is read
DatasetArgument = Annotated[Path, typer.Argument(metavar="DATASET", help="The folder of a build.")]
RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Folders made by clinqa predict on it.")
]
AnswerBase = Annotated[
    int | None,
    typer.Option(
        "--answer-base",
        min=0,
        max=1,
        help="Where numbers of options begin, if the file itself does not tell.",
    ),
]
BuildPack = Annotated[
    Path | None,
    typer.Option("--pack-dir", metavar="DIR", help="Your own pack instead of the shipped one."),
]
DatasetPack = Annotated[
    Path | None,
    typer.Option("--pack-dir", metavar="DIR", help="The pack the dataset was built with."),
]
