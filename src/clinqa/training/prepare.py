"""Everything before the first step: dataset, preset, items as tokens, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.asking.prompts import Template
from clinqa.core.errors import ConfigError, PrivacyError
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.trains import Lesson, Trains
from clinqa.kinds.registry import ItemKind, kinds
from clinqa.models.local.place import WeightsPlace
from clinqa.models.local.render import Renderer
from clinqa.models.trained import trained_folder
from clinqa.privacy.data_class import inherit
from clinqa.training.examples import Encoder, TrainExample
from clinqa.training.model_shape import Shape
from clinqa.training.options import TrainOptions
from clinqa.training.presets import Resolved, Settings
from clinqa.training.train_items import TrainItem, kind_of_dataset, read_items
from clinqa.training.validation import Choice

__all__ = [
    "Prepared",
    "check_kind",
    "class_of",
    "class_of_base",
    "examples_of",
    "prepare",
    "read_split",
]


@dataclass(frozen=True, slots=True)
class TrainSplit:
    """The items of one split that are used, and how many were read and are too long."""

    items: Sequence[TrainItem]
    examples: Sequence[TrainExample]
    read: int
    too_long: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a language model is trained on."""

    kind: ItemKind
    template: Template
    tokenizer: Any
    renderer: Renderer
    encoder: Encoder
    train: TrainSplit
    validation: TrainSplit
    choice: Choice | None
    window: int
    rows: int  # of the embeddings, where tokens are added; else 0


def check_kind(dataset: Dataset, resolved: Resolved) -> ItemKind:
    """The kind of the dataset's items; ConfigError where the preset is for others."""
    kind, preset = kind_of_dataset(dataset), resolved.preset
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
    own = DataClass(dataset.manifest.data_class)
    if wanted is None:
        return own
    if inherit([own, wanted]) is not wanted:
        raise PrivacyError(
            f"--data-class {wanted.value}: the dataset is {own.value}, and what is trained on it "
            "cannot be less; build it again with the class its owner allows"
        )
    return wanted


def class_of_base(place: WeightsPlace) -> list[DataClass]:
    """The class of a model that clinqa trained itself: what it may repeat, its heir may repeat."""
    trained = trained_folder(place.folder)
    return [] if trained is None else [DataClass(trained.manifest.data_class)]


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


def check_validation(dataset: Dataset, settings: Settings, items: Sequence[TrainItem]) -> None:
    """ConfigError where the best state is to be chosen by a split that is empty."""
    if settings.best_by != "none" and not items:
        raise ConfigError(
            f"{dataset.folder}: the split validation holds no items, and the best state is chosen "
            f"by its {settings.best_by}; use --set best_by=none, or build with more groups"
        )


def prepare(
    dataset: Dataset,
    place: WeightsPlace,
    tokenizer: Any,
    shape: Shape,
    template: Template,
    kind: ItemKind,
    resolved: Resolved,
    options: TrainOptions,
) -> Prepared:
    """The items as tokens; ConfigError for what cannot be trained on."""
    settings, trains = resolved.settings, kind.facet("trains")
    added = tokenizer.add_tokens(list(settings.add_tokens)) if settings.add_tokens else 0
    renderer = Renderer.of(tokenizer)
    encoder = Encoder(
        place.name, renderer, template, false_weight=settings.false_weight, ends=shape.ends
    )
    train = read_split(dataset, "train", trains, options.limit, options)
    validation = read_split(
        dataset, "validation", trains, settings.validation_items or None, options
    )
    check_validation(dataset, settings, validation)
    return Prepared(
        kind,
        template,
        tokenizer,
        renderer,
        encoder,
        examples_of(dataset, "train", train, encoder, shape.window, options.leave_out_long),
        examples_of(
            dataset, "validation", validation, encoder, shape.window, options.leave_out_long
        ),
        _choice(encoder, template, trains.classes) if trains.classes else None,
        shape.window,
        len(tokenizer) if added and len(tokenizer) > shape.rows else 0,
    )


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


def _choice(encoder: Encoder, template: Template, words: tuple[str, str]) -> Choice:
    """The tokens by which the answers of two classes are told apart."""
    first, second = (
        encoder.example(TrainItem("", "", "", "", Lesson("A statement.", word))).answer
        for word in words
    )
    pairs = enumerate(zip(second, first, strict=False))
    place = next((place for place, (a, b) in pairs if a != b), None)
    if place is None:
        raise ConfigError(
            f"template {template.id}: the tokenizer cannot tell {words[1]} from {words[0]}"
        )
    return Choice((second[place], first[place]), place, words)
