"""`baseline:bag-of-words`: one of two answers by the words of the question alone.

It learns from train which words stand in questions of the one and of the other, and knows nothing
else. Where it does well, so may a model that has only learnt the wording.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from clinqa.core.errors import ConfigError
from clinqa.kinds.registry import can
from clinqa.models.protocol import Output, Prompt, Sampling

__all__ = ["BagOfWords"]

_TOKEN = r"[^\W_]+|[^\w\s]"  # noqa: S105 (a pattern)


class BagOfWords:
    """Words and neighbours in a logistic regression; the same whatever the order of train."""

    deterministic = True
    name = "baseline:bag-of-words"

    def __init__(self, train: Iterable[tuple[str, str]], words: tuple[str, str] | None) -> None:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression

        if words is None:
            raise ConfigError(f"{self.name}: answers {can('two_classes')} items only")
        rows = sorted(train)
        if {answer for _, answer in rows} != set(words):
            raise ConfigError(
                f"{self.name}: learns from {can('two_classes')} items of train, {words[1]} and "
                f"{words[0]}; there are none of one of them"
            )
        self._answers = words
        self._words = CountVectorizer(token_pattern=_TOKEN, ngram_range=(1, 2), lowercase=True)
        seen = self._words.fit_transform([text for text, _ in rows])
        self._model = LogisticRegression(C=1.0, max_iter=500, solver="liblinear", random_state=0)
        self._model.fit(seen, [answer == words[1] for _, answer in rows])

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likelier of the two words; `sampling` changes nothing."""
        started = perf_counter()
        chances = self._chances(prompts)
        seconds = (perf_counter() - started) / max(1, len(prompts))
        for index, chance in enumerate(chances):
            yield index, Output(self._answers[chance > 0.5], "stop", None, None, seconds)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of one of the two answers, as one token."""
        found = []
        no, yes = self._answers
        chances = self._chances([prompt for prompt, _ in pairs])
        for (_, word), chance in zip(pairs, chances, strict=True):
            if word.strip() not in self._answers:
                raise ConfigError(f"{self.name}: scores {yes} and {no} only")
            found.append([math.log(max(chance if word.strip() == yes else 1 - chance, 1e-30))])
        return found

    def count_tokens(self, prompt: Prompt) -> int:
        """A baseline reads no tokens."""
        return 0

    def close(self) -> None:
        """Nothing is held."""

    def _chances(self, prompts: Sequence[Prompt]) -> list[float]:
        if not prompts:
            return []
        rows = self._words.transform([prompt.question for prompt in prompts])
        chances: list[float] = self._model.predict_proba(rows)[:, 1].tolist()
        return chances
