"""Figures of a two-way judgement as functions of its four cells, and what must hold between them.

Everything takes sums of cells (true positive, false negative, true negative, false positive), one
row for the whole or one without each cluster. "Positive" is the statement that is True.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Floats
from clinqa.stats.measure import ratio

__all__ = ["MEASURES", "Cells", "cells_of_rates", "contradictions"]


@dataclass(frozen=True, slots=True)
class Cells:
    """True statements judged True and False, False statements judged False and True."""

    tp: Floats
    fn: Floats
    tn: Floats
    fp: Floats

    @property
    def n(self) -> Floats:
        """All statements."""
        return self.tp + self.fn + self.tn + self.fp


def cells_of_rates(sensitivity: float, specificity: float, prevalence: float) -> Cells:
    """The cells, as shares of all, that two rates and the share of True statements stand for.

    >>> round(float(accuracy(cells_of_rates(0.934, 0.060, 0.506))), 3)
    0.502
    """
    true, false = np.float64(prevalence), np.float64(1 - prevalence)
    return Cells(
        *(
            np.asarray(cell, dtype=np.float64)
            for cell in (
                true * sensitivity,
                true * (1 - sensitivity),
                false * specificity,
                false * (1 - specificity),
            )
        )
    )


def accuracy(c: Cells) -> Floats:
    """The share judged right."""
    return ratio(c.tp + c.tn, c.n)


def sensitivity(c: Cells) -> Floats:
    """The share of True statements judged True."""
    return ratio(c.tp, c.tp + c.fn)


def specificity(c: Cells) -> Floats:
    """The share of False statements judged False."""
    return ratio(c.tn, c.tn + c.fp)


def precision(c: Cells) -> Floats:
    """The share of those judged True that are; none where nothing is judged True."""
    return ratio(c.tp, c.tp + c.fp)


def macro_f1(c: Cells) -> Floats:
    """The mean of the F1 of True and of False; that of a class nobody says is 0."""
    return (_f1(c.tp, c.fp, c.fn) + _f1(c.tn, c.fn, c.fp)) / 2


def mcc(c: Cells) -> Floats:
    """Matthews' correlation; 0 where a model says one thing only."""
    product = (c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)
    with np.errstate(invalid="ignore", divide="ignore"):
        made = np.where(product > 0, (c.tp * c.tn - c.fp * c.fn) / np.sqrt(product), 0.0)
    return np.where(c.n > 0, made, np.nan)


def kappa(c: Cells) -> Floats:
    """Cohen's kappa of judgement and truth; none where both are of one class throughout."""
    n = c.n
    by_chance = (c.tp + c.fn) * (c.tp + c.fp) + (c.tn + c.fp) * (c.tn + c.fn)
    return ratio((c.tp + c.tn) * n - by_chance, n * n - by_chance)


def youden_j(c: Cells) -> Floats:
    """Sensitivity + specificity - 1: 0 for whoever does not look."""
    return sensitivity(c) + specificity(c) - 1


def true_share(c: Cells) -> Floats:
    """The share judged True."""
    return ratio(c.tp + c.fp, c.n)


def directional_bias(c: Cells) -> Floats:
    """Accuracy minus macro-F1: 0 without a leaning, 1/6 for one answer only on a balanced set."""
    return accuracy(c) - macro_f1(c)


MEASURES: Mapping[str, Callable[[Cells], Floats]] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "sensitivity": sensitivity,
    "specificity": specificity,
    "precision": precision,
    "mcc": mcc,
    "kappa": kappa,
    "youden_j": youden_j,
    "directional_bias": directional_bias,
}


def contradictions(
    figures: Mapping[str, float], prevalence: float, *, within: float = 0.005
) -> list[str]:
    """What cannot be true of these figures together, in words; `within` allows for rounding.

    Accuracy, kappa and J all follow from sensitivity, specificity and prevalence; on a balanced
    set kappa is 2 * accuracy - 1 whatever the two rates are.

    >>> contradictions({"accuracy": 0.763, "kappa": 0.49}, 0.5)
    ['kappa 0.490, but accuracy 0.763 on a balanced set makes it 0.526']
    """
    found = []
    rates = figures.get("sensitivity"), figures.get("specificity")
    if rates[0] is not None and rates[1] is not None:
        cells = cells_of_rates(rates[0], rates[1], prevalence)
        for name in ("accuracy", "macro_f1", "kappa", "youden_j", "mcc"):
            said, made = figures.get(name), float(MEASURES[name](cells))
            if said is not None and abs(said - made) > 2 * within:
                found.append(
                    f"{name} {said:.3f}, but sensitivity {rates[0]:.3f} and specificity "
                    f"{rates[1]:.3f} make it {made:.3f}"
                )
        return found
    right = figures.get("accuracy")
    if right is not None and abs(prevalence - 0.5) <= 0.02:
        made = 2 * right - 1
        for name in ("kappa", "youden_j"):
            said = figures.get(name)
            # at most this much comes from a set that is not quite balanced
            slack = 2 * within + 2 * abs(prevalence - 0.5)
            if said is not None and abs(said - made) > slack:
                found.append(
                    f"{name} {said:.3f}, but accuracy {right:.3f} on a balanced set makes it "
                    f"{made:.3f}"
                )
    return found


def _f1(right: Floats, too_many: Floats, missed: Floats) -> Floats:
    # of a class nobody says and nobody is: 0
    return np.nan_to_num(ratio(2 * right, 2 * right + too_many + missed))
