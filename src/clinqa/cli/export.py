"""clinqa export: a dataset in the format of another tool."""

from __future__ import annotations

from clinqa.cli.commands import DirectoryArgument, Out
from clinqa.cli.outcome import Outcome
from clinqa.core.visible import visible
from clinqa.core.wording import many
from clinqa.dataset.export_options import ExportOptions

__all__ = ["export"]


def export(directory: DirectoryArgument, out: Out, options: ExportOptions) -> Outcome:
    """Write a dataset for another tool."""
    from clinqa.dataset.export import export as write

    result = write(directory, out, options)
    counts = result.counts
    text = (
        f"{many(counts['items'], 'item')} in {many(counts['files'], 'file')}: {visible(str(out))}"
    )
    return Outcome("export", out, counts, result.warnings, text)
