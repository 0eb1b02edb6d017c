"""What is scored: the items of a split, and runs that answered them; refused where they differ.

And what a scoring is by these: its data class, its inputs, what it was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from clinqa.core.errors import ConfigError, refuse
from clinqa.core.finished import RUN, SCORES, Finished, open_finished
from clinqa.core.manifest import FileRecord
from clinqa.core.options import options_of
from clinqa.core.origin import origin_of
from clinqa.core.outfolder import MANIFEST, is_unfinished
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.core.records import DataClass, strictest
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.facets.judges import Judges, SplitItems
from clinqa.kinds.registry import ItemKind
from clinqa.scoring.score_options import ScoreOptions

__all__ = [
    "ITEMS_FILE",
    "SCORES_FILE",
    "ScoringSources",
    "configuration_of",
    "finished_runs",
    "inputs_of",
    "load_items",
    "open_runs",
]

_COLUMNS = ("id", "group", "category", "source_id")


def load_items(
    dataset: Dataset, split: str, judges: Judges, limit: int | None = None
) -> SplitItems:
    """The items of a split, sorted by id; the first of them under a limit."""
    columns = [*_COLUMNS, *judges.columns]
    table = dataset.items(split, columns).sort_by("id").slice(0, limit)
    if missing := [name for name in columns if name not in table.column_names]:
        raise ConfigError(
            f"{dataset.folder}: no column {missing[0]!r}, as another version of clinqa built it; "
            "build it again"
        )
    return judges.load(table, dataset.folder)


def finished_runs(folders: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The folders without those of runs that were begun and are not finished, and a warning of
    each of these: `runs/*` names them too.

    ConfigError where no folder is left, and for one that nobody began: it is no run at all.
    """
    refuse((not folders, "no RUN is given; name the --out of one or more predict runs"))
    begun = [one for one in folders if is_unfinished(one)]
    left = [one for one in folders if one not in begun]
    for one in left:
        foreign = one.is_dir() and not (one / MANIFEST).exists()
        refuse((foreign, f"{one}: no complete run, nor one that was begun; leave it out"))
    again = "run its predict again to finish it"
    refuse((not left, f"{begun[0] if begun else ''}: unfinished, so no complete run; {again}"))
    return left, [f"{one}: unfinished, so it was passed over; {again}" for one in begun]


def open_runs(folders: Sequence[Path], dataset: Dataset) -> list[FinishedRun]:
    """The runs, each complete and made on this dataset; named so that no two are alike. Changed
    files are accepted as those of the dataset are."""
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
    finished = open_finished(folder, RUN, accept=dataset.finished.accept)
    manifest = finished.manifest
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
    finished.checked(PREDICTIONS_FILE)
    return FinishedRun(name, finished)


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


SCORES_FILE, ITEMS_FILE = "scores.json", "items.parquet"


@dataclass(frozen=True, slots=True)
class ScoringSources:
    """The finished folders that a scoring reads: the dataset, the runs, scores in which an ensemble
    was searched for, scores of other sets."""

    dataset: Dataset
    runs: Sequence[FinishedRun]
    elsewhere: Finished | None = None
    against: Sequence[Finished] = ()
    unfinished: Sequence[str] = ()  # a warning of each run that was passed over

    @classmethod
    def of(cls, dataset: Path, runs: Sequence[Path], options: ScoreOptions) -> ScoringSources:
        """All of them opened; ConfigError and CheckFailed where one is another or damaged."""
        accept = options.accept_changed
        opened = open_dataset(dataset, accept=accept)
        scores = partial(open_finished, kind=SCORES, accept=accept)
        elsewhere = None if options.ensemble_from is None else scores(options.ensemble_from)
        against = [scores(folder) for folder in options.against]
        folders, unfinished = finished_runs(runs)
        return cls(opened, open_runs(folders, opened), elsewhere, against, unfinished)

    @property
    def finished(self) -> list[Finished]:
        """Each of them."""
        scores = [*([self.elsewhere] if self.elsewhere else []), *self.against]
        return [self.dataset.finished, *(run.finished for run in self.runs), *scores]

    @property
    def origin(self) -> str:
        """Where what dataset and runs are about comes from, as far as it is known."""
        return origin_of([self.dataset, *(run.manifest for run in self.runs)])

    def data_class(self, wanted: DataClass | None) -> DataClass:
        """The strictest of theirs; it may be raised here and never lowered."""
        classes = [one.data_class for one in self.finished]
        return strictest(classes, wanted, read="dataset or runs are", of="them")


def inputs_of(
    sources: ScoringSources, options: ScoreOptions
) -> tuple[list[FileRecord], dict[Path, FileRecord]]:
    """The files that decide the figures, and which of them no manifest answers for."""
    runs, brought = sources.runs, {}
    files = sources.dataset.records(runs[0].split)
    files += [replace(run.record, name=f"{run.id}/{PREDICTIONS_FILE}", rows=None) for run in runs]
    if options.human is not None:
        if not options.human.is_file():
            raise ConfigError(f"{options.human}: no such file")
        brought[options.human] = FileRecord.of(options.human)
    files += brought.values()
    for scores in [*([sources.elsewhere] if sources.elsewhere else []), *sources.against]:
        name = f"{scores.folder.resolve().name}/{SCORES_FILE}"
        files.append(replace(scores.record(SCORES_FILE), name=name))
    return files, brought


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
