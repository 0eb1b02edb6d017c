"""What two coded texts share, for many pairs at once.

A pair is a row of two `Ragged` tables. N-grams become single integers that hold their pair, so
that one sort finds the shared ones of all pairs together.

Token F1 (Rajpurkar et al. 2016): what the words of two normalised texts share, order ignored.

Normalised as SQuAD's script does: lower case, ASCII punctuation taken out (not replaced), the
articles a, an and the dropped, cut at white space. A pair in which either side has no word left
scores 0, as in SQuAD 1.1. The figure of a run is the mean over its items.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from clinqa.core.arrays import Floats, Ints
from clinqa.kinds.long_form.text.cut_texts import Ragged

__all__ = [
    "common_subsequence",
    "f_measure",
    "ngram_overlaps",
    "paired_off",
    "rouge_f",
    "token_f1",
]

_KEY_LIMIT = 1 << 62
# Code points from here to U+DFFF are surrogates, which a string built from codes leaves out.
_SURROGATES, _SURROGATE_COUNT, _CODE_POINTS = 0xD800, 0x800, 0x110000


def ngram_overlaps(
    hypotheses: Ragged, references: Ragged, highest: int
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For n = 1, 2, … `highest`: (matches, n-grams of the hypothesis, of the reference) by pair.

    An n-gram counts as matched at most as often as it stands in the reference.
    """
    pairs = len(hypotheses.starts) - 1
    tokens = np.concatenate([hypotheses.flat, references.flat])
    middle = len(hypotheses.flat)
    lengths = np.concatenate([hypotheses.lengths, references.lengths])
    # How many tokens follow each one in its own text.
    ends = np.cumsum(lengths)
    left = np.repeat(ends, lengths) - np.arange(len(tokens)) - 1
    pair = np.concatenate([hypotheses.rows, references.rows])
    width = int(tokens.max(initial=0)) + 1
    grams, bound = tokens, width
    for n in range(1, highest + 1):
        if n > 1:
            following = np.zeros_like(tokens)
            following[: max(len(tokens) - n + 1, 0)] = tokens[n - 1 :]
            if bound * width * max(pairs, 1) * 2 >= _KEY_LIMIT:
                _, grams = np.unique(grams, return_inverse=True)
                bound = int(grams.max(initial=0)) + 1
            grams = grams * width + following
            bound *= width
        whole = left >= n - 1
        side = np.arange(len(tokens)) >= middle
        keys = ((pair * bound + grams) * 2 + side)[whole]
        yield (
            _matches(keys, bound, pairs),
            np.maximum(hypotheses.lengths - n + 1, 0),
            np.maximum(references.lengths - n + 1, 0),
        )


def _matches(keys: Ints, bound: int, pairs: int) -> Ints:
    """Matches by pair, from keys ((pair, n-gram), side) with side 1 for the reference."""
    keys = np.sort(keys)
    grams = keys >> 1
    starts = np.flatnonzero(np.diff(grams, prepend=-1))
    if not len(starts):
        return np.zeros(pairs, dtype=np.int64)
    in_reference = np.add.reduceat(keys & 1, starts)
    in_all = np.diff(starts, append=len(keys))
    matched = np.minimum(in_reference, in_all - in_reference)
    some = matched > 0
    owners = grams[starts[some]] // bound
    return np.bincount(owners, weights=matched[some], minlength=pairs).astype(np.int64)


def paired_off(hypothesis_keys: Ints, reference_keys: Ints) -> tuple[Ints, Ints]:
    """Positions of equal keys paired off from the right: last with last, and so on.

    A key that stands more often on one side leaves its leftmost positions there unmatched. This
    is what METEOR's greedy search from the right comes to. Positions come in no set order.
    """
    left, right = _grouped(hypothesis_keys), _grouped(reference_keys)
    _, at_left, at_right = np.intersect1d(left[1], right[1], True, return_indices=True)
    counts = np.minimum(left[3][at_left], right[3][at_right])
    before = np.repeat(np.cumsum(counts) - counts, counts)
    step = np.arange(counts.sum()) - before

    def rightmost(order: Ints, ends: Ints) -> Ints:
        chosen: Ints = order[np.repeat(ends - counts, counts) + step]
        return chosen

    return (
        rightmost(left[0], left[2][at_left] + left[3][at_left]),
        rightmost(right[0], right[2][at_right] + right[3][at_right]),
    )


def _grouped(keys: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Positions sorted by key, the distinct keys, and where each begins and how often it stands."""
    order = np.argsort(keys, kind="stable")
    found = keys[order]
    starts = np.flatnonzero(np.diff(found, prepend=-1))
    return order, found[starts], starts, np.diff(starts, append=len(found))


def common_subsequence(hypotheses: Ragged, references: Ragged) -> Ints:
    """The length of the longest common subsequence of each pair."""
    top = int(max(hypotheses.flat.max(initial=0), references.flat.max(initial=0)))
    if top + _SURROGATE_COUNT < _CODE_POINTS:
        lengths = cpdist(
            _as_strings(hypotheses),
            _as_strings(references),
            scorer=LCSseq.similarity,
            dtype=np.int64,
        )
        return np.asarray(lengths, dtype=np.int64)
    rows = zip(_as_lists(hypotheses), _as_lists(references), strict=True)
    return np.array([LCSseq.similarity(one, other) for one, other in rows], dtype=np.int64)


def _as_strings(texts: Ragged) -> list[str]:
    """Each text as a string of one character a token, for a comparison in native code."""
    points = texts.flat + np.where(texts.flat >= _SURROGATES, _SURROGATE_COUNT, 0)
    whole = points.astype("<u4").tobytes().decode("utf-32-le")
    starts = texts.starts.tolist()
    return [whole[a:b] for a, b in pairwise(starts)]


def _as_lists(texts: Ragged) -> list[list[int]]:
    starts, flat = texts.starts.tolist(), texts.flat.tolist()
    return [flat[a:b] for a, b in pairwise(starts)]


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


def token_f1(hypotheses: Ragged, references: Ragged) -> Floats:
    """F1 of each pair."""
    (found,) = ngram_overlaps(hypotheses, references, 1)
    return f_measure(*found)
