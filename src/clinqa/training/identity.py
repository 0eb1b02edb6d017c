"""What a training is: what it was told, and what of that decides the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import clinqa
from clinqa.asking.prompts import Template
from clinqa.core.manifest import FileRecord, identity_of
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.models.local.place import WeightsPlace
from clinqa.training.options import TrainOptions
from clinqa.training.presets import Resolved

__all__ = ["LIBRARIES", "VERB", "configuration_of", "identity_of_training", "inputs_of"]

VERB = "train"
LIBRARIES = ("torch", "transformers", "peft", "trl", "accelerate", "bitsandbytes", "pyarrow")

# when a checkpoint is written changes no weight; how the loss is laid out only its rounding
_NOT_IDENTITY = frozenset({"checkpoint_minutes"})


def inputs_of(dataset: Dataset) -> list[FileRecord]:
    """The files of the splits that are read."""
    splits = ("data/train-", "data/validation-")
    return [record for record in dataset.manifest.outputs if record.name.startswith(splits)]


def configuration_of(
    dataset: Dataset,
    place: WeightsPlace,
    template: Template | None,
    resolved: Resolved,
    options: TrainOptions,
) -> dict[str, Any]:
    """What the training was told, as the manifest tells it."""
    return {
        "dataset": dataset.manifest.fingerprint,
        "model": options.model,
        "weights_sha256": place.weights_sha256,
        "preset": resolved.preset.name,
        "settings": resolved.as_json(),
        "seed": options.seed,
        "limit": options.limit,
        **({"sample": options.sample} if options.sample else {}),
        **({"categories": sorted(options.categories)} if options.categories else {}),
        "leave_out_long": options.leave_out_long,
        "device": options.device,
        "threads": options.threads,
        "template": None if template is None else {"id": template.id, "sha256": template.sha256},
    }


def identity_of_training(
    configuration: Mapping[str, Any], data_class: DataClass, inputs: list[FileRecord]
) -> dict[str, Any]:
    """What decides the weights."""
    told = {k: v for k, v in configuration.items() if k not in ("settings", "device", "threads")}
    settings = {
        key: entry["value"]
        for key, entry in configuration["settings"].items()
        if key not in _NOT_IDENTITY
    }
    return identity_of(
        {
            **told,
            "settings": settings,
            "verb": VERB,
            "clinqa": clinqa.__version__,
            "data_class": data_class.value,
            "inputs": [record.sha256 for record in inputs],
        }
    )
