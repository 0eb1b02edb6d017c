"""Two-class encoders: all weights trained on the statement itself, with no prompt."""

from __future__ import annotations

import gc
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.outfolder import write_durably
from clinqa.core.stage import Made
from clinqa.models.encoder import canary_json, load_classifier, log_odds, tokens_of
from clinqa.models.trained import CANARIES
from clinqa.models.weights import device_of, import_torch
from clinqa.training.checkpoints import saving
from clinqa.training.prepare import Text, TrainingTask, TrainItem

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


class EncoderJob(TrainingTask):
    """A classifier of which all weights are trained."""

    def prepare(self) -> None:
        """Load what reads the items, and read them."""
        self.words = self.trains.classes or ("", "")
        # the head is new and random: before the weights are loaded
        importlib.import_module("transformers").set_seed(self.seed)
        place, settings = self.place, self.settings
        self.model, self.tokenizer = load_classifier(place.name, place.folder, self.words)
        if settings.precision != "f32":
            raise ConfigError("preset encoder trains in f32; leave --set precision out")
        window = int(self.model.config.max_position_embeddings)
        reader = _Reader(self.tokenizer, settings.false_weight)
        self.train, self.validation = self.splits(reader, window)

    def plan(self, out: Path) -> list[str]:
        """What would be read, trained and written."""
        second = sum(example.label == 1 for example in self.train.examples)
        return [
            f"would read {self.train.read:,} items of train and {self.validation.read:,} of "
            f"validation in {self.dataset.folder}; {second:,} of train are "
            f"{self.words[1]}",
            self.steps_line,
            "would send nothing anywhere: the model is trained on this machine",
            f"would write a classifier ({self.data_class.value}) to {out}",
        ]

    def run(self, folder: Path) -> Made:
        """Train and leave the classifier in the folder."""
        from clinqa.training import finish
        from clinqa.training.classify import ClassTrainer
        from clinqa.training.watch import Watch, drive

        device = device_of(import_torch("train"), self.options.device)
        settings = self.settings
        watch = Watch(
            folder, settings, self.progress, self.private, stop_after=self.options.stop_after
        )
        trainer = ClassTrainer(
            model=self.model,
            tokenizer=self.tokenizer,
            settings=settings,
            train=self.train.examples,
            validation=self.validation.examples,
            folder=folder,
            seed=self.options.seed,
            torch_seed=self.seed,
            words=self.words,
            device=device,
            callbacks=[watch],
        )
        drive(trainer, watch, len(self.train.examples))
        chosen = folder / ("best" if watch.best else "final")
        if not watch.best:
            trainer.save_model(str(chosen))
        details = finish.describe_training(self, trainer, watch, device, "float32")
        at_end = not watch.best or watch.best["step"] == trainer.state.global_step
        memory = self._odds(trainer.model.eval()) if at_end else None
        finish.place_files(chosen, folder, (_WEIGHTS, _CONFIG))
        with saving(folder):
            self.tokenizer.save_pretrained(str(folder))
        trainer.model = trainer.model_wrapped = trainer.optimizer = None
        gc.collect()
        odds = self._odds(load_classifier(self.place.name, folder)[0])
        off = 0.0 if memory is None else max(abs(a - b) for a, b in zip(memory, odds, strict=True))
        if not off <= 1e-3:
            raise CheckFailed("the saved classifier does not answer like the trained one")
        body = canary_json(self._statements, odds).encode("utf-8")
        write_durably(folder / CANARIES, body, private=self.private)
        finish.write_seen(folder, self, watch)
        finish.write_told(folder, watch, self, details)
        return finish.made_of(self, watch, details)

    def _odds(self, model: Any) -> list[float]:
        return log_odds(model, [tokens_of(self.tokenizer, text, "") for text in self._statements])

    @property
    def _statements(self) -> list[str]:
        """The made-up ones; encoders read them alone."""
        return list(dict.fromkeys(asked for _, asked, _ in self.trains.canaries))
