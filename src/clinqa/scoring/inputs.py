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

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import Kind
from clinqa.core.schema import PREDICTIONS
from clinqa.dataset.reader import Dataset

__all__ = ["PREDICTIONS_FILE", "Items", "Run", "check_items", "load_items", "open_runs"]

PREDICTIONS_FILE = "predictions.parquet"
_NEEDED = (
    *("item_id", "repeat", "output", "answer", "answer_status"),
    *("input_tokens", "output_tokens", "seconds"),
)
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

    def predictions(self, also: Sequence[str] = ()) -> pa.Table:
        """Every answer; sorted by item and repeat, so that no row order matters. `also` are
        columns that only some kinds need."""
        try:
            table = pq.ParquetFile(self.folder / PREDICTIONS_FILE).read()
        except (OSError, pa.ArrowException) as error:
            raise ConfigError(
                f"{self.folder / PREDICTIONS_FILE}: cannot be read ({type(error).__name__}); "
                "run predict again"
            ) from error
        table = self._checked(table, (*_NEEDED, *also))
        return table.sort_by([("item_id", "ascending"), ("repeat", "ascending")])

    def _checked(self, table: pa.Table, needed: Sequence[str]) -> pa.Table:
        """The columns that are scored, each of its type; ConfigError where one is not there."""
        path = self.folder / PREDICTIONS_FILE
        lacking = [name for name in needed if name not in table.column_names]
        if lacking:
            raise ConfigError(f"{path}: lacks {', '.join(lacking)}; run predict again")
        schema = pa.schema([PREDICTIONS.field(name) for name in needed])
        try:
            table = table.select(needed).cast(schema)
        except (pa.ArrowException, ValueError) as error:
            raise ConfigError(
                f"{path}: its columns are not of the types that predict writes; run predict again"
            ) from error
        empty = [n for n in ("item_id", "repeat", "answer_status") if table[n].null_count]
        if empty:
            raise ConfigError(f"{path}: rows without {', '.join(empty)}; run predict again")
        return table


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
            f"{dataset.folder}: split {split} holds items of kind {', '.join(sorted(kinds))}; "
            "long_form, true_false and multiple_choice are scored, one kind a split"
        )
    if not len(table):
        raise ConfigError(f"{dataset.folder}: split {split} holds no items")
    check_items(dataset, split)
    groups = pc.dictionary_encode(table["group"].combine_chunks())
    codes = groups.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Items(table, codes, len(groups.dictionary))


def check_items(dataset: Dataset, split: str) -> None:
    """The split's files are those that the build wrote."""
    for path in sorted((dataset.folder / "data").glob(f"{split}-*.parquet")):
        _check_file(path, f"data/{path.name}", dataset.manifest, "build it again")


def _check_file(path: Path, name: str, manifest: Manifest, remedy: str) -> str:
    """The file's SHA-256; CheckFailed where its folder's manifest has another, or none."""
    stated = {record.name: record.sha256 for record in manifest.outputs}.get(name)
    found = sha256_file(path)
    if stated is None:
        raise CheckFailed(f"{path}: its manifest does not list it; {remedy}")
    if found != stated:
        raise CheckFailed(f"{path}: changed since it was made (SHA-256); {remedy}")
    return found


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
    for key in ("model", "shots", "split"):
        if manifest.identity.get(key) != manifest.configuration[key]:
            raise ConfigError(f"{folder / MANIFEST}: says two things of {key}; was it edited?")
    if made_on != dataset.manifest.fingerprint:
        raise ConfigError(
            f"{folder}: a run on another dataset (fingerprint {made_on[:12]}, while "
            f"{dataset.folder} has {dataset.manifest.fingerprint[:12]}); score it with its own"
        )
    shots = manifest.configuration["shots"]
    if not isinstance(shots, int) or isinstance(shots, bool) or shots < 0:
        raise ConfigError(f"{folder / MANIFEST}: shots is no number of examples; is it damaged?")
    path = folder / PREDICTIONS_FILE
    return Run(name, folder, manifest, _check_file(path, path.name, manifest, "run predict again"))


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
