"""The models of a run, and what they weigh: the answers that the kind of item allows.

Constrained    the likeliest is the answer. Nothing is written, so nothing has to be read and
               nothing is unanswered; it is not what the model would have said, and figures of
               such runs carry another signature
Weighed        the model writes, and beside it the answers are weighed as the first word of what
               it writes
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from clinqa.asking.predict_options import PredictOptions
from clinqa.core.errors import ConfigError
from clinqa.models.protocol import (
    Model,
    ModelOptions,
    Output,
    Prompt,
    Sampling,
    Scorer,
    TellsFacts,
    TellsService,
    messages_sha256,
)
from clinqa.models.registry import open_model

__all__ = ["Constrained", "Models", "Weighed", "Words"]

_AT_ONCE = 64
Words = Callable[[Any], Sequence[str]]
"""The answers, from the kind's part of an item."""


class _Behind:
    """A model that can score continuations, behind the protocol of models that write."""

    flag = ""

    def __init__(self, model: Model, words: Words) -> None:
        if not isinstance(model, Scorer):
            raise ConfigError(
                f"{model.name}: gives no log-probabilities, so {self.flag} cannot be used with it"
            )
        self.name, self.deterministic = model.name, model.deterministic
        self._model: Model = model
        self._scorer: Scorer = model
        self._words = words

    def describe(self) -> dict[str, str]:
        """The model's facts."""
        return dict(self._model.describe()) if isinstance(self._model, TellsFacts) else {}

    def service(self) -> Mapping[str, Any]:
        """What the service behind the model did."""
        return self._model.service() if isinstance(self._model, TellsService) else {}

    def service_warnings(self) -> Sequence[str]:
        """The same in words."""
        return self._model.service_warnings() if isinstance(self._model, TellsService) else ()

    def because(self) -> str:
        """Why prompts have no answer."""
        return self._model.because() if isinstance(self._model, TellsService) else ""

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt."""
        return self._model.count_tokens(prompt)

    def close(self) -> None:
        """Give back the model's memory."""
        self._model.close()

    def _weighed(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """The log-probability of each word a prompt may be answered with, over its tokens."""
        asked = [(prompt, word) for prompt in prompts for word in self._words(prompt.own)]
        scores = iter(self._scorer.score(asked))
        return [
            [round(sum(next(scores)), 6) for _ in self._words(prompt.own)] for prompt in prompts
        ]


class Constrained(_Behind):
    """The likeliest of the words allowed."""

    flag = "--constrained"

    def __init__(self, model: Model, words: Words) -> None:
        super().__init__(model, words)
        self.deterministic = True

    def describe(self) -> dict[str, str]:
        """The model's facts, and how it was asked."""
        return {**super().describe(), "decoding": "the likeliest of the words allowed"}

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likeliest word of each prompt, with all log-probabilities, as JSON.

        Equal ones are no answer.
        """
        for start in range(0, len(prompts), _AT_ONCE):
            chunk = prompts[start : start + _AT_ONCE]
            clock = time.perf_counter()
            weighed = self._weighed(chunk)
            seconds = (time.perf_counter() - clock) / len(chunk)
            for place, (prompt, found) in enumerate(zip(chunk, weighed, strict=True), start):
                sha256 = messages_sha256(prompt.messages)
                text, kept = _said(self._words(prompt.own), found), _finite(found)
                yield place, Output(text, "stop", None, None, seconds, "", sha256, weighed=kept)


class Weighed(_Behind):
    """A model that writes, with the answers weighed before each."""

    flag = "--first-token"

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """What the model writes; the weights stand beside it, unless the prompt is too long."""
        for start in range(0, len(prompts), 4 * _AT_ONCE):
            chunk = prompts[start : start + 4 * _AT_ONCE]
            weights = self._weights(chunk)
            for index, output in self._model.generate(chunk, sampling):
                yield start + index, replace(output, weighed=weights[index])

    def _weights(self, chunk: Sequence[Prompt]) -> list[tuple[float, ...]]:
        try:
            return [_finite(found) for found in self._weighed(chunk)]
        except ConfigError:  # one is over the context window, and will be an error of its own
            if len(chunk) == 1:
                return [()]
            return [self._weights([prompt])[0] for prompt in chunk]


def _finite(found: Sequence[float]) -> tuple[float, ...]:
    """The log-probabilities, or none where one is none."""
    return tuple(found) if all(map(math.isfinite, found)) else ()


def _said(words: Sequence[str], found: Sequence[float]) -> str:
    """The answer as JSON; equal ones are all of them, which is no answer.

    >>> _said(("True", "False"), [-0.5, -1.0])
    '{"answer": "True", "log_probability": {"True": -0.5, "False": -1.0}}'
    """
    best = max(found)
    told = dict(zip(words, found, strict=True))
    answer = " and ".join(word for word, value in told.items() if value == best)
    return json.dumps({"answer": answer, "log_probability": told})


class Models:
    """The model of each repeat: one for all, unless each repeat has an adapter of its own."""

    def __init__(
        self,
        options: PredictOptions,
        given: ModelOptions,
        stack: ExitStack,
        facts: list[dict[str, Any]],
        words: Words | None = None,
    ) -> None:
        self._options, self._given, self._stack = options, given, stack
        self._words = words  # that are weighed; None: only what is written counts
        self._facts = facts  # of each model that was opened, for the manifest
        self._open: tuple[Path | None, Model] | None = None
        self.service: Mapping[str, Any] = {}  # what a service did, once the model is closed
        self.service_warnings: Sequence[str] = ()
        self.because = ""
        stack.callback(self._close)

    def __call__(self, repeat: int) -> Model:
        adapters = self._options.adapters
        adapter = adapters[min(repeat, len(adapters) - 1)] if adapters else None
        if self._open is None or self._open[0] != adapter:
            self._close()
            model = open_model(self._options.model, replace(self._given, adapter=adapter))
            if self._words is not None:
                model = (Constrained if self._options.constrained else Weighed)(model, self._words)
            self._open = adapter, model
            said = model.describe() if isinstance(model, TellsFacts) else {}
            facts = {"deterministic": model.deterministic, **said}
            if facts not in self._facts:
                self._facts.append(facts)
        return self._open[1]

    def _close(self) -> None:
        if self._open is not None:
            model = self._open[1]
            if isinstance(model, TellsService):
                self.service, self.because = model.service(), model.because()
                self.service_warnings = model.service_warnings()
            model.close()
            self._open = None
