"""Everything before the first step: dataset, preset, items as tokens, what is left out."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.asking.prompts import Template
from clinqa.asking.source import content_order, kind_of_items
from clinqa.core.errors import ConfigError
from clinqa.core.ids import sub_seed
from clinqa.core.records import DataClass, is_private, strictest
from clinqa.core.stage import Made, Progress
from clinqa.dataset.reader import Dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.trains import Lesson, Trains
from clinqa.kinds.registry import ItemKind, kinds
from clinqa.models.local.place import WeightsPlace
from clinqa.models.trained import TrainedFolder, trained_folder
from clinqa.training.presets import Resolved, Settings
from clinqa.training.train_options import TrainOptions

__all__ = [
    "BEST",
    "LOG",
    "Text",
    "TrainItem",
    "TrainSplit",
    "TrainingTask",
    "check_kind",
    "class_of",
    "examples_of",
    "read_items",
    "read_split",
]

_COLUMNS = ("id", "group", "question", "context", "answer")


@dataclass(frozen=True, slots=True)
class TrainItem:
    """What training reads of an item: its texts, and what is learnt of it."""

    id: str
    group: str
    question: str
    context: str
    lesson: Lesson

    @property
    def context_key(self) -> str:
        """The same for items of one context; without one, an item stands alone."""
        if not self.context:
            return self.id
        return hashlib.sha256(self.context.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Text:
    """One item as an encoder reads it."""

    item_id: str
    tokens: list[int]
    types: list[int]
    weight: float
    label: int


def read_items(
    dataset: Dataset,
    split: str,
    trains: Trains,
    *,
    limit: int | None = None,
    purpose: str = "limit",
    categories: Sequence[str] = (),
) -> list[TrainItem]:
    """The items of a split; with a limit those lowest by a hash of their id, as in predict."""
    names = {*_COLUMNS, *trains.columns, *(["category"] if categories else [])}
    tables = list(dataset.batches(split, names))
    if categories:
        wanted = pa.array(list(categories), pa.string())
        tables = [table.filter(pc.is_in(table["category"], value_set=wanted)) for table in tables]
    if limit is not None and sum(table.num_rows for table in tables) > limit:
        hashes = np.concatenate([content_order(table["id"], purpose) for table in tables])
        last = np.partition(hashes, limit - 1)[limit - 1]
        tables = [
            table.filter(pa.array(content_order(table["id"], purpose) <= last)) for table in tables
        ]
    return [_item(dataset, trains, row) for table in tables for row in table.to_pylist()]


def _item(dataset: Dataset, trains: Trains, row: Mapping[str, Any]) -> TrainItem:
    lesson = trains.lesson(row)
    if not isinstance(lesson, Lesson):
        raise ConfigError(f"{dataset.folder}: item {row['id']} {lesson}")
    if not lesson.answer.strip():
        raise ConfigError(f"{dataset.folder}: item {row['id']} has no answer to learn")
    question, context = row["question"] or "", row["context"] or ""
    return TrainItem(row["id"], row["group"], question, context, lesson)


BEST, LOG = "best", "log.jsonl"
"""What lies in the partial folder beside checkpoints: the best state so far, the loss log."""


@dataclass(frozen=True, slots=True)
class TrainSplit:
    """The items of one split that are used, and how many were read and are too long."""

    items: Sequence[TrainItem]
    examples: Sequence[Any]  # as the method reads them, each with its `item_id`
    read: int
    too_long: int = 0


@dataclass
class TrainingTask(ABC):
    """One training: what is trained on what, how and for whom. `template` is None where items are
    read without a prompt."""

    dataset: Dataset
    place: WeightsPlace
    template: Template | None
    kind: ItemKind
    resolved: Resolved
    options: TrainOptions
    data_class: DataClass
    origin: str
    progress: Progress
    train: TrainSplit = field(init=False)
    validation: TrainSplit = field(init=False)

    @property
    def private(self) -> bool:
        """Are its files for their owner alone?"""
        return is_private(self.data_class)

    @property
    def settings(self) -> Settings:
        """What decides how it is trained."""
        return self.resolved.settings

    @property
    def trains(self) -> Trains:
        """What is learnt of an item of the kind."""
        found: Trains = self.kind.facet("trains")
        return found

    @property
    def seed(self) -> int:
        """Of torch."""
        return sub_seed(self.options.seed, "train") % (1 << 31)

    @property
    def steps_line(self) -> str:
        """How many steps there will be, for a dry run."""
        settings = self.settings
        steps = math.ceil(len(self.train.examples) / settings.step_items) * settings.epochs
        steps = math.ceil(min(steps, settings.max_steps or steps))
        return f"about {steps:,} steps of {settings.step_items:,} items"

    def splits(self, reader: Any, window: int) -> tuple[TrainSplit, TrainSplit]:
        """Train and validation as tokens; `reader` makes an example of an item."""
        dataset, options, settings = self.dataset, self.options, self.settings
        limits = {"train": options.limit, "validation": settings.validation_items or None}
        items = {
            name: read_split(dataset, name, self.trains, limit, options)
            for name, limit in limits.items()
        }
        if settings.best_by != "none" and not items["validation"]:
            raise ConfigError(
                f"{dataset.folder}: the split validation holds no items, and the best state is "
                f"chosen by its {settings.best_by}; use --set best_by=none, or build with more "
                "groups"
            )
        train, validation = (
            examples_of(dataset, name, own, reader, window, options.leave_out_long)
            for name, own in items.items()
        )
        self._check_classes(train)
        return train, validation

    def _check_classes(self, train: TrainSplit) -> None:
        """ConfigError where two classes are to be learnt and train holds one."""
        labels = {example.label for example in train.examples}
        if self.trains.classes is None or len(labels) > 1:
            return
        [label] = labels
        told = {"--limit": self.options.limit, "--category": self.options.categories}
        given = " or ".join(name for name, chosen in told.items() if chosen)
        raise ConfigError(
            f"{self.dataset.folder}: all {len(train.examples):,} items of train that are read are "
            f"{self.trains.classes[label or 0]}, and a model would learn to say nothing else; "
            + (f"choose others with {given}" if given else "build it with items of both classes")
        )

    def __post_init__(self) -> None:
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Load what reads the items, and read them."""

    @abstractmethod
    def plan(self, out: Path) -> list[str]:
        """Lines of a dry run."""

    @abstractmethod
    def run(self, folder: Path) -> Made:
        """Train, and leave in the folder what will be committed and nothing else."""


