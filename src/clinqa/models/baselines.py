"""Models that need no weights: the lower bounds every table should have.

    baseline:retrieval     the sentence of the context that best matches the question (BM25)
    baseline:prior         the answer train gives most often to that question; reads no context
    baseline:bag-of-words  one of two answers by the words of the question

What they read and count, and which there are besides, the kind of items says
(`kinds.facets.baseline`). All are deterministic, independent of order, and take no shots.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.kinds.registry import can, kinds
from clinqa.models.protocol import Model, ModelOptions, Output, Prompt, Sampling, TrainAnswer

__all__ = ["AnsweringModel", "BagOfWords", "open_baseline", "prior", "retrieve"]

Answerer = Callable[[Prompt], str]


def open_baseline(rest: str, options: ModelOptions) -> Model:
    """`baseline:retrieval`, `prior`, `bag-of-words`, or one that the kind of items has."""
    told = options.baseline
    if rest == "retrieval":
        passage = told.passage
        if passage is None:
            raise ConfigError(
                "--model baseline:retrieval answers with a sentence of the context, which is no "
                "answer to items of this kind; baseline:prior is a lower bound"
            )
        return AnsweringModel(
            "baseline:retrieval",
            lambda prompt: retrieve(prompt.question, passage(prompt.context, prompt.own)),
        )
    if rest == "prior":
        return AnsweringModel("baseline:prior", prior(options.train_answers, told.stratum))
    if rest == "bag-of-words":
        return BagOfWords(options.train_texts, told.words)
    if rest in told.others:
        answer = told.others[rest]
        return AnsweringModel(f"baseline:{rest}", lambda prompt: answer(prompt.own))
    raise ConfigError(_no_such(rest))


def _no_such(rest: str) -> str:
    """What is wrong with a name: it is another kind's, or nobody's."""
    others = {
        name: kind.name
        for kind in kinds()
        if kind.has("baseline")
        for name in kind.facet("baseline").others
    }
    if rest in others:
        return f"--model baseline:{rest}: answers {others[rest]} items only"
    known = [f"baseline:{one}" for one in ("retrieval", "prior", "bag-of-words", *others)]
    return f"--model baseline:{rest}: there are {', '.join(known[:-1])} and {known[-1]}"


class _Baseline:
    """What all of them are."""

    deterministic = True

    def count_tokens(self, prompt: Prompt) -> int:
        """A baseline reads no tokens."""
        return 0

    def close(self) -> None:
        """Nothing is held."""


class AnsweringModel(_Baseline):
    """A model made of one function from prompt to answer."""

    def __init__(self, name: str, answer: Answerer) -> None:
        self.name = name
        self._answer = answer

    def generate(
        self, prompts: Sequence[Prompt], sampling: Sampling
    ) -> Iterator[tuple[int, Output]]:
        """Each answer at once, in order; `sampling` changes nothing."""
        for index, prompt in enumerate(prompts):
            started = perf_counter()
            text = self._answer(prompt)
            # no tokenizer: numbers of tokens would mean nothing
            yield index, Output(text, "stop", None, None, perf_counter() - started)


# What is most frequent in train.


def prior(
    counted: Iterable[TrainAnswer], stratum: Callable[[str, Any], tuple[str, ...]]
) -> Answerer:
    """The most frequent answer of a question's stratum, else of the broader ones, else of all.

    `stratum` is of a prompt's category and its kind's part; without its first values it is broader.
    Answers that are equally frequent are told apart by their text, never by their place.
    """
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for one in counted:
        for key in _broader(one.stratum):
            counts.setdefault(key, Counter())[one.answer] += one.count
    best = {
        key: min(answers.items(), key=lambda pair: (-pair[1], pair[0]))[0]
        for key, answers in counts.items()
    }

    def answer(prompt: Prompt) -> str:
        keys = _broader(stratum(prompt.category, prompt.own))
        return next((best[key] for key in keys if key in best), "")

    return answer


def _broader(stratum: tuple[str, ...]) -> list[tuple[str, ...]]:
    """
    >>> _broader(("as", "finding"))
    [('as', 'finding'), ('finding',), ()]
    """
    return [stratum[place:] for place in range(len(stratum) + 1)]


# What matches best.

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_BREAK = re.compile(r"\n\s*\n")
# a full stop ends a sentence unless a digit or a lower-case letter follows (3.5 cm, approx. 4)
_STOP = re.compile(r"(?<=[.!?;])\s+(?=[^\sa-z\d])")
_HEADING = re.compile(r"^\s*([A-Z][A-Za-z /&,'-]{1,60}):\s*")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about all an and any are as at be been by can could describe described do does "
        "echocardiogram for from give given has have how if in is it its mention mentioned no not "
        "of on or report say says should study tell that the their there this to was were what "
        "when where which who will with would you",
    )
)


def retrieve(question: str, context: str) -> str:
    """The sentence of `context` with the highest BM25 score for the question's words.

    A sentence is also found by the heading it stands under, though the heading is no part of the
    answer. Equal scores go to the shorter sentence, then to the text that sorts first. A context
    that shares no word with the question gives an empty answer.

    >>> retrieve("Is there mitral regurgitation?", "AORTA: Normal. MITRAL VALVE: Trace leak.")
    'Trace leak.'
    """
    sentences, documents, lengths, rarity = _indexed(context)
    mean = sum(lengths) / max(1, len(lengths)) or 1.0  # of words that say nothing there are none
    asked = {word for word in _words(question) if word in rarity}
    best, found = 0.0, ""
    for sentence, counts, length in zip(sentences, documents, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / mean)
        score = sum(
            rarity[word] * counts[word] * (_K1 + 1) / (counts[word] + norm)
            for word in sorted(asked)  # a sum of floats depends on its order
            if word in counts
        )
        if score > best or (score == best > 0 and (len(sentence), sentence) < (len(found), found)):
            best, found = score, sentence
    return found


@lru_cache(maxsize=64)  # the items of one study share their context
def _indexed(
    context: str,
) -> tuple[list[str], list[Counter[str]], list[int], dict[str, float]]:
    sentences, documents = [], []
    for heading, sentence in _sentences(context):
        sentences.append(sentence)
        documents.append(Counter(_words(f"{heading} {sentence}")))
    seen = Counter(word for counts in documents for word in counts)
    rarity = {
        word: math.log(1 + (len(documents) - n + 0.5) / (n + 0.5)) for word, n in seen.items()
    }
    return sentences, documents, [counts.total() for counts in documents], rarity


def _sentences(context: str) -> Iterator[tuple[str, str]]:
    """(heading, sentence) of each distinct sentence; wrapped lines are joined."""
    seen = set()
    for paragraph in _BREAK.split(context.replace("\r\n", "\n")):
        heading = ""
        for line in _logical_lines(paragraph):
            for piece in _STOP.split(line):
                rest = piece.strip()
                while match := _HEADING.match(rest):
                    heading, rest = match[1], rest[match.end() :].strip()
                if rest and _WORD.search(rest) and (heading, rest) not in seen:
                    seen.add((heading, rest))
                    yield heading, rest


def _logical_lines(paragraph: str) -> list[str]:
    """Lines of a paragraph; a line that goes on in lower case or without an end is one with it."""
    lines: list[str] = []
    for raw in paragraph.splitlines():
        line = raw.strip()
        if not line:
            continue
        if lines and not _HEADING.match(line) and lines[-1][-1] not in ".!?;:":
            lines[-1] = f"{lines[-1]} {line}"
        else:
            lines.append(line)
    return lines


def _words(text: str) -> list[str]:
    """The words that say something, lower case, plural and singular alike."""
    words = (match.casefold() for match in _WORD.findall(text))
    return [_singular(word) for word in words if word not in _COMMON]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


# One of two answers by the words of the question alone.

_TOKEN = r"[^\W_]+|[^\w\s]"  # noqa: S105 (a pattern)


class BagOfWords(_Baseline):
    """Words and neighbours in a logistic regression; the same whatever the order of train.

    It learns from train which words stand in questions of the one and of the other answer, and
    knows nothing else. Where it does well, so may a model that has only learnt the wording.
    """

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

    def _chances(self, prompts: Sequence[Prompt]) -> list[float]:
        if not prompts:
            return []
        rows = self._words.transform([prompt.question for prompt in prompts])
        chances: list[float] = self._model.predict_proba(rows)[:, 1].tolist()
        return chances
