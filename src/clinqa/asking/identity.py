"""What a run is: data class, inputs, what it was told, and what of that decides the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import clinqa
from clinqa.asking.learnt import classes_of_learnt
from clinqa.asking.options import PredictOptions
from clinqa.asking.prompts import Template
from clinqa.core.errors import PrivacyError
from clinqa.core.manifest import FileRecord, identity_of, sha256_file
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.kinds.registry import ItemKind
from clinqa.models.registry import kind_of, weights_sha256
from clinqa.privacy.data_class import inherit

__all__ = [
    "VERB",
    "configuration_of",
    "data_class_of_run",
    "identity_of_run",
    "inputs_of",
    "weighs_beside",
]

VERB = "predict"


def data_class_of_run(dataset: Dataset, options: PredictOptions) -> DataClass:
    """The strictest of the dataset's and the adapters'; it may be raised here, never lowered."""
    classes = [DataClass(dataset.manifest.data_class), *classes_of_learnt(options)]
    if options.train_from is not None:
        classes.append(DataClass(open_dataset(options.train_from).manifest.data_class))
    own = inherit(classes)
    if options.data_class is None:
        return own
    wanted = inherit([own, options.data_class])
    if wanted is not options.data_class:
        raise PrivacyError(
            f"--data-class {options.data_class.value}: the dataset, or what the adapter was "
            f"trained on, is {own.value}, and what is made from it cannot be less; build it again "
            "with the class its owner allows"
        )
    return wanted


def inputs_of(dataset: Dataset, options: PredictOptions) -> list[FileRecord]:
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
        path = Path(rest)
        files.append(FileRecord(path.name, sha256_file(path), path.stat().st_size))
    for adapter in options.adapters:
        for path in sorted(p for p in adapter.rglob("*") if p.is_file()):
            name = path.relative_to(adapter.parent).as_posix()
            files.append(FileRecord(name, sha256_file(path), path.stat().st_size))
    return files


def configuration_of(
    dataset: Dataset, template: Template, options: PredictOptions, kind: ItemKind
) -> dict[str, Any]:
    """What the run was told, as the manifest tells it."""
    return {
        **kind.facet("asks").told(
            options.orders, options.order_design, weighs_beside(kind, options)
        ),
        "dataset": dataset.manifest.fingerprint,
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


def weighs_beside(kind: ItemKind, options: PredictOptions) -> bool:
    """Are the kind's answers weighed beside what is written? By default where that sends nothing
    anywhere."""
    if options.first_token is not None or options.constrained:
        return bool(options.first_token)
    model = kind_of(options.model)
    return kind.has("first_token") and bool(model.hasher) and model.takes_shots


# told, but what is asked and answered does not hang on it
_NOT_IDENTITY = frozenset({"max_parallel", "max_cost", "device", "batch_size", "adapters"})


def identity_of_run(
    configuration: Mapping[str, Any],
    options: PredictOptions,
    data_class: DataClass,
    inputs: list[FileRecord],
) -> dict[str, Any]:
    """What decides the rows."""
    told = {key: value for key, value in configuration.items() if key not in _NOT_IDENTITY}
    return identity_of(
        {
            **told,
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "data_class": data_class.value,
            "inputs": [record.sha256 for record in inputs],
        }
    )
