"""`clinqa train --merge`: an adapter merged into its model, and how many answers that changes.

Merging rounds. In float32 the rounding is far below what separates two answers; in bfloat16 between
none and a fifth of a small model's greedy answers came out different. So float32 is the default,
and what merging changed is measured every time: the same items, greedy, with the adapter and with
the merged model.
"""

from __future__ import annotations

import gc
import importlib
import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from clinqa.asking.prompts import load_template, prefix_of
from clinqa.asking.source import kind_of_items
from clinqa.core.errors import ConfigError
from clinqa.core.manifest import FileRecord
from clinqa.core.origin import banner_of, origin_of
from clinqa.core.records import inherit
from clinqa.core.stage import (
    Known,
    Made,
    Progress,
    Stage,
    StageResult,
    Workplace,
    run_stage,
    silent,
)
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.trains import Trains
from clinqa.kinds.registry import ItemKind
from clinqa.models.local import LocalModel
from clinqa.models.local.adapter import apply_adapter, check_base, grow, tokenizer_folder
from clinqa.models.local.place import WeightsPlace, place_of
from clinqa.models.local.runtime import load, load_plain
from clinqa.models.protocol import ModelOptions, Prompt, Sampling
from clinqa.models.trained import TRAINED_ON, TrainedFolder, trained_folder
from clinqa.models.weights import device_of, import_torch, load_tokenizer
from clinqa.training.checkpoints import saving
from clinqa.training.prepare import TrainItem, class_of, read_items, trained_base
from clinqa.training.train import LIBRARIES
from clinqa.training.train_options import MergeOptions

__all__ = ["merge"]


def merge(
    dataset: Path, out: Path, options: MergeOptions, progress: Progress = silent
) -> StageResult:
    """The merged model in a folder that predict opens as hf:FOLDER; the drift is reported."""
    options.check()
    opened = open_dataset(dataset, accept=options.accept_changed)
    trained = trained_folder(options.adapter, accept=options.accept_changed)
    if trained is None:
        raise ConfigError(f"{options.adapter}: not an adapter that clinqa train made")
    torch = import_torch("train", options.threads)
    place = place_of(options.model or str(trained.base.get("name")))
    check_base(options.adapter, place.name, place.folder, place.weights_sha256)
    trained.check_weights()
    kind = kind_of_items(opened, SPLITS, "trains")
    split, items = _items(opened, kind.facet("trains"), options.items)
    base = [one.finished for one in trained_base(place, accept=options.accept_changed)]
    reads = [opened.finished, trained.finished, *base]
    classes = [one.data_class for one in reads]
    data_class = inherit([class_of(opened, options.data_class), *classes])

    def work(workplace: Workplace) -> Made:
        folder = workplace.partial
        _merged(torch, place, trained, options, folder)
        prompts = _prompts(kind, items, options.seed)
        drift = {**_drift(place, options, folder, prompts, progress), "split": split}
        pq.write_table(trained.hashes(), folder / TRAINED_ON, compression="zstd")
        workplace.write("README.md", _card(place, options, workplace, drift))
        told = trained.manifest.details  # of the adapter, what the model should still be known by
        origin = {
            "base": dict(trained.base),
            "kind": told.get("kind"),
            "template": told.get("template", {}),
        }
        return Made(warnings=_warnings(drift), details={"drift": drift, **origin})

    return run_stage(
        Stage(
            verb="train --merge",
            holds="this model",
            out=out,
            options=options,
            data_class=data_class,
            origin=origin_of(reads),
            reads=reads,
            known=lambda: _known(opened, trained, place, options),
            work=work,
            told=lambda manifest: manifest.details["drift"],
            plan=lambda: [
                f"would merge {options.adapter} into {place.name} in {options.dtype}",
                f"would compare greedy answers to {len(items):,} items of {split} in {dataset}",
                f"would write a model ({data_class.value}) to {out}",
            ],
            libraries=LIBRARIES,
        )
    )


def _known(
    dataset: Dataset, trained: TrainedFolder, place: WeightsPlace, options: MergeOptions
) -> Known:
    """What the merging was told, and the files of the adapter."""
    names = ("adapter_model.safetensors", "adapter_config.json")
    inputs = [FileRecord.of(options.adapter / name) for name in names]
    configuration = {
        "adapter": trained.manifest.fingerprint,
        "model": place.name,
        "weights_sha256": place.weights_sha256,
        "dtype": options.dtype,
        "dataset": dataset.manifest.fingerprint,
        "items": options.items,
        "max_tokens": options.max_tokens,
        "device": options.device,
    }
    decides = {"inputs": [record.sha256 for record in inputs]}
    return Known(configuration, inputs, decides, frozenset({"device"}))


