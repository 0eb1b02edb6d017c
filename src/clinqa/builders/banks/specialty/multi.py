"""Sets of specialties for each question: conformal, with coverage measured on other questions.

The expert's questions that the voters have not learned from are divided: one part sets the
threshold, another tells what it is worth. The sets of the dataset then use all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clinqa.builders.banks.specialty.specialty_options import SetOptions
from clinqa.core.arrays import Bools, Floats
from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash, sub_seed
from clinqa.stats.conformal import (
    Coverage,
    Threshold,
    class_thresholds,
    coverage,
    cross_sets,
    fewest_a_class,
    gold_scores,
    randomised_sets,
    sets,
    threshold,
)

__all__ = [
    "SetReport",
    "cross_report",
    "divide",
    "evaluate",
    "frequencies",
    "gold_mask",
    "make",
    "refuse_few_halves",
]

_RESPLITS = 200


@dataclass(frozen=True, slots=True)
class SetReport:
    """Coverage at one alpha, on questions that had no part in the threshold."""

    alpha: float
    limit: Threshold
    found: Coverage
    scores: int  # different scores among the calibration questions
    resplits_within: float | None  # share of many divisions whose coverage is in the band

    def as_json(self) -> dict[str, Any]:
        found = self.found
        return {
            "alpha": self.alpha,
            "rule": self.limit.rule,
            "k": self.limit.k,
            "calibration_n": self.limit.n,
            "threshold": self.limit.value if math.isfinite(self.limit.value) else None,
            "full_set": self.limit.full,
            "coverage": found.covered.value,
            "low": found.covered.low,
            "high": found.covered.high,
            "n": found.covered.n,
            "band": found.band,
            "within_band": found.within_band,
            "resplits_within_band": self.resplits_within,
            "mean_set_size": found.mean_size,
            "empty_sets": found.empty,
            "f1": found.f1,
            "precision": found.precision,
            "recall": found.recall,
            "different_scores": self.scores,
            "signature": found.covered.signature,
        }


def gold_mask(gold: Sequence[frozenset[str]], classes: Sequence[str]) -> Bools:
    """(question, class): is it a gold label? A gold label outside the classes has no column."""
    return np.array([[name in one for name in classes] for one in gold], dtype=bool).reshape(
        len(gold), len(classes)
    )


def divide(groups: Sequence[str], seed: int, purpose: str, share: float) -> Bools:
    """A part of about `share` of the groups, by hash: near-duplicates stay together."""
    names = sorted(set(groups), key=lambda name: (stable_hash(seed, purpose, name), name))
    chosen = set(names[: round(share * len(names))])
    return np.array([group in chosen for group in groups], dtype=bool)


def refuse_few(gold: Bools, alpha: float) -> None:
    """Raise ConfigError where a specialty has too few calibration questions for a threshold."""
    few = [int(n) for n in gold.sum(axis=0) if n < fewest_a_class(alpha)]
    if few:
        raise ConfigError(
            f"--sets class at --alpha {alpha:g} needs {fewest_a_class(alpha)} calibration "
            f"questions of each specialty; {len(few)} specialties have fewer"
        )


def refuse_few_halves(gold: Bools, groups: Sequence[str], alpha: float, seed: int) -> None:
    """The same of the half that `evaluate` calibrates on, before anything is trained."""
    refuse_few(gold[divide(groups, seed, "calibration", 0.5)], alpha)


def _held(
    use: Floats, probabilities: Floats, gold: Bools, options: SetOptions, alpha: float, seed: int
) -> tuple[Bools, Threshold]:
    scores = gold_scores(probabilities, gold, options.cover)
    limit = threshold(scores, alpha, options.rule)
    if options.kind == "class":
        refuse_few(gold, alpha)
        return sets(use, class_thresholds(probabilities, gold, alpha)), limit
    if options.randomised:
        return randomised_sets(use, scores, alpha, seed=seed), limit
    return sets(use, limit), limit


def evaluate(
    probabilities: Floats,
    gold: Bools,
    groups: Sequence[str],
    options: SetOptions,
    alphas: Sequence[float],
    seed: int,
) -> list[SetReport]:
    """Coverage of each alpha: half of these questions set the threshold, the other half tells.

    The division is by groups and by the seed. To show that it was no lucky one, the share of many
    other divisions whose coverage lies within its band is told too (95 % are expected where scores
    have no ties; they overlap, so that it is no test of its own).
    """
    found = []
    first = divide(groups, seed, "calibration", 0.5)
    for alpha in alphas:
        limit, report = _one(probabilities, gold, first, options, alpha, seed)
        within: list[bool] = []
        if report.within_band is not None:
            for turn in range(_RESPLITS):
                mask = divide(groups, sub_seed(seed, "division", str(turn)), "calibration", 0.5)
                _, other = _one(probabilities, gold, mask, options, alpha, seed)
                within.append(bool(other.within_band))
        scores = len(np.unique(gold_scores(probabilities[first], gold[first], options.cover)))
        share = float(np.mean(within)) if within else None
        found.append(SetReport(alpha, limit, report, scores, share))
    return found


def _one(
    probabilities: Floats,
    gold: Bools,
    first: Bools,
    options: SetOptions,
    alpha: float,
    seed: int,
) -> tuple[Threshold, Coverage]:
    own = sub_seed(seed, "randomised sets") % (1 << 32)
    held, limit = _held(
        probabilities[~first], probabilities[first], gold[first], options, alpha, own
    )
    return limit, coverage(held, gold[~first], limit, cover=options.cover)


def cross_report(
    probabilities: Sequence[Floats],
    scores: Sequence[Floats],
    gold: Bools,
    options: SetOptions,
    alpha: float,
) -> SetReport:
    """Coverage of cross-conformal sets; it has no single threshold, and no band."""
    held = cross_sets(probabilities, scores, alpha)
    together = np.concatenate(scores)
    limit = Threshold(math.nan, None, len(together), alpha)
    found = coverage(held, gold, limit, cover=options.cover)
    named = f"coverage|{options.cover} gold label|cross-conformal|Wilson|0.95"
    found = replace(found, covered=replace(found.covered, signature=named))
    return SetReport(alpha, limit, found, len(np.unique(together)), None)


def make(
    use: Floats, probabilities: Floats, gold: Bools, options: SetOptions, seed: int
) -> tuple[Bools, Threshold]:
    """The sets of the questions to be used, from all calibration questions."""
    own = sub_seed(seed, "randomised sets", "use") % (1 << 32)
    return _held(use, probabilities, gold, options, options.alpha, own)


def frequencies(labels: Sequence[Sequence[str | None]], classes: Sequence[str]) -> Floats:
    """Shares of votes as probabilities: five votes give six values, so that scores are tied."""
    place = {name: at for at, name in enumerate(classes)}
    made: Floats = np.zeros((len(labels), len(classes)))
    for row, votes in enumerate(labels):
        for label in votes:
            at = None if label is None else place.get(label)
            if at is not None:
                made[row, at] += 1 / len(votes)
    return made
