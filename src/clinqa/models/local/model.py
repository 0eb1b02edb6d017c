"""A local model behind the `Model` and `Scorer` protocols.

Work goes in draws (prompts with the same system line and shots), chunks of a draw, and planned
batches; outputs come as their batch ends. What one item gets does not depend on what else is asked,
up to rounding: in float32 near-ties of 1e-6 could differ, in bfloat16 some do (docs say how many).
"""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Iterator, Sequence

from clinqa.core.errors import ConfigError
from clinqa.core.ids import rng
from clinqa.models.local.plan import Batch, PromptRow, plan
from clinqa.models.local.render import Renderer
from clinqa.models.local.runtime import Loaded
from clinqa.models.protocol import Message, ModelOptions, Output, Prompt, Sampling, messages_sha256

__all__ = ["LocalModel"]

_CHUNK = 1024  # prompts held as tokens at once
_ROWS = {"cpu": 32, "other": 64}
_SLOTS = {"cpu": 16_384, "other": 131_072}


class LocalModel:
    """One loaded model. `extra` may hold `threads`, `prefix` (shared or none) and `slots`."""

    deterministic = True

    def __init__(self, name: str, loaded: Loaded, options: ModelOptions) -> None:
        self.name = name
        self.facts = dict(loaded.facts)
        self._loaded: Loaded | None = loaded
        kind = "cpu" if loaded.device == "cpu" else "other"
        self._rows = options.batch_size or _ROWS[kind]
        self._slots = int(options.extra.get("slots", _SLOTS[kind]))
        self._share = options.extra.get("prefix", "shared") != "none"

    def describe(self) -> dict[str, str]:
        """What a manifest should say: device, number format, versions, hashes of the weights."""
        return dict(self.facts)

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt as this model reads it."""
        return len(self._open.renderer.encode(prompt.messages))

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """(index, output) of every prompt, as batches end."""
        loaded = self._open
        for chunk in _chunks(prompts):
            asks = []
            for index in chunk:
                tokens = loaded.renderer.encode(prompts[index].messages)
                if len(tokens) + sampling.max_tokens > loaded.window:
                    yield index, _failed(prompts[index], len(tokens), "context")
                else:
                    asks.append(PromptRow(index, tokens))
            lengths = {ask.index: len(ask.tokens) for ask in asks}
            for batch in self._plan(asks, sampling.max_tokens):
                for part in self._written(batch, prompts, sampling, lengths):
                    yield from part

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of each token of each continuation, given its prompt.

        Raises ConfigError for a pair over the context window: there is no score to give.
        """
        loaded = self._open
        found: list[list[float]] = [[] for _ in pairs]
        for chunk in _chunks([prompt for prompt, _ in pairs]):
            asks = []
            for index in chunk:
                prompt, continuation = pairs[index]
                tokens, scored = loaded.renderer.encode_pair(prompt.messages, continuation)
                if len(tokens) > loaded.window:
                    raise ConfigError(f"item {prompt.item_id}: longer than the context window")
                asks.append(PromptRow(index, tokens, scored + 1))
            self._score(asks, found)
        return found

    def score_tokens(
        self, rows: Sequence[Sequence[int]], first: Sequence[int]
    ) -> list[list[float]]:
        """The log-probability of each token from place `first` on, given all before it.

        `first` is 1 at least: nothing is known of a token with nothing before it.
        """
        if any(not 0 < at < len(row) for row, at in zip(rows, first, strict=True)):
            raise ValueError("a place within each row, and not its first")
        asks = [
            PromptRow(index, list(row), len(row) - at + 1)
            for index, (row, at) in enumerate(zip(rows, first, strict=True))
        ]
        found: list[list[float]] = [[] for _ in rows]
        self._score(asks, found)
        return found

    @property
    def renderer(self) -> Renderer:
        """How this model's prompts become tokens."""
        return self._open.renderer

    @property
    def window(self) -> int:
        """How many tokens it can read at once."""
        return self._open.window

    def close(self) -> None:
        """Give back the memory of the weights."""
        if self._loaded is None:
            return
        on_gpu = self._loaded.device != "cpu"
        self._loaded = None
        gc.collect()
        if on_gpu:
            importlib.import_module("torch").cuda.empty_cache()

    @property
    def _open(self) -> Loaded:
        if self._loaded is None:
            raise ConfigError(f"{self.name}: the model was closed")
        return self._loaded

    def _score(self, asks: Sequence[PromptRow], found: list[list[float]]) -> None:
        """Put the scores of these into `found`, each in its place."""
        for batch in self._plan(asks, 0):
            for row, values in zip(batch.rows, self._open.engine.score(batch), strict=True):
                found[row.index] = values

    def _plan(self, rows: Sequence[PromptRow], extra: int) -> list[Batch]:
        return plan(
            rows, max_rows=self._rows, max_slots=self._slots, extra=extra, share=self._share
        )

    def _written(
        self,
        batch: Batch,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        lengths: dict[int, int],
    ) -> Iterator[list[tuple[int, Output]]]:
        """The outputs of one batch; of its halves if it does not fit into the GPU's memory."""
        renderer = self._open.renderer
        stops = sampling.stop
        watch = bool(stops or renderer.stops)
        asked = [prompts[row.index] for row in batch.rows]
        draws = [rng(p.seed, "sampling", f"{p.item_id}/{p.repeat}") for p in asked]
        started = time.perf_counter()
        try:
            written = self._open.engine.write(
                batch,
                sampling,
                draws,
                lambda tokens: watch and renderer.cut(renderer.decode(tokens), stops) is not None,
            )
        except importlib.import_module("torch").OutOfMemoryError:
            self._open.engine.forget()
            written = None
        if written is None:
            parts = _halves(batch)
            if not parts:
                # one prompt alone does not fit into memory: an error of the machine that serves it
                index = batch.rows[0].index
                yield [(index, _failed(asked[0], lengths[index], "server"))]
            for part in parts:
                yield from self._written(part, prompts, sampling, lengths)
            return
        share = (time.perf_counter() - started) / len(batch.rows)
        outputs = []
        for row, prompt, one in zip(batch.rows, asked, written, strict=True):
            text = renderer.decode(one.tokens)
            cut = renderer.cut(text, stops) if watch else None
            output = Output(
                text=text if cut is None else cut,
                finish_reason=one.reason,
                input_tokens=lengths[row.index],
                output_tokens=len(one.tokens),
                seconds=share,
                prompt_sha256=messages_sha256(prompt.messages),
            )
            outputs.append((row.index, output))
        yield outputs


