"""A reader of answers that is trained on annotated outputs, and tested on other questions.

The matcher: a logistic regression over features of (output, option), and how good it is.

The option that is the only one likelier than not is picked; of none or of several, none is. The
weights are names and numbers, kept as JSON.

Outputs with what they commit to: a JSONL file of the user's, or the bundled, made ones.

    {"question": "…", "options": ["…", "…"], "output": "…", "letter": "B"}

`options` in the order in which the model saw them (or an object by letter), `letter` null where the
output commits to none. Questions decide the folds: what is learnt from answers to a question never
judges others to it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from clinqa.core.arrays import Ints
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.hashing import sha256_file
from clinqa.core.ids import stable_hash
from clinqa.core.manifest import FileRecord
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.kinds.multiple_choice.matching.features import features_of
from clinqa.simulate.phrasings import made_outputs
from clinqa.stats.estimates import Estimate, estimate

__all__ = [
    "FEWEST",
    "FOLDS",
    "Annotated",
    "Matcher",
    "TrainedMatcher",
    "bundled_outputs",
    "fit",
    "held_out",
    "read_annotated",
    "trained_matcher",
]

_MAX_BYTES = 256 << 20
FEWEST = 20
"""Questions that are needed at least."""
_FORM = '{"question": text, "options": [texts], "output": text, "letter": "B" or null}'


@dataclass(frozen=True, slots=True)
class Annotated:
    """One output. `question` is a hash: the texts of questions are not learnt from."""

    question: int
    options: tuple[str, ...]
    output: str
    place: int | None  # of the option it commits to


def bundled_outputs() -> list[Annotated]:
    """The made outputs that come with clinqa."""
    return [
        Annotated(
            stable_hash(one.question),
            one.options,
            one.output,
            None if one.letter is None else LETTERS.index(one.letter),
        )
        for one in made_outputs()
    ]


def read_annotated(path: Path) -> list[Annotated]:
    """The outputs of a file; what is wrong with it is told by line, never by its text."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SourceError(f"--annotated {path}: over {_MAX_BYTES >> 20} MB")
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"--annotated {path}: cannot be read ({type(error).__name__})") from error
    rows = [_row(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    _check(f"--annotated {path}", rows)
    return rows


def _row(path: Path, number: int, line: str) -> Annotated:
    try:
        given: dict[str, Any] = json.loads(line)
        options = given["options"]
        if isinstance(options, dict):
            options = [options[letter] for letter in sorted(options)]
        question, output, letter = given["question"], given["output"], given["letter"]
        texts = [question, output, *options]
        if not isinstance(options, list) or not all(isinstance(text, str) for text in texts):
            raise TypeError
        for text in texts:
            text.encode()  # half of a pair of code units, which JSON can name, is no text
        if not 2 <= len(options) <= len(LETTERS):
            raise ValueError
        place = None if letter is None else LETTERS[: len(options)].index(letter)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(
            f"--annotated {path}:{number}: a line is {_FORM}, the letter one of its options'"
        ) from error
    return Annotated(stable_hash(question), tuple(options), output, place)


def _check(where: str, rows: Sequence[Annotated]) -> None:
    questions = {row.question for row in rows}
    if len(questions) < FEWEST:
        raise ConfigError(
            f"{where}: outputs to {len(questions):,} questions; a matcher is trained on "
            f"{FEWEST} or more, so that it can be tested on others"
        )
    committed = sum(row.place is not None for row in rows)
    if not committed:
        raise ConfigError(f"{where}: no output commits to an option")


BUNDLED = "bundled, made up"


@dataclass(frozen=True, slots=True)
class TrainedMatcher:
    """A matcher with what it was trained on and its accuracy on held-out questions."""

    matcher: Matcher
    source: str
    inputs: tuple[FileRecord, ...]
    outputs: int
    committed: int
    accuracy: Estimate
    #: of the accuracy
    signature: str

    def match(self, output: str, options: Sequence[str]) -> int | None:
        """The place of the option that an output commits to."""
        return self.matcher.match(output, options)

    @property
    def weights(self) -> bytes:
        """As a file."""
        return self.matcher.as_json()

    @property
    def fingerprint(self) -> str:
        """What decides its readings."""
        return hashlib.sha256(self.weights).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """For scores.json."""
        one = self.accuracy
        return {
            "source": self.source,
            "outputs": self.outputs,
            "committed": self.committed,
            "features": len(self.matcher.weights),
            "weights_sha256": self.fingerprint,
            "accuracy": {
                "metric": "matcher_accuracy",
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "clusters": one.clusters,
                "signature": self.signature,
            },
        }


def trained_matcher(path: Path | None, seed: int) -> TrainedMatcher:
    """The matcher of a file of annotated outputs, or of the bundled ones."""
    if path is None:
        return _trained_on_bundled(seed)
    annotated = read_annotated(path)
    record = FileRecord(path.name, sha256_file(path), path.stat().st_size)
    return _trained(annotated, path.name, (record,), seed)


@cache
def _trained_on_bundled(seed: int) -> TrainedMatcher:
    return _trained(bundled_outputs(), BUNDLED, (), seed)


def _trained(
    annotated: Sequence[Annotated], source: str, inputs: tuple[FileRecord, ...], seed: int
) -> TrainedMatcher:
    rows = [features_of(one.output, one.options) for one in annotated]
    accuracy = held_out(annotated, rows, seed)
    matcher = fit(annotated, rows)
    if not matcher.weights:
        raise ConfigError(f"{source}: nothing could be learnt from these annotated outputs")
    return TrainedMatcher(
        matcher,
        source,
        inputs,
        len(annotated),
        sum(one.place is not None for one in annotated),
        accuracy,
        f"matcher_accuracy|{FOLDS} folds by question|{source}|clusters: question|"
        f"{accuracy.signature}",
    )


FOLDS = 5
_QUESTIONS = 5  # a feature must be seen in answers to so many
_C = 1.0
_VERSION = 1

Rows = list[dict[str, float]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Weights by the name of the feature."""

    weights: Mapping[str, float]

    def match(self, output: str, options: Sequence[str]) -> int | None:
        """The place of the option that the output commits to; None for none or several."""
        return self.pick(features_of(output, options))

    def pick(self, rows: Rows) -> int | None:
        """The same from features."""
        likely = [at for at, row in enumerate(rows) if self.chance(row) > 0.5]
        return likely[0] if len(likely) == 1 else None

    def chance(self, row: Mapping[str, float]) -> float:
        """How likely it is that the output commits to this option."""
        logit = math.fsum(self.weights.get(name, 0.0) * value for name, value in row.items())
        return 1 / (1 + math.exp(-min(max(logit, -500.0), 500.0)))

    def as_json(self) -> bytes:
        """The weights as a file."""
        body = {"version": _VERSION, "weights": dict(sorted(self.weights.items()))}
        return (json.dumps(body, indent=0, ensure_ascii=False) + "\n").encode("utf-8")


def fit(annotated: Sequence[Annotated], rows: Sequence[Rows]) -> Matcher:
    """The matcher of these outputs; the same whatever their order."""
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    # in an order of content, so that the solver's last digits do not hang on the file's
    order = sorted(range(len(rows)), key=lambda at: _key(annotated[at]))
    seen: dict[str, set[int]] = {}
    for at in order:
        for row in rows[at]:
            for name in row:
                seen.setdefault(name, set()).add(annotated[at].question)
    enough = min(_QUESTIONS, max(1, len({one.question for one in annotated}) // 4))
    names = sorted(name for name, questions in seen.items() if len(questions) >= enough)
    column = {name: place for place, name in enumerate(names)}
    data: list[float] = []
    indices: list[int] = []
    ends = [0]
    labels: list[bool] = []
    for at in order:
        for option, row in enumerate(rows[at]):
            told = [(column[name], value) for name, value in row.items() if name in column]
            told.sort()
            indices += [place for place, _ in told]
            data += [value for _, value in told]
            ends.append(len(data))
            labels.append(annotated[at].place == option)
    matrix = csr_matrix((data, indices, ends), shape=(len(labels), len(names)))
    model = LogisticRegression(C=_C, solver="liblinear", fit_intercept=False, random_state=0)
    model.fit(matrix, labels)
    weights = model.coef_[0].tolist()
    return Matcher({name: round(w, 6) for name, w in zip(names, weights, strict=True) if w})


def held_out(annotated: Sequence[Annotated], rows: Sequence[Rows], seed: int) -> Estimate:
    """Accuracy on questions that the matcher was not trained on, every fold in turn.

    Right is the very option, or none where there is none; the interval is over questions.
    """
    right = np.zeros(len(annotated))
    folds = np.array([stable_hash(seed, "matcher", one.question) % FOLDS for one in annotated])
    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        if not len(test):
            continue
        matcher = fit(_some(annotated, train), _some(rows, train))
        for at in test.tolist():
            right[at] = matcher.pick(rows[at]) == annotated[at].place
    return estimate(right, [str(one.question) for one in annotated])


def _some(values: Sequence[T], at: Ints) -> list[T]:
    return [values[place] for place in at.tolist()]


def _key(one: Annotated) -> tuple[int, Iterable[str], str, int]:
    return one.question, one.options, one.output, -1 if one.place is None else one.place
