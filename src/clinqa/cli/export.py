"""clinqa export: a dataset in the format of another tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import Fresh, Json, Out
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

__all__ = ["export"]


class To(StrEnum):
    """Whose format."""

    CHAT = "chat"
    LM_EVAL = "lm-eval"
    INSPECT = "inspect"


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")],
    to: Annotated[
        To,
        typer.Option(
            "--to", help="chat: messages to fine-tune on; lm-eval, inspect: a task to run."
        ),
    ],
    out: Out,
    fresh: Fresh = False,
    json: Json = False,
) -> Outcome:
    """Write a dataset for another tool."""
    from clinqa.dataset.export import export as write

    manifest = write(directory, to.value, out, fresh=fresh)
    items = manifest.counts["items"].kept
    files = len(manifest.outputs)
    text = f"{items:,} items in {files} files: {visible(str(out))}"
    return Outcome("export", out, {"items": items, "files": files}, text=text)
