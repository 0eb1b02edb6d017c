"""What a scoring is: data class, inputs, what it was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord
from clinqa.core.options import options_of
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.core.records import DataClass, strictest
from clinqa.dataset.reader import Dataset
from clinqa.kinds.registry import ItemKind
from clinqa.scoring.score_options import ScoreOptions

__all__ = ["SCORES_FILE", "configuration_of", "data_class_of", "inputs_of"]

SCORES_FILE = "scores.json"


def data_class_of(
    dataset: Dataset, runs: Sequence[FinishedRun], wanted: DataClass | None
) -> DataClass:
    """The strictest of dataset and runs; it may be raised here and never lowered."""
    classes = [dataset.manifest.data_class, *(run.manifest.data_class for run in runs)]
    return strictest(classes, wanted, read="dataset or runs are", of="them")


def inputs_of(
    dataset: Dataset, runs: Sequence[FinishedRun], options: ScoreOptions
) -> list[FileRecord]:
    """The files that decide the figures."""
    prefix = f"data/{runs[0].split}-"
    files = [record for record in dataset.manifest.outputs if record.name.startswith(prefix)]
    for run in runs:
        path = run.folder / PREDICTIONS_FILE
        files.append(FileRecord(f"{run.id}/{PREDICTIONS_FILE}", run.sha256, path.stat().st_size))
    if options.human is not None:
        if not options.human.is_file():
            raise ConfigError(f"{options.human}: no such file")
        files.append(FileRecord.of(options.human))
    for folder in [*([options.ensemble_from] if options.ensemble_from else []), *options.against]:
        path = folder / SCORES_FILE
        if not path.is_file():
            raise ConfigError(f"{folder}: no {SCORES_FILE}; give the --out of clinqa score")
        files.append(FileRecord.of(path, f"{folder.resolve().name}/{SCORES_FILE}"))
    return files


def configuration_of(
    dataset: Dataset, runs: Sequence[FinishedRun], options: ScoreOptions, kind: ItemKind
) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    told: dict[str, Any] = {
        "human": options.human is not None,
        "ensembles": list(options.ensembles),
        "search": options.search,
        "ensemble_from": options.ensemble_from is not None,
        "against": len(options.against),
        "reader": options.reader,
        "annotated": options.annotated is not None,
    }
    own = [one.name for one in options_of(ScoreOptions) if one.needs and kind.has(one.needs)]
    return {
        "dataset": dataset.manifest.fingerprint,
        "kind": kind.name,
        "split": runs[0].split,
        "runs": [run.id for run in runs],
        "primary": options.primary,
        "family": options.family,
        **{name: told[name] for name in own},
        "resamples": options.draws,
        "limit": options.limit,
        "seed": options.seed,
    }
