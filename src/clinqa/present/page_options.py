"""What `clinqa report` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clinqa.core.options import ReadingOptions, option

__all__ = ["PageOptions"]


@dataclass(frozen=True, kw_only=True)
class PageOptions(ReadingOptions):
    """Everything that it can be told."""

    examples: bool = option(
        True,
        flags="--examples/--no-examples",
        help="Show the worst answers: text of the records.",
    )
    figures: Path | None = option(
        None,
        metavar="DIR",
        help="Also figures as SVG and PDF, tables as CSV and LaTeX, into this folder.",
    )
    title: str = option("", metavar="TEXT", help="The page's title.")
    dry_run: bool = option(False, shown=False)
    fresh: bool = option(False, help="Delete our own earlier figures in --figures first.")
