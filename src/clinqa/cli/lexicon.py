"""clinqa lexicon: find statements the lexicon does not know, and take an expert's word for them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.commands import Limit, group
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible

__all__ = ["lexicon"]


def propose(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A finished dataset folder.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE.tsv", help="The table; it must not exist yet.")
    ],
    limit: Limit = None,
) -> Outcome:
    """List statements outside the lexicon by frequency, with the grammar's reading.

    The table holds statements of the reports. Write "yes" in its column accept where the labels
    are right or mended, and give it to `lexicon accept`.
    """
    from clinqa.builders.reports.lexicon.propose import propose as write
    from clinqa.core.records import is_private

    found = write(directory, out, limit=limit)
    lines = [
        f"{found.rows:,} of {found.unknown:,} statements outside the lexicon: {visible(str(out))}",
        "the lexicon covers, of all statements in the reports:",
    ]
    for point in found.curve:
        when = "now" if point.accepted == 0 else f"after the first {point.accepted:,}"
        lines.append(f"  {point.share:7.2%}  {when}")
    warnings = []
    if is_private(found.data_class):
        warnings.append(
            f"{out} holds statements of {found.data_class or 'unclassed'} reports: "
            "keep it where the reports may be"
        )
    return Outcome("lexicon propose", out, asdict(found), warnings, "\n".join(lines))


def accept(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.tsv", help="Columns structure, statement, labels; accept."),
    ],
    new: Annotated[
        Path,
        typer.Option("--pack-dir", metavar="NEWDIR", help="The new pack; it must not exist yet."),
    ],
    base: Annotated[
        str,
        typer.Option("--base", metavar="PACK", help="The pack to copy: a name of ours, a folder."),
    ] = "echo",
    replace: Annotated[
        bool,
        typer.Option("--replace", help="The table wins where it contradicts the pack."),
    ] = False,
) -> Outcome:
    """Merge an expert's table into a copy of a pack, for `build --pack-dir NEWDIR`.

    A bad row is an error with its line, and nothing is written.
    """
    from clinqa.builders.reports.lexicon.accept import accept as merge
    from clinqa.core.records import is_private

    found = merge(file, new, base=base, replace=replace)
    name = visible(str(new))
    text = (
        f"{found.read:,} rows: {found.added:,} added, {found.replaced:,} replaced, "
        f"{found.unchanged:,} known already, {found.skipped:,} not accepted\n"
        f"pack: {name} (use it with --pack-dir {name})"
    )
    warnings = []
    if found.undecided:
        warnings.append(
            f"{found.undecided} rows say neither yes nor no in the column accept and were left out"
        )
    if not found.decided:
        warnings.append("the table has no column accept: every row was taken")
    if not found.read - found.skipped:
        warnings.append("no row is accepted, so the new pack is the old one: write yes in accept")
    if found.data_class and is_private(found.data_class):
        warnings.append(
            f"{new} holds statements of {found.data_class} reports: "
            "keep it where the reports may be"
        )
    return Outcome("lexicon accept", new, asdict(found), warnings, text)


lexicon = group(
    "lexicon", "Curate the statements a pack knows.", {"propose": propose, "accept": accept}
)
