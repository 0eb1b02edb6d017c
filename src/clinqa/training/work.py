"""The work between an open output folder and its files: train, choose, save, prove, describe."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from clinqa.core.ids import sub_seed
from clinqa.core.records import DataClass
from clinqa.training.job import JobResult, PreparedLora
from clinqa.training.lora import load_base, lora_config
from clinqa.training.plan import plan_lines

__all__ = ["LoraJob"]


class LoraJob(PreparedLora):
    """LoRA or QLoRA on a causal language model."""

    def plan(self, out: Path, data_class: DataClass) -> list[str]:
        """What would be read, trained and written, and the mask of one example."""
        return plan_lines(self, out, data_class)

    def run(self, folder: Path) -> JobResult:
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
        made: JobResult = finish.finish_lora(self, base, trainer, watch, folder)
        return made


def _pad(tokenizer: Any) -> int:
    """Any token will do: nothing sees padding, and nothing is learnt of it."""
    pad = tokenizer.pad_token_id
    return int(pad if pad is not None else tokenizer.eos_token_id or 0)