def check_kind(dataset: Dataset, resolved: Resolved) -> ItemKind:
    """The kind of the dataset's items; ConfigError where the preset is for others."""
    kind, preset = kind_of_items(dataset, SPLITS, "trains"), resolved.preset
    fitting = [one for one in kinds() if one.has("trains") and preset.fits(one)]
    if kind not in fitting:
        raise ConfigError(
            f"{dataset.folder}: its items are {kind.name}, and preset {preset.name} is for "
            f"{' or '.join(one.name for one in fitting)}; choose another preset"
        )
    if not kind.has("two_classes"):
        for_two = " or ".join(one.title for one in kinds() if one.has("two_classes"))
        for what in resolved.settings.for_two_classes():
            raise ConfigError(f"{what} is for {for_two} items; the dataset's are {kind.name}")
    return kind


def class_of(dataset: Dataset, wanted: DataClass | None) -> DataClass:
    """The dataset's class, raised where it is asked for; never lowered."""
    return strictest(
        [dataset.data_class], wanted, instead="; build it again with the class its owner allows"
    )


def trained_base(place: WeightsPlace, *, accept: bool = False) -> list[TrainedFolder]:
    """The folder of a model that clinqa trained itself; none of another. What it may repeat, its
    heir may repeat."""
    trained = trained_folder(place.folder, accept=accept)
    return [] if trained is None else [trained]


def read_split(
    dataset: Dataset, split: str, trains: Trains, limit: int | None, options: TrainOptions
) -> list[TrainItem]:
    """The items of a split that the options choose; ConfigError where train is empty."""
    # sample 0 takes the items that predict asks under the same limit
    purpose = f"limit {options.sample}" if options.sample and split == "train" else "limit"
    items = read_items(
        dataset, split, trains, limit=limit, purpose=purpose, categories=options.categories
    )
    if split == "train" and not items:
        of = f" of category {' or '.join(options.categories)}" if options.categories else ""
        raise ConfigError(f"{dataset.folder}: the split train holds no items{of}; nothing to learn")
    return items


def examples_of(
    dataset: Dataset,
    split: str,
    items: Sequence[TrainItem],
    encoder: Any,
    window: int,
    leave_out: bool,
) -> TrainSplit:
    """The items as tokens; those over the context window are an error, or left out and counted."""
    examples = [encoder.example(item) for item in items]
    fits = [len(example.tokens) <= window for example in examples]
    long = fits.count(False)
    if long and not leave_out:
        longest = max(len(example.tokens) for example in examples)
        raise ConfigError(
            f"{dataset.folder}: {long:,} of {len(items):,} items of {split} are longer than the "
            f"model's context of {window:,} tokens (the longest has {longest:,}); nothing is cut: "
            "use --leave-out-long to train without them, or a model with a longer context"
        )
    kept = [place for place, fit in enumerate(fits) if fit]
    if split == "train" and not kept:
        raise ConfigError(f"{dataset.folder}: no item of train fits into {window:,} tokens")
    return TrainSplit(
        [items[place] for place in kept], [examples[place] for place in kept], len(items), long
    )
