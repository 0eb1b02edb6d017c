"""What a scoring is: pack, data class, inputs, what it was told, and what decides its figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import clinqa
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, identity_of, sha256_file
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.packs.loader import Pack, builtin_pack, load_pack
from clinqa.privacy.data_class import inherit
from clinqa.score.inputs import PREDICTIONS_FILE, Run, load_items
from clinqa.score.options import ScoreOptions
from clinqa.score.words import words_fingerprint

__all__ = [
    "VERB",
    "configuration_of",
    "data_class_of",
    "dry_run",
    "identity_of_scores",
    "inputs_of",
    "labeller_of",
    "pack_of",
]

VERB = "score"


def pack_of(dataset: Dataset, options: ScoreOptions) -> Pack:
    """The pack the dataset was built with."""
    if options.pack_dir is not None:
        return load_pack(options.pack_dir)
    name = dataset.manifest.configuration.get("pack")
    if not isinstance(name, str):
        raise ConfigError(
            f"{dataset.folder}: its manifest names no pack; give the one it was built with "
            "(--pack-dir)"
        )
    return builtin_pack(name)


def labeller_of(pack: Pack) -> str:
    """Who reads the answers, for signatures: the pack and the words of answers."""
    return f"pack:{pack.spec.id}@{pack.fingerprint[:8]}+{words_fingerprint(pack)[:8]}"


def data_class_of(dataset: Dataset, runs: Sequence[Run], options: ScoreOptions) -> DataClass:
    """The strictest of dataset and runs; it may be raised here and never lowered."""
    own = inherit(DataClass(m.data_class) for m in (dataset.manifest, *(r.manifest for r in runs)))
    if options.data_class is None:
        return own
    wanted = inherit([own, options.data_class])
    if wanted is not options.data_class:
        raise ConfigError(
            f"--data-class {options.data_class.value}: dataset or runs are {own.value}, and what "
            "is made from them cannot be less"
        )
    return wanted


def inputs_of(dataset: Dataset, runs: Sequence[Run], options: ScoreOptions) -> list[FileRecord]:
    """The files that decide the figures."""
    prefix = f"data/{runs[0].split}-"
    files = [record for record in dataset.manifest.outputs if record.name.startswith(prefix)]
    for run in runs:
        path = run.folder / PREDICTIONS_FILE
        files.append(FileRecord(f"{run.id}/{PREDICTIONS_FILE}", run.sha256, path.stat().st_size))
    if options.human is not None:
        if not options.human.is_file():
            raise ConfigError(f"{options.human}: no such file")
        size = options.human.stat().st_size
        files.append(FileRecord(options.human.name, sha256_file(options.human), size))
    return files


def configuration_of(
    dataset: Dataset, runs: Sequence[Run], options: ScoreOptions, pack: Pack
) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    return {
        "dataset": dataset.manifest.fingerprint,
        "split": runs[0].split,
        "runs": [run.id for run in runs],
        "primary": options.primary,
        "family": options.family,
        "human": options.human is not None,
        "pack": pack.spec.id,
        "resamples": options.draws,
        "limit": options.limit,
        "seed": options.seed,
    }


def identity_of_scores(
    dataset: Dataset,
    runs: Sequence[Run],
    options: ScoreOptions,
    pack: Pack,
    data_class: DataClass,
    inputs: Sequence[FileRecord],
) -> dict[str, Any]:
    """What decides the figures."""
    return identity_of(
        {
            **configuration_of(dataset, runs, options, pack),
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "pack_fingerprint": pack.fingerprint,
            "words_fingerprint": words_fingerprint(pack),
            "data_class": data_class.value,
            "inputs": [record.sha256 for record in inputs],
        }
    )


def dry_run(
    dataset: Dataset, runs: Sequence[Run], options: ScoreOptions, data_class: DataClass, out: Path
) -> list[str]:
    """What would be read and written; nothing is sent anywhere."""
    items = load_items(dataset, runs[0].split, options.limit)
    lines = [f"would score against {len(items):,} items of {items.clusters:,} patients"]
    for run in runs:
        rows = pq.read_metadata(run.folder / PREDICTIONS_FILE).num_rows
        lines.append(f"would read {run.folder} ({run.model}, {run.shots} shots, {rows:,} answers)")
    lines.append(
        f"would test {options.family} on {options.primary}, draw {options.draws:,} samples of "
        f"patients, and write scores ({data_class.value}) to {out}"
    )
    return [*lines, "would send nothing anywhere"]
