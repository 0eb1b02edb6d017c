"""What a model weighs: True against False, or the letters of options, by its own probabilities.

Constrained    the likeliest is the answer. Nothing is written, so nothing has to be read and
               nothing is unanswered; it is not what the model would have said, and figures of
               such runs carry another signature
Weighed        of multiple choice: the model writes, and beside it the letters are weighed as
               the first word of its answer
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clinqa.core.errors import ConfigError
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.models.protocol import (
    Described,
    Model,
    Output,
    Prompt,
    Sampling,
    Scorer,
    messages_sha256,
)

__all__ = ["WORDS", "Constrained", "Weighed"]

WORDS = ("True", "False")
_AT_ONCE = 64


class Constrained:
    """Any model that can score continuations, behind the protocol of models that write."""

    deterministic = True

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Scorer):
            raise ConfigError(
                f"{model.name}: gives no log-probabilities, so --constrained cannot be used with it"
            )
        self.name = model.name
        self._model: Model = model
        self._scorer: Scorer = model

    def describe(self) -> Mapping[str, str]:
        """The model's facts, and how it was asked."""
        said = self._model.describe() if isinstance(self._model, Described) else {}
        return {**said, "decoding": "the likeliest of the words allowed"}

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt."""
        return self._model.count_tokens(prompt)

    def close(self) -> None:
        """Give back the model's memory."""
        self._model.close()

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likeliest word of each prompt, with all log-probabilities, as JSON.

        Equal ones are no answer. The log-probability of a word is the sum over its tokens.
        """
        for start in range(0, len(prompts), _AT_ONCE):
            chunk = prompts[start : start + _AT_ONCE]
            clock = time.perf_counter()
            weighed = _weighed(self._scorer, chunk)
            seconds = (time.perf_counter() - clock) / len(chunk)
            for place, (prompt, found) in enumerate(zip(chunk, weighed, strict=True)):
                sha256 = messages_sha256(prompt.messages)
                letters = _finite(found) if prompt.options else ()
                text = _said(_words(prompt), found)
                output = Output(text, "stop", None, None, seconds, "", sha256, letters=letters)
                yield start + place, output


class Weighed:
    """A model that writes, with the letters of the options weighed before each answer."""

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Scorer):
            raise ConfigError(
                f"{model.name}: gives no log-probabilities, so --first-token cannot be used with it"
            )
        self.name, self.deterministic = model.name, model.deterministic
        self._model: Model = model
        self._scorer: Scorer = model

    def describe(self) -> Mapping[str, str]:
        """The model's facts."""
        return self._model.describe() if isinstance(self._model, Described) else {}

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt."""
        return self._model.count_tokens(prompt)

    def close(self) -> None:
        """Give back the model's memory."""
        self._model.close()

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """What the model writes; the letters stand beside it, unless the prompt is too long."""
        for start in range(0, len(prompts), 4 * _AT_ONCE):
            chunk = prompts[start : start + 4 * _AT_ONCE]
            letters = self._letters(chunk)
            for index, output in self._model.generate(chunk, sampling):
                yield start + index, replace(output, letters=letters[index])

    def _letters(self, chunk: Sequence[Prompt]) -> list[tuple[float, ...]]:
        try:
            return [_finite(found) for found in _weighed(self._scorer, chunk)]
        except ConfigError:  # one is over the context window, and will be an error of its own
            if len(chunk) == 1:
                return [()]
            return [self._letters([prompt])[0] for prompt in chunk]


def _finite(found: Sequence[float]) -> tuple[float, ...]:
    """The log-probabilities, or none where one is none."""
    return tuple(found) if all(map(math.isfinite, found)) else ()


def _words(prompt: Prompt) -> Sequence[str]:
    return LETTERS[: len(prompt.options)] if prompt.options else WORDS


def _weighed(scorer: Scorer, prompts: Sequence[Prompt]) -> list[list[float]]:
    """The log-probability of each word a prompt may be answered with."""
    asked = [(prompt, word) for prompt in prompts for word in _words(prompt)]
    scores = iter(scorer.score(asked))
    return [[round(sum(next(scores)), 6) for _ in _words(prompt)] for prompt in prompts]


def _said(words: Sequence[str], found: Sequence[float]) -> str:
    """The answer as JSON; equal ones are all of them, which is no answer.

    >>> _said(("True", "False"), [-0.5, -1.0])
    '{"answer": "True", "log_probability": {"True": -0.5, "False": -1.0}}'
    """
    best = max(found)
    answer = " and ".join(w for w, value in zip(words, found, strict=True) if value == best)
    told = dict(zip(words, found, strict=True))
    return json.dumps({"answer": answer, "log_probability": told})
