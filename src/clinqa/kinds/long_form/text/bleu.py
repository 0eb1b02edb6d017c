"""BLEU (Papineni et al. 2002) as sacrebleu computes it, from counts that can be added up.

A pair's counts are all that BLEU needs: two lengths, and matched and all n-grams for n = 1 to 4.
The BLEU of a set of pairs is a function of the sum of their counts; of one pair, of its own.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats, Ints
from clinqa.kinds.long_form.text.cut_texts import Ragged
from clinqa.kinds.long_form.text.overlap import ngram_overlaps

__all__ = ["COUNTS", "ORDERS", "bleu", "bleu_counts"]

ORDERS: Final = 4
#: The columns of a pair's counts.
COUNTS: Final = (
    "bleu_hypothesis_tokens",
    "bleu_reference_tokens",
    *(f"bleu_matches_{n}" for n in range(1, ORDERS + 1)),
    *(f"bleu_ngrams_{n}" for n in range(1, ORDERS + 1)),
)


def bleu_counts(hypotheses: Ragged, references: Ragged) -> Ints:
    """The counts of each pair, one row a pair, columns as `COUNTS`."""
    found = list(ngram_overlaps(hypotheses, references, ORDERS))
    matches = [matched for matched, _, _ in found]
    ngrams = [of_hypothesis for _, of_hypothesis, _ in found]
    return np.stack([hypotheses.lengths, references.lengths, *matches, *ngrams], axis=1)


def bleu(
    counts: ArrayLike,
    *,
    smoothing: Literal["exp", "none"] = "exp",
    effective_order: bool = False,
) -> Floats:
    """BLEU from 0 to 1 of each row of counts (sums over a corpus, or one pair's).

    sacrebleu's defaults: `exp` halves the precision anew for each order without a match.
    `effective_order` leaves out the orders that the hypothesis is too short for; without it,
    and a single order without n-grams, the figure is 0.

    >>> bleu([[3, 3, 3, 2, 1, 0, 3, 2, 1, 0]]).tolist()  # three equal tokens have no 4-gram
    [0.0]
    >>> bleu([[3, 3, 3, 2, 1, 0, 3, 2, 1, 0]], effective_order=True).tolist()
    [1.0]
    """
    table = np.asarray(counts, dtype=np.float64)
    ours, theirs = table[..., 0], table[..., 1]
    matches, ngrams = table[..., 2 : 2 + ORDERS], table[..., 2 + ORDERS : 2 + 2 * ORDERS]
    exists, none = ngrams > 0, matches == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        shorter = np.exp(1 - theirs / ours)
        brevity = np.where(ours < theirs, np.where(ours > 0, shorter, 0.0), 1.0)
        if smoothing == "exp":
            halvings = np.cumsum(none & exists, axis=-1)
            matches = np.where(none, 0.5**halvings, matches)
        logs = np.where(exists, np.log(matches / ngrams), 0.0 if effective_order else -np.inf)
    orders = exists.sum(axis=-1) if effective_order else ORDERS
    made = brevity * np.exp(logs.sum(axis=-1) / np.maximum(orders, 1))
    return np.where(none.all(axis=-1), 0.0, made)
