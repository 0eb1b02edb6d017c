"""clinqa verify: check a dataset folder against its own manifest and, when given, its source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clinqa.cli.options import Json
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
    json: Json = False,
) -> Outcome:
    """Check a dataset: does all that it claims hold?

    Hashes, totals, splits, ids and, with --source, every span.
    Exit 1 names what broke.
    """
    from clinqa.dataset.verify import verify as check

    found = [str(problem) for problem in check(directory, source or None)]
    if not found:
        held = "everything checked holds" + (", spans too" if source else "")
        counts, told = _probed(directory)
        text = f"{directory}: {held}{told}"
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


def _probed(directory: Path) -> tuple[dict[str, object], str]:
    """The shortcut probe of a dataset of statement pairs; nothing of any other."""
    from clinqa.core.manifest import Manifest
    from clinqa.core.outfolder import MANIFEST
    from clinqa.dataset.verify_pairs import is_pairs, probe_of

    manifest = Manifest.read(directory / MANIFEST)
    if not is_pairs(manifest):
        return {}, ""
    found = probe_of(directory, manifest)
    if found.accuracy is None:
        return {"probe": None}, f"\nshortcut probe: too few pairs ({found.pairs:,}) to say anything"
    one = found.accuracy
    told = (
        f"\nshortcut probe: labels told from the wording alone with accuracy {one.value:.3f} "
        f"({one.low:.3f} to {one.high:.3f}; {one.clusters:,} pairs; chance is 0.5)"
    )
    return {"probe": found.as_json()}, told
