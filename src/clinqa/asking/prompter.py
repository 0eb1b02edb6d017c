"""All prompts of a run, in a stream: item after item, repeat after repeat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clinqa.asking.prompts import Template
from clinqa.asking.repeats import Repeats
from clinqa.asking.shots import Draw
from clinqa.asking.source import ItemSource
from clinqa.core.ids import sub_seed
from clinqa.kinds.facets.asks import Asks, Forms, Question
from clinqa.models.protocol import Message, Prompt

__all__ = ["KeyedPrompt", "Prompter", "key_of"]


@dataclass(frozen=True, slots=True)
class KeyedPrompt:
    """A prompt with its identity. `key` is the journal's: item, repeat and exact text."""

    prompt: Prompt
    prefix: tuple[Message, ...]
    own: str  # what comes after the prefix, as JSON: for the hash and for prompts.jsonl
    sha256: str
    key: str


class Prompter:
    """Makes the same prompts each time it is iterated, holding one at a time."""

    def __init__(
        self,
        source: ItemSource,
        asks: Asks,
        template: Template,
        draws: Mapping[int, Draw],
        repeats: Repeats,
        seed: int,
        forms: Forms | None = None,
    ) -> None:
        self._source, self._asks, self._forms = source, asks, forms
        self._template, self._draws = template, draws
        self._repeats, self._seed = repeats, seed
        self.total = (forms.total if forms else source.total) * repeats.run
        self.items = source.total

    def prompts(self, repeat: int) -> Iterator[KeyedPrompt]:
        """The prompts of one repeat, in the order of the dataset: a study's stand together."""
        draw = self._draws[self._repeats.draw(repeat)]
        hashed: dict[int, hashlib._Hash] = {}
        show = self._asks.show
        for item, variant, shown in self._shown():
            prefix = draw.prefix_for(item.group)
            last = self._template.ask(show(item.question, shown), item.context)
            begun = hashed.get(id(prefix))
            if begun is None:
                # `messages_sha256`, with the shared beginning hashed once
                before = "".join(_turn(message) + "," for message in prefix)
                begun = hashed[id(prefix)] = hashlib.sha256(f"[{before}".encode("ascii"))
            digest = begun.copy()
            own = _turn(last)
            digest.update(f"{own}]".encode("ascii"))
            sha256 = digest.hexdigest()
            prompt = Prompt(
                item.id,
                (*prefix, last),
                item.question,
                item.context,
                item.category,
                shown,
                self._sampled(repeat, variant),
                repeat,
                variant,
            )
            yield KeyedPrompt(prompt, prefix, own, sha256, key_of(item.id, repeat, sha256, variant))

    def _shown(self) -> Iterator[tuple[Question, int, Any]]:
        """Each item in each of its forms; as it is, where it has none."""
        for item in self._source:
            if self._forms is None:
                yield item, 0, item.own
                continue
            for variant in range(self._forms.variants(item.id)):
                yield item, variant, self._forms.shown(item.id, variant)

    def _sampled(self, repeat: int, variant: int) -> int:
        """The seed of the sampling, not of the shots: two repeats never share it."""
        which = f"{repeat}/{variant}" if variant else str(repeat)
        return sub_seed(self._seed, "sampling", which) % (1 << 31)  # services take 31 bits


def key_of(item_id: str, repeat: int, prompt_sha256: str, variant: int = 0) -> str:
    """What the journal knows an item, its repeat and its exact prompt by.

    Two orders of options of one text make one prompt, so the order is part of it.
    """
    return f"{item_id}:{repeat}:{prompt_sha256[:16]}" + (f":{variant}" if variant else "")


def _turn(message: Message) -> str:
    return _COMPACT([message.role, message.text])


_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
