"""Language models: train, choose, save, prove, describe."""

from __future__ import annotations

from pathlib import Path

from clinqa.asking.prompts import Template
from clinqa.core.errors import ConfigError
from clinqa.core.stage import Made
from clinqa.kinds.facets.trains import Lesson
from clinqa.models.local.adapter import grow
from clinqa.models.local.render import Renderer
from clinqa.models.weights import load_tokenizer
from clinqa.training.examples import Encoder, TrainExample
from clinqa.training.lora import load_base, lora_config, shape_of
from clinqa.training.order import Order
from clinqa.training.prepare import TrainingTask, TrainItem
from clinqa.training.tree import Laid, lay_out
from clinqa.training.validation import Choice

__all__ = ["LoraJob", "mask_lines"]

_SHOWN = 320  # characters of a long prompt's beginning and end


class LoraJob(TrainingTask):
    """LoRA or QLoRA on a causal language model, with its tokenizer and the items as tokens. `rows`
    are those of the embeddings, where tokens are added; else 0."""

    template: Template

    def prepare(self) -> None:
        """Load what reads the items, and read them."""
        settings = self.settings
        self.tokenizer = load_tokenizer(self.place.name, self.place.folder)
        self.shape = shape_of(self.place, self.tokenizer)
        new = list(settings.add_tokens)
        added = self.tokenizer.add_tokens(new) if new else 0
        self.rows = len(self.tokenizer) if added and len(self.tokenizer) > self.shape.rows else 0
        self.renderer = Renderer.of(self.tokenizer)
        self.encoder = Encoder(
            self.place.name,
            self.renderer,
            self.template,
            false_weight=settings.false_weight,
            ends=self.shape.ends,
        )
        self.train, self.validation = self.splits(self.encoder, self.shape.window)
        words = self.trains.classes
        self.choice = None if words is None else _choice(self.encoder, self.template, words)

    @property
    def shares(self) -> bool:
        """Can beginnings be shared? Not where layers see only what is near."""
        return self.settings.share and self.shape.sees_all

    def plan(self, out: Path) -> list[str]:
        """What would be read, trained and written, and the mask of one example.

        What the lines show of a record goes to the person who asked.
        """
        train, validation = self.train, self.validation
        tokens = sum(len(example.tokens) for example in train.examples)
        learnt = sum(len(example.answer) for example in train.examples)
        longest = max(len(example.tokens) for example in train.examples)
        left = f" ({train.too_long:,} left out, too long)" if train.too_long else ""
        lines = [
            f"would read {train.read:,} items of train{left} and {validation.read:,} of validation "
            f"in {self.dataset.folder}",
            f"{tokens:,} tokens an epoch, {learnt:,} of them learnt; the longest item has "
            f"{longest:,} of {self.shape.window:,}",
            self.steps_line,
        ]
        if self.shares:
            share = 1 - self._laid_tokens() / tokens
            lines.append(f"{share:.0%} of the tokens are shared within batches and computed once")
        lines += [
            "would send nothing anywhere: the model is trained on this machine",
            f"would write an adapter ({self.data_class.value}) to {out}",
            "",
            *mask_lines(self.encoder, train.examples[0]),
        ]
        return lines

    def _laid_tokens(self) -> int:
        """Tokens of the first epoch as they are laid out."""
        settings, examples = self.settings, self.train.examples
        order = Order(
            [example.item_id for example in examples],
            [example.context for example in examples],
            seed=self.options.seed,
            batch_size=settings.batch_size,
            accumulation=settings.accumulation,
            together=settings.together,
        )
        total = 0
        for batch in order:
            laid = [Laid(n, examples[n].tokens, examples[n].answer_from) for n in batch]
            rows = lay_out(laid, row_tokens=settings.row_tokens)
            total += len(rows) * len(rows[0].tokens)
        return total

    def run(self, folder: Path) -> Made:
        """Train and leave the adapter in the folder."""
        # imported here: these import torch and trl at their top
        from clinqa.training.finish import finish_lora
        from clinqa.training.trainer import AnswerTrainer, arguments
        from clinqa.training.watch import Watch, drive

        settings, pad = self.settings, self.tokenizer.pad_token_id
        base = load_base(self.place, self.tokenizer, settings, self.options.device)
        new = grow(base.model, self.rows) if self.rows else []
        config = lora_config(base.model, settings, new)
        checkpointing = {"auto": base.quantized, "yes": True, "no": False}
        watch = Watch(
            folder, settings, self.progress, self.private, stop_after=self.options.stop_after
        )
        trainer = AnswerTrainer(
            model=base.model,
            tokenizer=self.tokenizer,
            settings=settings,
            train=self.train.examples,
            validation=self.validation.examples,
            args=arguments(
                settings,
                folder,
                seed=self.seed,
                device=base.device,
                dtype=base.dtype,
                gradient_checkpointing=checkpointing[settings.gradient_checkpointing],
            ),
            config=config,
            seed=self.options.seed,
            # any token will do: nothing sees padding, and nothing is learnt of it
            pad=int((self.tokenizer.eos_token_id or 0) if pad is None else pad),
            choice=self.choice,
            first_decides=self.trains.first_decides,
            share=self.shares,
            callbacks=[watch],
        )
        # or PEFT compares vocabularies and saves whole embeddings where tokens were added; it puts
        # a name in the place of None, so that only the first of several saves would be ours
        trainer.model.peft_config["default"].base_model_name_or_path = ""
        drive(trainer, watch, len(self.train.examples))
        return finish_lora(self, base, trainer, watch, folder)


def mask_lines(encoder: Encoder, example: TrainExample) -> list[str]:
    """One example as the model gets it; what is learnt stands behind |."""
    read, learnt = encoder.shown(example)
    lines = [f"example {example.item_id}: > is read, | is learnt (weight {example.weight:g})"]
    lines += [f"  > {line}" for line in _middle_out(read).split("\n")]
    lines += [f"  | {line}" for line in learnt.split("\n")]
    lines.append(f"  {example.answer_from:,} tokens read, {len(example.answer):,} learnt")
    return lines


def _middle_out(text: str) -> str:
    if len(text) <= 2 * _SHOWN:
        return text
    return f"{text[:_SHOWN]}\n[… {len(text) - 2 * _SHOWN:,} characters …]\n{text[-_SHOWN:]}"


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
