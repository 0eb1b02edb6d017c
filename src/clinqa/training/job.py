"""A language model's training, prepared: its tokenizer, the items as tokens."""

from __future__ import annotations

from clinqa.asking.prompts import Template
from clinqa.core.errors import ConfigError
from clinqa.kinds.facets.trains import Lesson
from clinqa.models.local.render import Renderer
from clinqa.training.examples import Encoder
from clinqa.training.lora import load_tokenizer, shape_of
from clinqa.training.prepare import TrainingTask
from clinqa.training.train_items import TrainItem
from clinqa.training.validation import Choice

__all__ = ["PreparedLora"]


class PreparedLora(TrainingTask):
    """LoRA or QLoRA on a causal language model. `rows` are those of the embeddings, where tokens
    are added; else 0."""

    template: Template

    def prepare(self) -> None:
        """Load what reads the items, and read them."""
        settings = self.settings
        self.tokenizer = load_tokenizer(self.place)
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
