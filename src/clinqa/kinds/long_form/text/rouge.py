"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), F-measures of single pairs, as rouge-score has them."""

from __future__ import annotations

import numpy as np

from clinqa.core.arrays import Floats, Ints
from clinqa.kinds.long_form.text.cut_texts import Ragged
from clinqa.kinds.long_form.text.overlap import common_subsequence, ngram_overlaps

__all__ = ["f_measure", "rouge_f"]


def rouge_f(hypotheses: Ragged, references: Ragged) -> Floats:
    """ROUGE-1, -2 and -L of each pair, in three columns."""
    made = [f_measure(*found) for found in ngram_overlaps(hypotheses, references, 2)]
    longest = common_subsequence(hypotheses, references)
    made.append(f_measure(longest, hypotheses.lengths, references.lengths))
    return np.stack(made, axis=1)


def f_measure(shared: Ints, of_hypothesis: Ints, of_reference: Ints) -> Floats:
    """The harmonic mean of precision and recall, 0 where nothing is shared.

    >>> f_measure(np.array([1, 0]), np.array([1, 0]), np.array([3, 0])).tolist()
    [0.5, 0.0]
    """
    made: Floats = 2 * shared / np.maximum(of_hypothesis + of_reference, 1)
    return made
