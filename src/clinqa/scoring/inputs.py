"""What is scored: the items of a split, and runs that answered them; refused where they differ.

And what a scoring is by these: its data class, its inputs, what it was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.options import options_of
from clinqa.core.origin import origin_of
from clinqa.core.outfolder import MANIFEST
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun, check_file
from clinqa.core.records import DataClass, strictest
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.judges import Judges, SplitItems
from clinqa.kinds.registry import ItemKind
from clinqa.scoring.score_options import ScoreOptions

__all__ = [
    "SCORES_FILE",
    "configuration_of",
    "data_class_of",
    "inputs_of",
    "load_items",
    "open_runs",
    "origin_of_runs",
]

_COLUMNS = ("id", "group", "category", "source_id")


def load_items(
    dataset: Dataset, split: str, judges: Judges, limit: int | None = None
) -> SplitItems:
    """The items of a split, sorted by id; the first of them under a limit."""
    columns = [*_COLUMNS, *judges.columns]
    table = dataset.items(split, columns).sort_by("id").slice(0, limit)
    for path in sorted((dataset.folder / "data").glob(f"{split}-*.parquet")):
        check_file(path, f"data/{path.name}", dataset.manifest, "build it again")
    if missing := [name for name in columns if name not in table.column_names]:
        raise ConfigError(
            f"{dataset.folder}: no column {missing[0]!r}, as another version of clinqa built it; "
            "build it again"
        )
    return judges.load(table, dataset.folder)


def open_runs(folders: Sequence[Path], dataset: Dataset) -> list[FinishedRun]:
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


def _open(name: str, folder: Path, dataset: Dataset) -> FinishedRun:
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
    made_on = manifest.configuration.get("dataset")
    if missing or not isinstance(made_on, str):
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
    return FinishedRun(
        name, folder, manifest, check_file(path, path.name, manifest, "run predict again")
    )


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


SCORES_FILE = "scores.json"


def data_class_of(
    dataset: Dataset, runs: Sequence[FinishedRun], wanted: DataClass | None
) -> DataClass:
    """The strictest of dataset and runs; it may be raised here and never lowered."""
    classes = [dataset.manifest.data_class, *(run.manifest.data_class for run in runs)]
    return strictest(classes, wanted, read="dataset or runs are", of="them")


def origin_of_runs(dataset: Dataset, runs: Sequence[FinishedRun]) -> str:
    """Where what dataset and runs are about comes from, as far as it is known."""
    return origin_of([dataset.manifest, *(run.manifest for run in runs)])


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
        "human_strata": list(options.human_strata),
        "dangers": options.dangers,
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
