"""A model that may only say True or False: the likelier of the two by its own probabilities.

Nothing is written, so nothing has to be read and nothing is unanswered. What this measures is not
what the model would have said: figures of such runs carry another signature.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import (
    Described,
    Model,
    Output,
    Prompt,
    Sampling,
    Scorer,
    messages_sha256,
)

__all__ = ["WORDS", "Constrained"]

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
        return {**said, "decoding": f"the likelier of {' and '.join(WORDS)}"}

    def count_tokens(self, prompt: Prompt) -> int:
        """Tokens of the prompt."""
        return self._model.count_tokens(prompt)

    def close(self) -> None:
        """Give back the model's memory."""
        self._model.close()

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likelier word of each prompt, with both log-probabilities, as JSON.

        Equal ones are no answer. The log-probability of a word is the sum over its tokens.
        """
        for start in range(0, len(prompts), _AT_ONCE):
            chunk = prompts[start : start + _AT_ONCE]
            clock = time.perf_counter()
            scores = self._scorer.score([(prompt, word) for prompt in chunk for word in WORDS])
            seconds = (time.perf_counter() - clock) / len(chunk)
            for place, prompt in enumerate(chunk):
                true, false = (sum(scores[2 * place + n]) for n in range(2))
                text = _said(true, false)
                sha256 = messages_sha256(prompt.messages)
                yield start + place, Output(text, "stop", None, None, seconds, "", sha256)


def _said(true: float, false: float) -> str:
    """The answer as JSON; equal ones are both, which is no answer.

    >>> _said(-0.5, -1.0)
    '{"answer": "True", "log_probability": {"True": -0.5, "False": -1.0}}'
    """
    answer = " and ".join(WORDS) if true == false else WORDS[0] if true > false else WORDS[1]
    both = {"True": round(true, 6), "False": round(false, 6)}
    return json.dumps({"answer": answer, "log_probability": both})