def _chunks(prompts: Sequence[Prompt]) -> Iterator[list[int]]:
    """Indices in chunks: a draw at a time, items of one report beside each other.

    The order comes from what the prompts are, not from where they stood.
    """
    draws: dict[tuple[Message, ...], list[int]] = {}
    for index, prompt in enumerate(prompts):
        draws.setdefault(prompt.messages[:-1], []).append(index)
    for _, members in sorted(draws.items(), key=lambda draw: messages_sha256(draw[0])):
        members.sort(key=lambda index: (prompts[index].context, prompts[index].item_id))
        for start in range(0, len(members), _CHUNK):
            yield members[start : start + _CHUNK]


def _halves(batch: Batch) -> list[Batch]:
    """The batch as two, or nothing if it is one row."""
    if len(batch.groups) > 1:
        middle = len(batch.groups) // 2
        return [
            Batch(batch.shared, batch.groups[:middle]),
            Batch(batch.shared, batch.groups[middle:]),
        ]
    [group] = batch.groups
    middle = len(group.rows) // 2
    parts = [group.rows[:middle], group.rows[middle:]] if middle else []
    return [Batch(batch.shared, (type(group)(group.context, rows),)) for rows in parts]


def _failed(prompt: Prompt, tokens: int, error: str) -> Output:
    return Output("", "error", tokens, 0, 0.0, error, messages_sha256(prompt.messages))
