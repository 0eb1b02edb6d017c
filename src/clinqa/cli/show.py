"""clinqa show: what a dataset holds, how two builds differ, and a picture of it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clinqa.cli.commands import Json
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

if TYPE_CHECKING:
    from clinqa.present.terminal import TextPage

__all__ = ["show"]


def show(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")],
    other: Annotated[
        Path | None,
        typer.Option(
            "--compare", metavar="DIR2", help="Another build of the same studies: what moves?"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE.csv", help="With --compare: every label that moves; a new file."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="A picture of it: a new .svg, .pdf or .png."),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="The picture on a dark ground.")] = False,
    pack_dir: Annotated[
        Path | None,
        typer.Option("--pack-dir", metavar="PACK", help="The pack it was built with, if not ours."),
    ] = None,
    examples: Annotated[
        int,
        typer.Option(
            "--examples",
            min=0,
            max=100,
            metavar="N",
            help="Show N statements a measurement in discord, or N rejects a reason: text of the"
            " source.",
        ),
    ] = 0,
    json: Json = False,
) -> Outcome:
    """Show a dataset: flow, splits, items by abnormality or specialty, rejects; pairs: a funnel.

    With --compare DIR2: which labels move from DIR to DIR2.
    """
    from clinqa.core.cells import csv_text, refuse_existing, write_file
    from clinqa.core.errors import ConfigError
    from clinqa.core.records import is_private

    if other is None and out is not None:
        raise ConfigError("--out goes with --compare; for a picture use --plot")
    if other is not None and (plot is not None or examples):
        raise ConfigError("--compare goes without --plot and --examples")
    if out is not None:
        refuse_existing(out, ".csv")
    if plot is not None:
        refuse_existing(plot, ".svg", ".pdf", ".png")
    from clinqa.dataset.shown import described, side_by_side
    from clinqa.present.terminal import rendered

    page = _page()
    if other is None:
        found = described(directory, examples, pack_dir)
    else:
        found = side_by_side(directory, other)
    text = rendered(found.pieces, page)
    if plot is not None:
        if found.picture is None:
            raise ConfigError(f"--plot: there is no picture of the items of {directory}")
        from clinqa.present.canvas import marked
        from clinqa.present.plot import plot_dataset

        with marked(str(found.values.get("origin", ""))):
            plot_dataset(found.picture(), plot, dark=dark)
        text += f"\npicture: {visible(str(plot))}\n"
    if out is not None:
        header, rows = found.moved
        private = is_private(found.values["data_class"])
        write_file(out, csv_text(header, rows), private=private)
        text += f"\n{found.values['changed']:,} changes: {visible(str(out))}\n"
    text += "".join(f"{line}\n" for line in found.quoted)
    warnings = list(found.values["warnings"])
    where = out or plot or directory
    return Outcome("show", where, dict(found.values), warnings, text, coloured=page.colour)


def _page() -> TextPage:
    """As wide as the terminal, coloured only on one; a pipe gets 100 columns."""
    from clinqa.present.terminal import TextPage

    tty = sys.stdout.isatty()
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return TextPage(
        width=shutil.get_terminal_size((100, 24)).columns,
        colour=tty and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        unicode=encoding.startswith("utf"),
    )
