"""Token F1 (Rajpurkar et al. 2016): what the words of two normalised texts share, order ignored.

Normalised as SQuAD's script does: lower case, ASCII punctuation taken out (not replaced), the
articles a, an and the dropped, cut at white space. A pair in which either side has no word left
scores 0, as in SQuAD 1.1. The figure of a run is the mean over its items.
"""

from __future__ import annotations

from clinqa.core.arrays import Floats
from clinqa.kinds.long_form.text.cut_texts import Ragged
from clinqa.kinds.long_form.text.overlap import ngram_overlaps
from clinqa.kinds.long_form.text.rouge import f_measure

__all__ = ["token_f1"]


def token_f1(hypotheses: Ragged, references: Ragged) -> Floats:
    """F1 of each pair."""
    (found,) = ngram_overlaps(hypotheses, references, 1)
    return f_measure(*found)
