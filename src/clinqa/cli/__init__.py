"""The command `clinqa`. One file a verb; no science here.

A verb is a function with typer annotations that returns an `Outcome` (or raises a `ClinqaError`);
`run` alone prints, so that `--json`, exit codes and quiet pipes hold for every verb. Rooms are
imported inside the functions: `clinqa --help` must stay instant.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the entry point of `clinqa`."""
    try:
        from clinqa.cli.command_line import run

        return run(argv)
    except KeyboardInterrupt:  # Ctrl-C while Python still loads or the command line is read
        sys.stderr.write("error: interrupted; run the same command again\n")
        return 130
