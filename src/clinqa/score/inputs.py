"""What is scored: the items of a split, and runs that answered them; refused where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset

__all__ = ["PREDICTIONS_FILE", "Items", "Run", "load_items", "open_runs"]

PREDICTIONS_FILE = "predictions.parquet"
_COLUMNS = (
    "id",
    "kind",
    "group",
    "question",
    "answer",
    "category",
    "source_id",
    "spans",
    "structure",
    "level",
    "question_type",
    "statement_seen",
)


@dataclass(frozen=True, slots=True)
class Run:
    """A finished RUN folder. `name` is the folder's; `id` is how figures call it, told apart from
    every other run wherever scores meet."""

    name: str
    folder: Path
    manifest: Manifest
    sha256: str

    @property
    def id(self) -> str:
        return f"{self.name}-{self.manifest.fingerprint[:8]}"

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self.manifest.configuration

    @property
    def model(self) -> str:
        return str(self.configuration["model"])

    @property
    def shots(self) -> int:
        return int(self.configuration["shots"])

    @property
    def split(self) -> str:
        return str(self.configuration["split"])

    @property
    def vary(self) -> str:
        """What its repeats vary; "deterministic" or "none" where there is nothing to vary."""
        return str(self.configuration.get("vary") or "none")

    @property
    def deterministic(self) -> bool:
        """Would asking again give the same answers?"""
        return self.vary == "deterministic"

    def predictions(self) -> pa.Table:
        """Every answer; sorted by item and repeat, so that no row order matters."""
        try:
            table = pq.ParquetFile(self.folder / PREDICTIONS_FILE).read()
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(
                f"{self.folder / PREDICTIONS_FILE}: cannot be read ({type(error).__name__}); "
                "run predict again"
            ) from error
        return table.sort_by([("item_id", "ascending"), ("repeat", "ascending")])


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a split, a row each; `cluster` numbers their patients in `clusters`."""

    table: pa.Table
    cluster: npt.NDArray[np.int64]
    clusters: int

    def __len__(self) -> int:
        return len(self.cluster)

    def column(self, name: str) -> list[Any]:
        """A column as Python values."""
        values: list[Any] = self.table[name].to_pylist()
        return values


def load_items(dataset: Dataset, split: str, limit: int | None = None) -> Items:
    """The long-form items of a split, sorted by id; the first of them under a limit."""
    table = dataset.items(split, _COLUMNS).sort_by("id").slice(0, limit)
    kinds = set(table["kind"].unique().to_pylist())
    if kinds - {Kind.LONG_FORM.value}:
        raise ConfigError(
            f"{dataset.folder}: holds items of kind {', '.join(sorted(kinds))}; "
            "this version scores long_form only"
        )
    if not len(table):
        raise ConfigError(f"{dataset.folder}: split {split} holds no items")
    groups = pc.dictionary_encode(table["group"].combine_chunks())
    codes = groups.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Items(table, codes, len(groups.dictionary))


def open_runs(folders: Sequence[Path], dataset: Dataset) -> list[Run]:
    """The runs, each complete and made on this dataset; named so that no two are alike."""
    if not folders:
        raise ConfigError("no RUN is given; name the --out of one or more predict runs")
    runs = []
    for name, folder in zip(_names(folders), folders, strict=True):
        runs.append(_open(name, folder, dataset))
    splits = sorted({run.split for run in runs})
    if len(splits) > 1:
        raise ConfigError(
            f"the runs answer different splits ({', '.join(splits)}); score each split by itself"
        )
    return runs


def _open(name: str, folder: Path, dataset: Dataset) -> Run:
    if not folder.is_dir():
        raise ConfigError(f"{folder}: no such folder; give the --out of predict")
    if not (folder / MANIFEST).is_file():
        raise ConfigError(
            f"{folder}: no {MANIFEST}, so no complete run; run its predict again to finish it"
        )
    manifest = Manifest.read(folder / MANIFEST)
    if manifest.verb != "predict" or not (folder / PREDICTIONS_FILE).is_file():
        raise ConfigError(f"{folder}: not a run of predict (made by {manifest.verb!r})")
    missing = [key for key in ("model", "shots", "split") if key not in manifest.configuration]
    made_on = _dataset_fingerprint(manifest)
    if missing or made_on is None:
        raise ConfigError(f"{folder}: its manifest does not say what it was asked; is it damaged?")
    if made_on != dataset.manifest.fingerprint:
        raise ConfigError(
            f"{folder}: a run on another dataset (fingerprint {made_on[:12]}, while "
            f"{dataset.folder} has {dataset.manifest.fingerprint[:12]}); score it with its own"
        )
    return Run(name, folder, manifest, sha256_file(folder / PREDICTIONS_FILE))


def _dataset_fingerprint(manifest: Manifest) -> str | None:
    found = manifest.configuration.get("dataset")
    return found if isinstance(found, str) else None


def _names(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell the folders apart."""
    paths = [folder.resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise ConfigError("the same RUN is given twice")
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]
