"""The embedded annotator: five views of a question, each a voter trained on an expert's labels.

The views differ in what they see and in how they learn: characters with counts of cues, the bare
question, words under Bayes' rule, the words' latent dimensions, and the cues one by one; where the
MiniLM package is installed its sentence embeddings take the place of the latent dimensions. What is
said of them is always out of fold: no voter is measured on a question it has seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from clinqa.builders.banks.specialty.features import Features
from clinqa.core.arrays import Floats, Ints
from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash

__all__ = ["FOLDS", "Fitted", "fit", "folds_of", "out_of_fold", "views_of"]


FOLDS = 5
_CUES = 0.2  # weight of the cues' counts beside a row of n-grams of length 1
_CUES_ALONE = 0.3
_C = {"cues": 1.0}  # every other view: 10
_DIMENSIONS = 150
_FEWEST = 20


def views_of(features: Features) -> tuple[str, ...]:
    """The five voters that these features allow."""
    fourth = "latent" if features.meaning is None else "meaning"
    return ("characters", "question", "bayes", fourth, "cues")


@dataclass(frozen=True, slots=True)
class Fitted:
    """Five trained voters over the same classes."""

    classes: tuple[str, ...]
    voters: tuple[_Voter, ...]

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(voter.view for voter in self.voters)

    def probabilities(self, features: Features) -> Floats:
        """(voter, question, class)."""
        return np.stack([voter.probabilities(features) for voter in self.voters])


def fit(features: Features, labels: Sequence[str], classes: Sequence[str]) -> Fitted:
    """Train the five voters."""
    if len(labels) < _FEWEST or len(set(labels)) < 2:
        raise ConfigError(
            f"the expert file has {len(labels)} labelled questions of {len(set(labels))} "
            f"specialties; the classifier needs {_FEWEST} of 2 at the least"
        )
    place = {name: at for at, name in enumerate(classes)}
    targets = np.array([place[label] for label in labels])
    voters = tuple(_Voter(view, len(classes)) for view in views_of(features))
    for voter in voters:
        voter.learn(features, targets)
    return Fitted(tuple(classes), voters)


def folds_of(labels: Sequence[str], groups: Sequence[str], folds: int, seed: int) -> Ints:
    """The fold of each question: groups stay together, specialties are spread evenly.

    Depends on the content of labels and groups and on the seed, not on the order of rows.
    """
    first: dict[str, str] = {}
    for group, label in sorted(zip(groups, labels, strict=True)):
        first.setdefault(group, label)
    place: dict[str, int] = {}
    filled: dict[str, list[int]] = {}
    for group in sorted(first, key=lambda name: (stable_hash(seed, "fold", name), name)):
        mine = filled.setdefault(first[group], [0] * folds)
        start = stable_hash(seed, "first fold", first[group]) % folds
        turn = sorted(range(folds), key=lambda fold: (mine[fold], (fold - start) % folds))
        place[group] = turn[0]
        mine[turn[0]] += 1
    return np.array([place[group] for group in groups], dtype=np.int64)


def out_of_fold(
    features: Features,
    labels: Sequence[str],
    classes: Sequence[str],
    fold_of: Ints,
) -> Floats:
    """(voter, question, class): each question's by the voters trained on the other folds."""
    made = np.zeros((len(views_of(features)), features.rows, len(classes)))
    for fold in range(int(fold_of.max()) + 1):
        out = np.flatnonzero(fold_of == fold)
        rest = np.flatnonzero(fold_of != fold)
        if not len(out):
            continue
        model = fit(features.take(rest), [labels[at] for at in rest.tolist()], classes)
        made[:, out] = model.probabilities(features.take(out))
    return made


class _Voter:
    """One view: its n-grams with their weights, and what it learned."""

    def __init__(self, view: str, classes: int) -> None:
        self.view, self._classes = view, classes
        self._columns: Ints = np.empty(0, np.int64)
        self._weights: Floats = np.empty(0)
        self._model: Any = None
        self._latent: Any = None

    def learn(self, features: Features, targets: Ints) -> None:
        """Choose n-grams and weights from these questions, then fit."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import ComplementNB

        counts = self._counts(features)
        if counts is not None:
            often = np.asarray((counts > 0).sum(axis=0)).ravel()
            rows = counts.shape[0]
            keep = often >= (3 if self.view == "characters" else 2)
            if self.view == "characters":
                keep &= often <= rows / 2
            self._columns = np.flatnonzero(keep)
            self._weights = np.log((1 + rows) / (1 + often[self._columns])) + 1
        if self.view == "bayes":
            self._model = ComplementNB(alpha=1.0)
        else:
            self._model = LogisticRegression(C=_C.get(self.view, 10.0), max_iter=500)
        if self.view == "latent":
            weighed = self._weighed(features)
            size = min(_DIMENSIONS, *(side - 1 for side in weighed.shape))
            self._latent = TruncatedSVD(size, random_state=0).fit(weighed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a step short of convergence changes no label
            self._model.fit(self._seen(features), targets)

    def probabilities(self, features: Features) -> Floats:
        """(question, class); a class that the training questions lack has 0."""
        seen = self._seen(features)
        if self.view == "bayes":
            # independent words make Bayes overconfident: its evidence is taken to the third root
            logs = self._model.predict_joint_log_proba(seen) / 3
            found = np.exp(logs - logs.max(axis=1, keepdims=True))
            found /= found.sum(axis=1, keepdims=True)
        else:
            found = self._model.predict_proba(seen)
        made = np.zeros((len(found), self._classes))
        made[:, self._model.classes_] = found
        return made

    def _counts(self, features: Features) -> Any:
        return {
            "bayes": features.words,
            "latent": features.words,
            "characters": features.characters,
            "question": features.asked,
        }.get(self.view)

    def _seen(self, features: Features) -> Any:
        """What the model is given of these questions."""
        if self.view == "meaning":
            return features.meaning
        if self.view == "cues":
            counts = sparse.csr_matrix(features.cues)
            return sparse.hstack([features.hits, counts]).tocsr() * _CUES_ALONE
        if self.view == "bayes":
            return (features.words[:, self._columns] > 0).astype(np.float64)
        weighed = self._weighed(features)
        if self.view == "latent":
            found = self._latent.transform(weighed)
            return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        third = features.cues.shape[1] // 3
        # the bare question's voter must not see options and answer
        cues = features.cues[:, :third] if self.view == "question" else features.cues
        return sparse.hstack([weighed, sparse.csr_matrix(_CUES * cues)]).tocsr()

    def _weighed(self, features: Features) -> Any:
        """Counts on a logarithmic scale, rare n-grams heavier, rows of length 1."""
        weighed = sparse.csr_matrix(self._counts(features)[:, self._columns], copy=True)
        weighed.data = (1 + np.log(weighed.data)) * self._weights[weighed.indices]
        length = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
        return (sparse.diags_array(1 / np.maximum(length, 1e-12)) @ weighed).tocsr()
