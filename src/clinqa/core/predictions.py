"""A finished RUN folder and its answers; refused where its files are not as predict wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.inputs import read_parquet
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.schema import PREDICTIONS

__all__ = ["PREDICTIONS_FILE", "FinishedRun", "check_file"]

PREDICTIONS_FILE = "predictions.parquet"
AGAIN = "run predict again"
_NEEDED = (
    *("item_id", "repeat", "output", "answer", "answer_status"),
    *("input_tokens", "output_tokens", "seconds"),
)
_NEVER_NULL = ("item_id", "repeat", "answer_status")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A complete RUN folder. `name` is the folder's; `id` is how figures call it, told apart from
    every other run wherever scores meet."""

    name: str
    folder: Path
    manifest: Manifest
    sha256: str

    @property
    def id(self) -> str:
        return f"{self.name}-{self.manifest.fingerprint[:8]}"

    @property
    def configuration(self) -> Mapping[str, object]:
        return self.manifest.configuration

    @property
    def model(self) -> str:
        return str(self.manifest.configuration["model"])

    @property
    def shots(self) -> int:
        return int(self.manifest.configuration["shots"])

    @property
    def split(self) -> str:
        return str(self.manifest.configuration["split"])

    @property
    def adapters(self) -> list[str]:
        return list(self.manifest.configuration.get("adapters") or ())

    @property
    def vary(self) -> str:
        """What its repeats vary; "deterministic" or "none" where there is nothing to vary."""
        return str(self.manifest.configuration.get("vary") or "none")

    @property
    def deterministic(self) -> bool:
        """Would asking again give the same answers?"""
        return self.vary == "deterministic"

    @property
    def constrained(self) -> bool:
        """Were its answers weighed against each other, and not written?"""
        return bool(self.manifest.configuration.get("constrained"))

    def predictions(self, also: Sequence[str] = ()) -> pa.Table:
        """Every answer; sorted by item and repeat, so that no row order matters. `also` are
        columns that only some kinds need."""
        path, needed = self.folder / PREDICTIONS_FILE, (*_NEEDED, *also)
        table = read_parquet(path, advice=AGAIN)
        lacking = [name for name in needed if name not in table.column_names]
        if lacking:
            raise ConfigError(f"{path}: lacks {', '.join(lacking)}; {AGAIN}")
        table = _as_written(path, table, pa.schema([PREDICTIONS.field(n) for n in needed]))
        empty = [name for name in _NEVER_NULL if table[name].null_count]
        if empty:
            raise ConfigError(f"{path}: rows without {', '.join(empty)}; {AGAIN}")
        return table.sort_by([("item_id", "ascending"), ("repeat", "ascending")])

    def beside(self, name: str, schema: pa.Schema) -> pa.Table:
        """Another table of the run, as predict wrote it."""
        path = self.folder / name
        if not path.is_file():
            raise ConfigError(f"{self.folder}: no {name}; {AGAIN}")
        check_file(path, name, self.manifest, AGAIN)
        return _as_written(path, read_parquet(path, advice=AGAIN), schema)


def _as_written(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`; ConfigError where they are gone or of other types."""
    try:
        return table.select(schema.names).cast(schema)
    except (KeyError, ValueError, pa.ArrowException) as error:
        raise ConfigError(
            f"{path}: its columns are not of the types that predict writes; {AGAIN}"
        ) from error


def check_file(path: Path, name: str, manifest: Manifest, remedy: str) -> str:
    """The file's SHA-256; CheckFailed where its folder's manifest has another, or none."""
    stated = {record.name: record.sha256 for record in manifest.outputs}.get(name)
    found = sha256_file(path)
    if stated is None:
        raise CheckFailed(f"{path}: its manifest does not list it; {remedy}")
    if found != stated:
        raise CheckFailed(f"{path}: changed since it was made (SHA-256); {remedy}")
    return found
