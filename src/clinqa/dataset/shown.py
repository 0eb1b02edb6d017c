"""What a dataset, or two of one source, have to say of themselves: whatever their kind tells."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import open_dataset
from clinqa.kinds.facets.describes import Describes, Description

__all__ = ["described", "side_by_side"]

_BROKEN = (pl.exceptions.PolarsError, pa.ArrowException, OSError, KeyError)


def described(folder: Path, examples: int = 0, pack_dir: Path | None = None) -> Description:
    """All that `show` says of the dataset in `folder`.

    `examples` is how many texts of the source are quoted of each thing that has some; ConfigError
    where the kind quotes none, and where a file is damaged.
    """
    dataset = open_dataset(folder)
    facet: Describes = dataset.kind.facet("describes")
    if examples and not facet.quotes:
        raise ConfigError(
            f"--examples shows text of the source; of {dataset.kind.title} items none is shown"
        )
    try:
        found = facet.show(dataset, examples, pack_dir)
    except _BROKEN as error:
        # the library's message may quote a value of the file: only its kind is passed on
        raise _damaged(str(folder), error, "the folder") from error
    dataset.finished.unchanged()
    return found


def side_by_side(folder: Path, other: Path) -> Description:
    """What moves from the dataset in `folder` to the one in `other`."""
    one, two = open_dataset(folder), open_dataset(other)
    facet: Describes = one.kind.facet("describes")
    if facet.compare is None or two.kind.name != one.kind.name:
        raise ConfigError(
            f"--compare shows which labels move; {one.kind.title} items of {folder} and "
            f"{two.kind.title} items of {other} have none to compare"
        )
    try:
        found = facet.compare(one, two)
    except _BROKEN as error:
        raise _damaged(f"{folder} or {other}", error, "both folders") from error
    for read in (one, two):
        read.finished.unchanged()
    return found


def _damaged(where: str, error: Exception, what: str) -> ConfigError:
    return ConfigError(
        f"{where}: a Parquet file is damaged or lacks a column ({type(error).__name__}); "
        f"run `clinqa verify` on {what}"
    )
