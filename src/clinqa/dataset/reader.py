"""Read a complete dataset folder, a column and a row group at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.core.finished import DATASET, Finished, FromFolder, open_finished
from clinqa.core.inputs import open_parquet, readable
from clinqa.core.manifest import FileRecord
from clinqa.core.records import SPLITS, DataClass
from clinqa.kinds.registry import ItemKind, kinds

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dataset", "kind_of", "open_dataset", "row_groups"]

_WIDE = ("context", "question", "source_id", "group", "study_id")


@dataclass(frozen=True, slots=True)
class Dataset(FromFolder):
    """A dataset on disk. Nothing is read before it is asked for, and then checked."""

    finished: Finished

    @property
    def data_class(self) -> DataClass:
        """The strictest that anything in the folder names."""
        return self.finished.data_class

    @property
    def origin(self) -> str:
        """Where its data are known to come from."""
        return self.finished.origin

    def files(self, split: str) -> list[str]:
        """The names of a split's Parquet files, in order."""
        if split not in SPLITS:
            raise ConfigError(f"no split {split!r}; there are {', '.join(SPLITS)}")
        return self.finished.names(f"data/{split}-")

    def records(self, *splits: str) -> list[FileRecord]:
        """What the files of these splits are known by."""
        return [self.finished.record(name) for split in splits for name in self.files(split)]

    def batches(self, split: str, columns: Iterable[str] | None = None) -> Iterator[pa.Table]:
        """The items of a split, a row group at a time; long strings as dictionaries."""
        wanted = None if columns is None else list(columns)
        for name in self.files(split):
            with (
                self.finished.opened(name) as file,
                readable(self.folder / name, advice=DATASET.again),
            ):
                yield from row_groups(file, wanted)

    def items(self, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All items of a split, with plain strings."""
        return pa.concat_tables(
            [self.finished.parquet(name, columns) for name in self.files(split)]
        )

    def scan(self, name: str) -> pl.LazyFrame:
        """A Parquet file of the folder, to be asked by polars; raises what `Finished` does."""
        return self.finished.scan(name)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Another Parquet file of the folder; None where the manifest names none."""
        return self.finished.parquet(name, columns) if name in self.finished else None

    @property
    def kind(self) -> ItemKind:
        """The kind of its items; ConfigError where that cannot be told."""
        names = self.finished.names("data/", ".parquet")
        kind = _kind_in(map(self.finished.parquet_file, names))
        if kind is None:
            what = "items of a kind that is known" if names else "Parquet file"
            raise ConfigError(f"{self.folder}: data/ holds no {what}; build the dataset again")
        return kind


def open_dataset(folder: Path, *, accept: bool | None = None) -> Dataset:
    """The dataset in `folder`; raises what `open_finished` does."""
    return Dataset(open_finished(folder, DATASET, accept=accept))


def kind_of(folder: Path) -> ItemKind | None:
    """The kind of the items in a folder that may be damaged.

    None where no file of items can be read, and where the kind is none that is known.
    """
    for path in sorted((folder / "data").glob("*.parquet")):
        with suppress(OSError, pa.ArrowException, KeyError):
            if (kind := _kind_in([open_parquet(path)])) is not None:
                return kind
    return None


def _kind_in(files: Iterable[AbstractContextManager[pq.ParquetFile]]) -> ItemKind | None:
    """What their column `kind` says, or else what columns they have."""
    names: list[str] = []
    for opened in files:
        with opened as file:
            names = file.schema_arrow.names
            if file.metadata.num_rows and "kind" in names:
                told = file.read_row_group(0, ["kind"])["kind"][0].as_py()
                return next((kind for kind in kinds() if kind.name == told), None)
    return next((one for one in kinds() if one.facet("columns").items.names == names), None)


def row_groups(source: Path | BinaryIO, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """A Parquet file's row groups, one after the other; long strings as dictionaries."""
    with open_parquet(source) as file:
        wide = [name for name in file.schema_arrow.names if name in _WIDE]
    with open_parquet(source, dictionaries=wide) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=columns)
