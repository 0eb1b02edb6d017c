"""All prompts of a run, in a stream: item after item, repeat after repeat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clinqa.core.ids import sub_seed
from clinqa.models.protocol import Message, Prompt
from clinqa.predict.prompts import Template
from clinqa.predict.repeats import Repeats
from clinqa.predict.shots import Draw
from clinqa.predict.source import ItemSource

__all__ = ["Asked", "Prompter", "key_of"]


@dataclass(frozen=True, slots=True)
class Asked:
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
        template: Template,
        draws: Mapping[int, Draw],
        repeats: Repeats,
        seed: int,
    ) -> None:
        self._source, self._template, self._draws = source, template, draws
        self._repeats, self._seed = repeats, seed
        self.total = source.total * repeats.run
        self.items = source.total

    def prompts(self, repeat: int) -> Iterator[Asked]:
        """The prompts of one repeat, in the order of the dataset: a study's stand together."""
        draw = self._draws[self._repeats.draw(repeat)]
        # of the sampling, not of the shots: two repeats never share it
        seed = sub_seed(self._seed, "sampling", str(repeat)) % (1 << 31)  # services take 31 bits
        hashed: dict[int, hashlib._Hash] = {}
        for item in self._source:
            prefix = draw.prefix_for(item.group)
            last = self._template.ask(item.question, item.context)
            begun = hashed.get(id(prefix))
            if begun is None:
                begun = hashed[id(prefix)] = _begin(prefix)
            digest = begun.copy()
            own = _turn(last)
            digest.update(own.encode("ascii"))
            digest.update(b"]")
            sha256 = digest.hexdigest()
            prompt = Prompt(
                item.id,
                (*prefix, last),
                item.question,
                item.context,
                item.category,
                item.question_type,
                seed,
                repeat,
            )
            yield Asked(prompt, prefix, own, sha256, key_of(item.id, repeat, sha256))


def key_of(item_id: str, repeat: int, prompt_sha256: str) -> str:
    """What the journal knows an item, its repeat and its exact prompt by."""
    return f"{item_id}:{repeat}:{prompt_sha256[:16]}"


def _begin(prefix: tuple[Message, ...]) -> hashlib._Hash:
    """The hash of a prompt so far: `messages_sha256`, with the shared beginning hashed once."""
    return hashlib.sha256(f"[{''.join(_turn(message) + ',' for message in prefix)}".encode("ascii"))


def _turn(message: Message) -> str:
    return _COMPACT([message.role, message.text])


_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
