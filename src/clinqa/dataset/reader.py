"""Read a complete dataset folder, a column and a row group at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.inputs import open_parquet, read_parquet, readable
from clinqa.core.manifest import Manifest
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import SPLITS
from clinqa.kinds.registry import ItemKind, kinds

__all__ = ["Dataset", "kind_of", "open_dataset", "row_groups"]

_WIDE = ("context", "question", "source_id", "group", "study_id")

_ADVICE = "run `clinqa verify` on the dataset's folder"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset on disk. Nothing is read before it is asked for."""

    folder: Path
    manifest: Manifest

    def files(self, split: str) -> list[Path]:
        """The Parquet files of a split, in order."""
        if split not in SPLITS:
            raise ConfigError(f"no split {split!r}; there are {', '.join(SPLITS)}")
        names = [f.name for f in self.manifest.outputs if f.name.startswith(f"data/{split}-")]
        return [self.folder / name for name in sorted(names)]

    def batches(self, split: str, columns: Iterable[str] | None = None) -> Iterator[pa.Table]:
        """The items of a split, a row group at a time; long strings as dictionaries."""
        wanted = None if columns is None else list(columns)
        for path in self.files(split):
            with readable(path, advice=_ADVICE):
                yield from row_groups(path, wanted)

    def items(self, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """All items of a split, with plain strings."""
        return pa.concat_tables([self._read(path, columns) for path in self.files(split)])

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        """Another Parquet file of the folder; None where the manifest names none."""
        if not any(record.name == name for record in self.manifest.outputs):
            return None
        return self._read(self.folder / name, columns)

    @property
    def kind(self) -> ItemKind:
        """The kind of its items; ConfigError where that cannot be told."""
        kind = kind_of(self.folder)
        if kind is None:
            there = any((self.folder / "data").glob("*.parquet"))
            what = "items of a kind that is known" if there else "Parquet file"
            raise ConfigError(f"{self.folder}: data/ holds no {what}; build the dataset again")
        return kind

    def _read(self, path: Path, columns: Sequence[str] | None) -> pa.Table:
        return read_parquet(path, columns, advice=_ADVICE)


def open_dataset(folder: Path) -> Dataset:
    """The dataset in `folder`; ConfigError unless it is complete."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; give the --out of a build")
    if not (folder / MANIFEST).is_file():
        raise ConfigError(
            f"{folder}: no {MANIFEST}, so no complete dataset; run its build again to finish it"
        )
    return Dataset(folder, Manifest.read(folder / MANIFEST))


def kind_of(folder: Path) -> ItemKind | None:
    """The kind of a dataset's items: what their column `kind` says, or else what columns they have.

    None where no file of items can be read, and where the kind is none that is known.
    """
    names: list[str] = []
    for path in sorted((folder / "data").glob("*.parquet")):
        try:
            with open_parquet(path) as file:
                names = file.schema_arrow.names
                if file.metadata.num_rows:
                    told = file.read_row_group(0, ["kind"])["kind"][0].as_py()
                    return next((kind for kind in kinds() if kind.name == told), None)
        except (OSError, pa.ArrowException, KeyError):
            continue
    return next((one for one in kinds() if one.facet("columns").items.names == names), None)


def row_groups(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """A Parquet file's row groups, one after the other; long strings as dictionaries."""
    with open_parquet(path) as file:
        wide = [name for name in file.schema_arrow.names if name in _WIDE]
    with open_parquet(path, dictionaries=wide) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number, columns=columns)
