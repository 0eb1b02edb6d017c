"""A finished RUN folder and its answers; refused where its files are not as predict wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.finished import RUN, Finished, FromFolder
from clinqa.core.manifest import FileRecord
from clinqa.core.schema import PREDICTIONS

__all__ = ["PREDICTIONS_FILE", "FinishedRun"]

PREDICTIONS_FILE = "predictions.parquet"
_NEEDED = (
    *("item_id", "repeat", "output", "answer", "answer_status"),
    *("input_tokens", "output_tokens", "seconds"),
)
_NEVER_NULL = ("item_id", "repeat", "answer_status")


@dataclass(frozen=True, slots=True)
class FinishedRun(FromFolder):
    """A complete RUN folder. `name` is the folder's; `id` is how figures call it, told apart from
    every other run wherever scores meet."""

    name: str
    finished: Finished

    @property
    def record(self) -> FileRecord:
        """What its predictions are known by."""
        return self.finished.record(PREDICTIONS_FILE)

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
        table = self.finished.parquet(PREDICTIONS_FILE)
        lacking = [name for name in needed if name not in table.column_names]
        if lacking:
            raise ConfigError(f"{path}: lacks {', '.join(lacking)}; {RUN.again}")
        table = _as_written(path, table, pa.schema([PREDICTIONS.field(n) for n in needed]))
        empty = [name for name in _NEVER_NULL if table[name].null_count]
        if empty:
            raise ConfigError(f"{path}: rows without {', '.join(empty)}; {RUN.again}")
        return table.sort_by([("item_id", "ascending"), ("repeat", "ascending")])

    def beside(self, name: str, schema: pa.Schema) -> pa.Table:
        """Another table of the run, as predict wrote it."""
        return _as_written(self.folder / name, self.finished.parquet(name), schema)


def _as_written(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema`; ConfigError where they are gone or of other types."""
    try:
        return table.select(schema.names).cast(schema)
    except (KeyError, ValueError, pa.ArrowException) as error:
        raise ConfigError(
            f"{path}: its columns are not of the types that predict writes; {RUN.again}"
        ) from error
