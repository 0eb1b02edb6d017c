"""The shortcut probe: can the label be told from the statement's wording alone?

A bag-of-words classifier sees the statement and nothing else: neither its source nor its twin. It
is cross-validated by pair, so that no twin is among what it learned from. At chance (0.5) the
wording gives nothing away; published baselines of this kind reach 86 to 96 % on generated data.
Well below chance is no shortcut either: where every word is exactly as often true as false, what
is left after one pair is taken out leans the other way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clinqa.core.arrays import Bools, Ints
from clinqa.core.ids import stable_hash
from clinqa.stats.estimates import Estimate, estimate

__all__ = ["FEWEST_PAIRS", "Probe", "probe"]

FEWEST_PAIRS = 20
"""Of fewer pairs nothing can be learned and nothing said."""

_FOLDS = 10
_MOST_PAIRS = 20_000
_WORD = r"[^\W_]+|[^\w\s]"
_SIGNATURE = "probe|words+neighbours|logistic|C=1|10-fold by pair|v1"


@dataclass(frozen=True, slots=True)
class Probe:
    """The accuracy of the classifier with its interval over pairs; None where there are too few."""

    accuracy: Estimate | None
    pairs: int
    folds: int = _FOLDS

    def as_json(self) -> dict[str, object]:
        """For a manifest."""
        found = self.accuracy
        return {
            "accuracy": None if found is None else round(found.value, 6),
            "low": None if found is None else round(found.low, 6),
            "high": None if found is None else round(found.high, 6),
            "n": 0 if found is None else found.n,
            "clusters": 0 if found is None else found.clusters,
            "signature": _SIGNATURE,
        }


def probe(
    statements: Sequence[str], labels: Sequence[bool], pairs: Sequence[str], seed: int = 0
) -> Probe:
    """Cross-validated accuracy on the statements alone; the same in whatever order they come."""
    rows = sorted(zip(pairs, labels, statements, strict=True))
    names = sorted({pair for pair, _, _ in rows}, key=lambda name: stable_hash("probe", name))
    count = len(names)
    if count < FEWEST_PAIRS:
        return Probe(None, count)
    chosen = set(names[:_MOST_PAIRS])
    rows = [row for row in rows if row[0] in chosen]
    fold = {name: number % _FOLDS for number, name in enumerate(names[:_MOST_PAIRS])}
    folds = np.array([fold[pair] for pair, _, _ in rows])
    right = _answers(
        [text for _, _, text in rows], np.array([label for _, label, _ in rows]), folds
    )
    groups = [pair for pair, _, _ in rows]
    return Probe(replace(estimate(right, groups, seed=seed), signature=_SIGNATURE), count)


def _answers(texts: Sequence[str], labels: Bools, folds: Ints) -> Bools:
    """Whether each statement was told right by a classifier that did not see its fold."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    right = np.zeros(len(texts), dtype=bool)
    for number in range(_FOLDS):
        held = folds == number
        if not held.any():
            continue
        words = CountVectorizer(token_pattern=_WORD, ngram_range=(1, 2), lowercase=True)
        seen = words.fit_transform([t for t, h in zip(texts, held, strict=True) if not h])
        model = LogisticRegression(C=1.0, max_iter=500, solver="liblinear", random_state=0)
        model.fit(seen, labels[~held])
        asked = words.transform([t for t, h in zip(texts, held, strict=True) if h])
        right[held] = model.predict(asked) == labels[held]
    return right