def _warnings(drift: dict[str, Any]) -> list[str]:
    if not drift["answers_changed"]:
        return []
    return [
        f"{drift['answers_changed']} of {drift['answers_compared']} greedy answers are "
        "not those of the adapter: figures of the one do not hold for the other"
    ]


def _items(dataset: Dataset, trains: Trains, limit: int) -> tuple[str, list[TrainItem]]:
    """Items that were not trained on where there are such: validation, else test, else train."""
    for split in ("validation", "test", "train"):
        items = read_items(dataset, split, trains, limit=limit)
        if items:
            return split, items
    raise ConfigError(f"{dataset.folder}: holds no items to compare answers on")


def _prompts(kind: ItemKind, items: Sequence[TrainItem], seed: int) -> list[Prompt]:
    """The items as they are asked."""
    template = load_template(kind.name)
    prefix = prefix_of(template, ())
    return [
        Prompt(
            item.id,
            (*prefix, template.ask(item.lesson.asked, item.context)),
            item.question,
            item.context,
            "",
            None,
            seed,
            0,
        )
        for item in items
    ]


def _merged(
    torch: Any, place: WeightsPlace, trained: TrainedFolder, options: MergeOptions, folder: Path
) -> None:
    """Merge in float32, whatever the base is stored in, and save in the wanted format."""
    peft = importlib.import_module("peft")
    device = device_of(torch, options.device)
    model = load_plain(place.name, place.folder, device, "float32")
    # proven to fit first, on a model that is thrown away
    apply_adapter(torch, model, options.adapter, trained)
    del model
    gc.collect()
    model = load_plain(place.name, place.folder, device, "float32")
    grow(model, int(trained.manifest.details.get("embedding_rows") or 0))
    merged = peft.PeftModel.from_pretrained(model, str(options.adapter)).merge_and_unload()
    with saving(folder), redirect_stderr(io.StringIO()):  # a bar that no setting takes away
        merged.to(getattr(torch, options.dtype)).save_pretrained(str(folder))
    source = tokenizer_folder(place.folder, options.adapter)
    with saving(folder):
        load_tokenizer(place.name, source).save_pretrained(str(folder))


def _drift(
    place: WeightsPlace,
    options: MergeOptions,
    folder: Path,
    prompts: Sequence[Prompt],
    progress: Progress,
) -> dict[str, Any]:
    """How many greedy answers differ between adapter and merged model, in the same format."""
    adapted = _answers(
        place.name, place.folder, place.weights_sha256, options.adapter, options, prompts, progress
    )
    merged = _answers("merged", folder, "-", None, options, prompts, progress)
    return {
        "answers_compared": len(prompts),
        "answers_changed": sum(a != b for a, b in zip(adapted, merged, strict=True)),
        "dtype": options.dtype,
    }


def _answers(
    name: str,
    folder: Path,
    weights: str,
    adapter: Path | None,
    options: MergeOptions,
    prompts: Sequence[Prompt],
    progress: Progress,
) -> list[str]:
    given = ModelOptions(adapter=adapter, dtype=options.dtype, device=options.device)
    model = LocalModel(name, load(name, folder, given, weights), given)
    stage = "answers of the merged model" if adapter is None else "answers of the adapter"
    texts = [""] * len(prompts)
    for done, (index, output) in enumerate(
        model.generate(prompts, Sampling(max_tokens=options.max_tokens)), start=1
    ):
        texts[index] = output.text
        progress(stage, done, len(prompts))
    model.close()
    return texts


def _card(place: WeightsPlace, options: MergeOptions, to: Workplace, drift: dict[str, Any]) -> str:
    return (
        f"# {place.name} with an adapter merged into it\n\n"
        f"Data class: **{to.data_class.value}**, as of what the adapter was trained on.\n\n"
        f"{banner_of(to.origin)}"
        f"Merged by `clinqa train --merge` in float32 and stored in {options.dtype}. Of "
        f"{drift['answers_compared']} greedy answers to items of the {drift['split']} split, "
        f"{drift['answers_changed']} differ from those of the adapter on its base model in the "
        "same format.\n\n"
        "    clinqa predict DATASET --model hf:THIS_FOLDER --out RUN\n"
    )
