"""clinqa show: what a dataset holds, how two builds differ, and a picture of it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clinqa.cli.options import Json
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

if TYPE_CHECKING:
    from clinqa.core.choice_summary import ChoiceSummary
    from clinqa.core.pair_summary import PairSummary
    from clinqa.core.summary import Summary
    from clinqa.dataset.discord import DiscordTable
    from clinqa.present.tables import Canvas

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
    from clinqa.core.cells import refuse_existing
    from clinqa.core.errors import ConfigError

    if other is None and out is not None:
        raise ConfigError("--out goes with --compare; for a picture use --plot")
    if other is not None and (plot is not None or examples):
        raise ConfigError("--compare goes without --plot and --examples")
    if out is not None:
        refuse_existing(out, ".csv")
    if plot is not None:
        refuse_existing(plot, ".svg", ".pdf", ".png")
    if other is not None:
        return _compare(directory, other, out)
    if _kind(directory) == "true_false":
        return _pairs(directory, examples, plot, dark)
    if _kind(directory) == "multiple_choice":
        if examples:
            raise ConfigError("--examples shows text of reports or documents, not of questions")
        return _choices(directory, plot, dark)
    return _summary(directory, plot, dark, pack_dir, 0 if json else examples)


def _kind(directory: Path) -> str:
    from clinqa.dataset.reader import kind_of
    from clinqa.dataset.summary import read_manifest

    read_manifest(directory)
    kind = kind_of(directory)
    return kind.name if kind else ""


def _choices(directory: Path, plot: Path | None, dark: bool) -> Outcome:
    """A dataset of multiple-choice items; no text of it is shown."""
    from clinqa.dataset.choice_summary import summarise_choices
    from clinqa.present.bars import plot_choices
    from clinqa.present.choices import render_choices

    summary = summarise_choices(directory)
    if plot is not None:
        plot_choices(summary, plot, dark=dark)
    return _shown(directory, summary, render_choices(summary, _canvas()), plot)


def _shown(
    directory: Path, summary: ChoiceSummary | PairSummary, text: str, plot: Path | None
) -> Outcome:
    if plot is not None:
        text += f"\npicture: {visible(str(plot))}\n"
    warnings = list(summary.warnings)
    return Outcome(
        "show", plot or directory, summary.as_json(), warnings, text, coloured=_canvas().colour
    )


def _pairs(directory: Path, examples: int, plot: Path | None, dark: bool) -> Outcome:
    """A dataset of statement pairs; with examples, text of the documents is quoted."""
    from clinqa.dataset.pair_summary import summarise_pairs
    from clinqa.present.bars import plot_pairs
    from clinqa.present.pairs import render_pairs

    summary = summarise_pairs(directory, examples)
    if plot is not None:
        plot_pairs(summary, plot, dark=dark)
    return _shown(directory, summary, render_pairs(summary, _canvas()), plot)


def _summary(
    directory: Path, plot: Path | None, dark: bool, pack_dir: Path | None, examples: int
) -> Outcome:
    from clinqa.dataset.summary import summarise
    from clinqa.present.terminal import render_summary

    table = _discord_table(directory, pack_dir)
    summary = summarise(directory, table)
    if plot is not None:
        from clinqa.present.plot import plot_summary

        plot_summary(summary, plot, dark=dark, names=_names(directory, pack_dir))
    canvas = _canvas()
    text = render_summary(summary, canvas)
    if plot is not None:
        text += f"\npicture: {visible(str(plot))}\n"
    if examples and table is not None:
        text += _examples(summary, table, directory, examples)
    warnings = list(summary.warnings)
    return Outcome(
        "show", plot or directory, summary.as_json(), warnings, text, coloured=canvas.colour
    )


def _compare(directory: Path, other: Path, out: Path | None) -> Outcome:
    from clinqa.dataset.compare import compare_with_changes
    from clinqa.present.differences import render_comparison

    comparison, changes = compare_with_changes(directory, other)
    canvas = _canvas()
    text = render_comparison(comparison, canvas)
    if out is not None:
        from clinqa.core.cells import csv_text, write_file
        from clinqa.core.data_class import is_private

        header = ("study_id", "abnormality", "before", "after")
        write_file(
            out, csv_text(header, changes.iter_rows()), private=is_private(comparison.data_class)
        )
        text += f"\n{comparison.changed:,} changes: {visible(str(out))}\n"
    warnings = list(comparison.warnings)
    return Outcome(
        "show", out or directory, comparison.as_json(), warnings, text, coloured=canvas.colour
    )


def _canvas() -> Canvas:
    """As wide as the terminal, coloured only on one; a pipe gets 100 columns."""
    from clinqa.present.tables import Canvas

    tty = sys.stdout.isatty()
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    return Canvas(
        width=shutil.get_terminal_size((100, 24)).columns,
        colour=tty and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        unicode=encoding.startswith("utf"),
    )


def _discord_table(directory: Path, pack_dir: Path | None) -> DiscordTable | None:
    """The discord table of the pack a dataset was built with; None where it has none."""
    from clinqa.dataset.discord import load_discord

    pack = _pack_of(directory, pack_dir)
    path = pack / "discord.yaml" if pack else None
    return load_discord(path) if path and path.is_file() else None


def _names(directory: Path, pack_dir: Path | None) -> dict[str, str]:
    """What the pack calls its abnormalities, for a picture."""
    from clinqa.packs.loader import load_pack

    pack = _pack_of(directory, pack_dir)
    if pack is None:
        return {}
    return {key: spec.name for key, spec in load_pack(pack).abnormalities.items()}


def _pack_of(directory: Path, pack_dir: Path | None) -> Path | None:
    """The folder of a dataset's pack: the one given, or ours of the name in the manifest."""
    from clinqa.core.errors import ConfigError
    from clinqa.dataset.summary import read_manifest, written_in
    from clinqa.packs.loader import pack_folder

    if pack_dir is not None:
        return pack_dir
    name = written_in(read_manifest(directory), "pack")
    # the name is a word of the manifest: it may choose a pack of ours, and no other file
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        return None
    try:
        return pack_folder(name)
    except ConfigError:  # built with a pack of somebody else's
        return None


def _examples(summary: Summary, table: DiscordTable, directory: Path, limit: int) -> str:
    from clinqa.cli.terminal import one_line
    from clinqa.core.data_class import is_private
    from clinqa.dataset.discord import discord_examples

    lines = ["", "Statements in discord"]
    if is_private(summary.data_class):
        lines = [
            "",
            "=" * 72,
            f"What follows is text of {summary.data_class} reports. Keep it where the reports",
            "may be: do not paste, publish or send it.",
            "=" * 72,
            "Statements in discord",
        ]
    for study, measurement, level, text in discord_examples(directory, table, limit):
        name = f"{visible(study)}  {visible(measurement)}"
        lines.append(f"  {name}, labelled {level}: {one_line(text)}")
    return "\n".join(lines) + "\n"
