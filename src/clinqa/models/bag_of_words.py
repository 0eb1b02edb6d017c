"""`baseline:bag-of-words`: True or False by the words of the statement alone.

It learns from train which words stand in true and which in false statements, and knows nothing
else. Where it does well, so may a model that has only learnt the wording.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from clinqa.core.errors import ConfigError
from clinqa.models.protocol import Output, Prompt, Sampling

__all__ = ["BagOfWords"]

_WORDS = ("False", "True")
_TOKEN = r"[^\W_]+|[^\w\s]"  # noqa: S105 (a pattern)


class BagOfWords:
    """Words and neighbours in a logistic regression; the same whatever the order of train."""

    deterministic = True
    name = "baseline:bag-of-words"

    def __init__(self, train: Iterable[tuple[str, str]]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression

        rows = sorted(train)
        if {answer for _, answer in rows} != set(_WORDS):
            raise ConfigError(
                f"{self.name}: learns from true_false items of train, True and False; there are "
                "none of one of them"
            )
        self._words = CountVectorizer(token_pattern=_TOKEN, ngram_range=(1, 2), lowercase=True)
        seen = self._words.fit_transform([text for text, _ in rows])
        self._model = LogisticRegression(C=1.0, max_iter=500, solver="liblinear", random_state=0)
        self._model.fit(seen, [answer == "True" for _, answer in rows])

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """The likelier of the two words; `sampling` changes nothing."""
        started = perf_counter()
        chances = self._chances(prompts)
        seconds = (perf_counter() - started) / max(1, len(prompts))
        for index, chance in enumerate(chances):
            yield index, Output(_WORDS[chance > 0.5], "stop", None, None, seconds)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> list[list[float]]:
        """The log-probability of True or False, as one token."""
        found = []
        chances = self._chances([prompt for prompt, _ in pairs])
        for (_, word), chance in zip(pairs, chances, strict=True):
            if word.strip() not in _WORDS:
                raise ConfigError(f"{self.name}: scores True and False only")
            found.append([math.log(max(chance if word.strip() == "True" else 1 - chance, 1e-30))])
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
