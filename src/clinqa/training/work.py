"""The work between an open output folder and its files: train, choose, save, prove, describe."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from clinqa.asking.prompts import Template
from clinqa.core.ids import sub_seed
from clinqa.core.progress import Progress
from clinqa.core.records import DataClass
from clinqa.dataset.reader import Dataset
from clinqa.kinds.registry import ItemKind
from clinqa.models.local.place import WeightsPlace
from clinqa.privacy.data_class import is_private
from clinqa.training.describe import shape_of
from clinqa.training.lora import load_base, load_tokenizer, lora_config
from clinqa.training.options import TrainOptions
from clinqa.training.prepare import Prepared, prepare
from clinqa.training.presets import Resolved

__all__ = ["Job", "LoraJob", "Made"]


@dataclass(frozen=True, slots=True)
class Made:
    """What a job left in the partial folder, for the manifest."""

    read: int
    too_long: int
    details: dict[str, Any]
    resumed_at: int = 0
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Job(Protocol):
    """One training, prepared."""

    def plan(self, out: Path, data_class: DataClass) -> list[str]:
        """Lines of a dry run."""
        ...

    def run(self, folder: Path) -> Made:
        """Train, and leave in the folder what will be committed and nothing else."""
        ...


class LoraJob:
    """LoRA or QLoRA on a causal language model."""

    def __init__(
        self,
        dataset: Dataset,
        place: WeightsPlace,
        template: Template,
        kind: ItemKind,
        resolved: Resolved,
        options: TrainOptions,
        data_class: DataClass,
        progress: Progress,
    ) -> None:
        self.dataset, self.place, self.template = dataset, place, template
        self.resolved, self.options = resolved, options
        self.data_class, self.private = data_class, is_private(data_class)
        self.progress = progress
        self.tokenizer = load_tokenizer(place)
        self.shape = shape_of(place, self.tokenizer)
        self.prepared: Prepared = prepare(
            dataset,
            place,
            self.tokenizer,
            self.shape,
            template,
            kind,
            resolved,
            options,
        )

    def plan(self, out: Path, data_class: DataClass) -> list[str]:
        """What would be read, trained and written, and the mask of one example."""
        from clinqa.training.plan import plan_lines

        return plan_lines(self, out, data_class)

    @property
    def shares(self) -> bool:
        """Can beginnings be shared? Not where layers see only what is near."""
        return self.resolved.settings.share and self.shape.sees_all

    def run(self, folder: Path) -> Made:
        """Train and leave the adapter in the folder."""
        # imported here: these import torch and trl at their top
        drive = importlib.import_module("clinqa.training.drive")
        finish = importlib.import_module("clinqa.training.finish")
        trainer_module = importlib.import_module("clinqa.training.trainer")
        adapter = importlib.import_module("clinqa.models.local.adapter")
        settings, prepared = self.resolved.settings, self.prepared
        base = load_base(self.place, self.tokenizer, settings, self.options.device)
        new = adapter.grow(base.model, prepared.rows) if prepared.rows else []
        config = lora_config(base.model, settings, new)
        seed = sub_seed(self.options.seed, "train") % (1 << 31)
        checkpointing = {"auto": base.quantized, "yes": True, "no": False}
        watch = drive.make_watch(folder, settings, self.private, self.progress, self.options)
        trainer = trainer_module.AnswerTrainer(
            model=base.model,
            tokenizer=self.tokenizer,
            settings=settings,
            train=prepared.train.examples,
            validation=prepared.validation.examples,
            args=trainer_module.arguments(
                settings,
                folder,
                seed=seed,
                device=base.device,
                dtype=base.dtype,
                gradient_checkpointing=checkpointing[settings.gradient_checkpointing],
            ),
            config=config,
            seed=self.options.seed,
            pad=_pad(self.tokenizer),
            choice=prepared.choice,
            first_decides=prepared.kind.facet("trains").first_decides,
            share=self.shares,
            callbacks=[watch],
        )
        # or PEFT compares vocabularies and saves whole embeddings where tokens were added; it puts
        # a name in the place of None, so that only the first of several saves would be ours
        trainer.model.peft_config["default"].base_model_name_or_path = ""
        drive.drive(trainer, watch, len(prepared.train.examples))
        made: Made = finish.finish_lora(self, base, trainer, watch, folder)
        return made


def _pad(tokenizer: Any) -> int:
    """Any token will do: nothing sees padding, and nothing is learnt of it."""
    pad = tokenizer.pad_token_id
    return int(pad if pad is not None else tokenizer.eos_token_id or 0)
