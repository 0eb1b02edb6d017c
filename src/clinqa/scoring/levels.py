"""Macro-F1 from a table of reference classes (rows) by read classes (columns), one or many.

The last column stands for anything else: an answer that says nothing of what was asked, that
contradicts itself, or that is no answer. It is a wrong answer of every class.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["macro_f1"]

Floats = npt.NDArray[np.float64]


def macro_f1(table: Floats, classes: list[int]) -> Floats:
    """The mean F1 of these classes, none of which is left out: one never found counts 0.

    `table` may have leading axes. NaN where it holds no items.

    >>> macro_f1(np.array([[8.0, 2.0, 0.0], [1.0, 4.0, 5.0]]), [0, 1]).round(3).item()
    0.671
    """
    hits = table[..., classes, classes]
    # items of other classes read as one of these are no part of the question
    among = table[..., classes, :]
    found, wanted = among[..., classes].sum(axis=-2), among.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(found + wanted > 0, 2 * hits / (found + wanted), 0.0)
    return np.where(wanted.sum(axis=-1) > 0, scores.mean(axis=-1), np.nan)
