"""Two-class encoders: all weights trained on the statement itself, with no prompt."""

from __future__ import annotations

import gc
import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.asking.prompts import Template
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.ids import sub_seed
from clinqa.core.outfolder import write_durably
from clinqa.core.progress import Progress
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.trains import Trains
from clinqa.kinds.registry import ItemKind
from clinqa.models.encoder import canary_json, load_classifier, log_odds, tokens_of
from clinqa.models.local.place import WeightsPlace
from clinqa.models.torch_settings import device_of, import_torch
from clinqa.models.trained import CANARIES
from clinqa.models.weights import folder_sha256
from clinqa.privacy.data_class import is_private
from clinqa.training.job import JobResult
from clinqa.training.options import TrainOptions
from clinqa.training.prepare import TrainSplit, check_validation, examples_of, read_split
from clinqa.training.presets import Resolved
from clinqa.training.texts import Text
from clinqa.training.train_items import TrainItem

__all__ = ["EncoderJob"]

_WEIGHTS, _CONFIG = "model.safetensors", "config.json"


@dataclass(frozen=True, slots=True)
class _Reader:
    """Items to texts."""

    tokenizer: Any
    false_weight: float

    def example(self, item: TrainItem) -> Text:
        tokens, types = tokens_of(self.tokenizer, item.question, item.context)
        label = item.lesson.label or 0
        return Text(item.id, tokens, types, 1.0 if label else self.false_weight, label)


class EncoderJob:
    """One training of a classifier, prepared."""

    def __init__(
        self,
        dataset: Dataset,
        place: WeightsPlace,
        template: Template | None,
        kind: ItemKind,
        resolved: Resolved,
        options: TrainOptions,
        data_class: DataClass,
        progress: Progress,
    ) -> None:
        self.dataset, self.place, self.kind = dataset, place, kind
        self.resolved, self.options, self.progress = resolved, options, progress
        self.data_class, self.private = data_class, is_private(data_class)
        self.trains: Trains = kind.facet("trains")
        self.words = self.trains.classes or ("", "")
        settings = resolved.settings
        # the head is new and random: before the weights are loaded
        importlib.import_module("transformers").set_seed(self._seed)
        self.model, self.tokenizer = load_classifier(place.name, place.folder, self.words)
        if settings.precision != "f32":
            raise ConfigError("preset encoder trains in f32; leave --set precision out")
        window = int(self.model.config.max_position_embeddings)
        reader = _Reader(self.tokenizer, settings.false_weight)
        train = read_split(dataset, "train", self.trains, options.limit, options)
        validation = read_split(
            dataset, "validation", self.trains, settings.validation_items or None, options
        )
        check_validation(dataset, settings, validation)
        out = options.leave_out_long
        self.train: TrainSplit = examples_of(dataset, "train", train, reader, window, out)
        self.validation: TrainSplit = examples_of(
            dataset, "validation", validation, reader, window, out
        )

    @property
    def _seed(self) -> int:
        return sub_seed(self.options.seed, "train") % (1 << 31)

    def plan(self, out: Path, data_class: DataClass) -> list[str]:
        """What would be read, trained and written."""
        settings, examples = self.resolved.settings, self.train.examples
        steps = math.ceil(len(examples) / settings.step_items) * settings.epochs
        second = sum(example.label == 1 for example in examples)
        return [
            f"would read {self.train.read:,} items of train and {self.validation.read:,} of "
            f"validation in {self.dataset.folder}; {second:,} of train are "
            f"{self.words[1]}",
            f"about {math.ceil(min(steps, settings.max_steps or steps)):,} steps of "
            f"{settings.step_items:,} items",
            "would send nothing anywhere: the model is trained on this machine",
            f"would write a classifier ({data_class.value}) to {out}",
        ]

    def run(self, folder: Path) -> JobResult:
        """Train and leave the classifier in the folder."""
        drive = importlib.import_module("clinqa.training.drive")
        finish = importlib.import_module("clinqa.training.finish")
        classify = importlib.import_module("clinqa.training.classify")
        torch = import_torch("train")
        device = device_of(torch, self.options.device)
        settings = self.resolved.settings
        watch = drive.make_watch(folder, settings, self.private, self.progress, self.options)
        trainer = classify.ClassTrainer(
            model=self.model,
            tokenizer=self.tokenizer,
            settings=settings,
            train=self.train.examples,
            validation=self.validation.examples,
            folder=folder,
            seed=self.options.seed,
            torch_seed=self._seed,
            words=self.words,
            device=device,
            callbacks=[watch],
        )
        drive.drive(trainer, watch, len(self.train.examples))
        chosen = folder / ("best" if watch.best else "final")
        if not watch.best:
            trainer.save_model(str(chosen))
        details = finish.describe_training(trainer, watch, device, "float32")
        details |= finish.describe_items(self.kind.name, self.train, self.validation)
        at_end = not watch.best or watch.best["step"] == trainer.state.global_step
        memory = self._odds(trainer.model.eval()) if at_end else None
        finish.place_files(chosen, folder, (_WEIGHTS, _CONFIG))
        self.tokenizer.save_pretrained(str(folder))
        trainer.model = trainer.model_wrapped = trainer.optimizer = None
        gc.collect()
        odds = self._odds(load_classifier(self.place.name, folder)[0])
        if memory is not None and not _near(memory, odds):
            raise CheckFailed("the saved classifier does not answer like the trained one")
        body = canary_json(self._statements, odds).encode("utf-8")
        write_durably(folder / CANARIES, body, private=self.private)
        finish.write_seen(folder, self, self.train, self.validation, watch)
        details["base"] = {
            "name": self.place.name,
            "weights_sha256": self.place.weights_sha256,
            "folder_sha256": folder_sha256(self.place.folder),
        }
        finish.tidy(folder, watch, self, details)
        return JobResult(
            read=self.train.read,
            too_long=self.train.too_long,
            details=details,
            resumed_at=watch.resumed_at,
        )

    def _odds(self, model: Any) -> list[float]:
        return log_odds(model, [tokens_of(self.tokenizer, text, "") for text in self._statements])

    @property
    def _statements(self) -> list[str]:
        """The made-up ones; encoders read them alone."""
        return list(dict.fromkeys(asked for _, asked, _ in self.trains.canaries))


def _near(a: Sequence[float], b: Sequence[float]) -> bool:
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1e-3
