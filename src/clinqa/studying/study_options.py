"""What a study is asked for beside its file, and what a table of answers is."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.options import (
    DrawingOptions,
    Options,
    OutputOptions,
    ReadingOptions,
    SourceOptions,
    option,
    varied,
)
from clinqa.core.records import DataClass

__all__ = ["StudyOptions", "TableOptions"]


@dataclass(frozen=True, kw_only=True)
class StudyOptions(ReadingOptions):
    """Everything that `clinqa study run` can be told: what decides a figure is in the file."""

    device: str | None = option(None, metavar="D")
    threads: int | None = option(None, low=1, metavar="N")
    dry_run: bool = varied(OutputOptions, "dry_run")
    fresh: bool = varied(OutputOptions, "fresh")


@dataclass(frozen=True, kw_only=True)
class TableOptions(Options):
    """Everything that `clinqa study table` can be told."""

    model: str = option("", metavar="M", help="Its name, as shown.")
    draws: int = varied(DrawingOptions, "draws", 2000)
    data_class: DataClass = varied(
        SourceOptions, "data_class", help="How far the table may travel."
    )
    seed: int = varied(DrawingOptions, "seed")
    dry_run: bool = option(False, shown=False)
    fresh: bool = varied(OutputOptions, "fresh")
