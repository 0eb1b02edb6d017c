"""Language models: train, choose, save, prove, describe."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from clinqa.core.stage import Made
from clinqa.training.job import PreparedLora
from clinqa.training.lora import load_base, lora_config
from clinqa.training.plan import plan_lines

__all__ = ["LoraJob"]


class LoraJob(PreparedLora):
    """LoRA or QLoRA on a causal language model."""

    def plan(self, out: Path) -> list[str]:
        """What would be read, trained and written, and the mask of one example."""
        return plan_lines(self, out)

    def run(self, folder: Path) -> Made:
        """Train and leave the adapter in the folder."""
        # imported here: these import torch and trl at their top
        finish = importlib.import_module("clinqa.training.finish")
        watching = importlib.import_module("clinqa.training.watch")
        trainer_module = importlib.import_module("clinqa.training.trainer")
        adapter = importlib.import_module("clinqa.models.local.adapter")
        settings = self.settings
        base = load_base(self.place, self.tokenizer, settings, self.options.device)
        new = adapter.grow(base.model, self.rows) if self.rows else []
        config = lora_config(base.model, settings, new)
        checkpointing = {"auto": base.quantized, "yes": True, "no": False}
        watch = watching.Watch(
            folder, settings, self.progress, self.private, stop_after=self.options.stop_after
        )
        trainer = trainer_module.AnswerTrainer(
            model=base.model,
            tokenizer=self.tokenizer,
            settings=settings,
            train=self.train.examples,
            validation=self.validation.examples,
            args=trainer_module.arguments(
                settings,
                folder,
                seed=self.seed,
                device=base.device,
                dtype=base.dtype,
                gradient_checkpointing=checkpointing[settings.gradient_checkpointing],
            ),
            config=config,
            seed=self.options.seed,
            pad=_pad(self.tokenizer),
            choice=self.choice,
            first_decides=self.trains.first_decides,
            share=self.shares,
            callbacks=[watch],
        )
        # or PEFT compares vocabularies and saves whole embeddings where tokens were added; it puts
        # a name in the place of None, so that only the first of several saves would be ours
        trainer.model.peft_config["default"].base_model_name_or_path = ""
        watching.drive(trainer, watch, len(self.train.examples))
        made: Made = finish.finish_lora(self, base, trainer, watch, folder)
        return made


def _pad(tokenizer: Any) -> int:
    """Any token will do: nothing sees padding, and nothing is learnt of it."""
    pad = tokenizer.pad_token_id
    return int(pad if pad is not None else tokenizer.eos_token_id or 0)
