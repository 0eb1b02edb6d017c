"""What a run is: data class, inputs, what it was told, and what of that decides the rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from clinqa.asking.assignment import Assignment
from clinqa.asking.learnt import classes_of_learnt
from clinqa.asking.predict_options import PredictOptions
from clinqa.core.data_class import strictest
from clinqa.core.errors import PrivacyError
from clinqa.core.manifest import FileRecord
from clinqa.core.records import DataClass
from clinqa.core.stage import Known
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.models.registry import weights_sha256

__all__ = ["VERB", "data_class_of_run", "known_of"]

VERB = "predict"


def data_class_of_run(dataset: Dataset, options: PredictOptions) -> DataClass:
    """The strictest of the dataset's and the adapters'; it may be raised here, never lowered."""
    classes = [dataset.manifest.data_class, *classes_of_learnt(options)]
    if options.train_from is not None:
        classes.append(open_dataset(options.train_from).manifest.data_class)
    return strictest(
        classes,
        options.data_class,
        read="the dataset, or what the adapter was trained on, is",
        instead="; build it again with the class its owner allows",
        error=PrivacyError,
    )


def _inputs(dataset: Dataset, options: PredictOptions) -> list[FileRecord]:
    """The files that decide what is asked: the split, and train where it is read."""
    reads_train = options.shots or options.model in ("baseline:prior", "baseline:bag-of-words")
    splits = {options.split, *(["train"] if reads_train else [])}
    names = tuple(f"data/{split}-" for split in sorted(splits))
    files = [record for record in dataset.manifest.outputs if record.name.startswith(names)]
    if options.train_from is not None:
        learnt = open_dataset(options.train_from)
        files += [one for one in learnt.manifest.outputs if one.name.startswith("data/train-")]
    kind, _, rest = options.model.partition(":")
    if kind == "scripted" and Path(rest).is_file():
        files.append(FileRecord.of(Path(rest)))
    for adapter in options.adapters:
        for path in sorted(p for p in adapter.rglob("*") if p.is_file()):
            files.append(FileRecord.of(path, path.relative_to(adapter.parent).as_posix()))
    return files


def known_of(told: Assignment) -> Known:
    """What the run was told, as the manifest tells it, and the hashes of its inputs."""
    inputs = _inputs(told.dataset, told.options)
    decides = {"inputs": [record.sha256 for record in inputs]}
    return Known(_configuration(told), inputs, decides, _NOT_IDENTITY)


def _configuration(told: Assignment) -> dict[str, Any]:
    options, template = told.options, told.template
    return {
        **told.asks.told(options.orders, options.order_design, told.weighs_beside),
        "dataset": told.dataset.manifest.fingerprint,
        "split": options.split,
        "model": options.model,
        "weights_sha256": weights_sha256(options.model),
        "shots": options.shots,
        "repeats": options.repeats,
        "vary": options.vary,
        "sampling": asdict(options.sampling),
        # told only where it is so: runs that write are known by what they always were
        **({"constrained": True} if options.constrained else {}),
        **(
            {"train_from": open_dataset(options.train_from).manifest.fingerprint}
            if options.train_from is not None
            else {}
        ),
        "seed": options.seed,
        "limit": options.limit,
        **({"categories": sorted(options.categories)} if options.categories else {}),
        "template": {"id": template.id, "sha256": template.sha256},
        "base_url": options.base_url,
        "api_version": options.api_version,
        "region": options.region,
        "adapters": [path.name for path in options.adapters],
        "dtype": options.dtype,
        "device": options.device,
        "threads": options.threads,
        "batch_size": options.batch_size,
        "context_window": options.context_window,
        "max_parallel": options.max_parallel,
        "max_cost": options.max_cost,
    }


# told, but what is asked and answered does not hang on it
_NOT_IDENTITY = frozenset({"max_parallel", "max_cost", "device", "batch_size", "adapters"})
