"""What a scoring is: pack, data class, inputs, and what it was told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord, sha256_file
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.long_form.answer_words import words_fingerprint
from clinqa.packs.loader import Pack, builtin_pack, load_pack
from clinqa.privacy.data_class import inherit
from clinqa.scoring.inputs import PREDICTIONS_FILE, Run
from clinqa.scoring.score_options import ScoreOptions

__all__ = [
    "VERB",
    "configuration_of",
    "data_class_of",
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
