"""What figures would be if an attribute had nothing to do with them: the attribute permuted.

Codes change places only within blocks of like units. Every figure sees the same permutations, so
the largest of all standardised figures has a distribution of its own: p-values adjusted by it
(max-T, Westfall and Young 1993) hold for all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Floats, Ints
from clinqa.core.ids import sub_seed
from clinqa.stats.intervals import ROUNDING, percentile

__all__ = ["Null", "adjusted", "blocks_of", "keys_of", "null", "p_values", "permuted"]

_LEAST_IN_BLOCK = 20
_BLOCKS = 5


@dataclass(frozen=True, slots=True)
class Null:
    """Figures beside what they are when the attribute is permuted, (figures).

    `low` and `high`: the 5 and 95 per cent points under no disparity, of what is two-sided the 2.5
    and 97.5; `p_max`: adjusted for all figures of all entries.
    """

    value: Floats
    expected: Floats
    low: Floats
    high: Floats
    p: Floats
    p_max: Floats


def null(
    observed: Sequence[Floats], drawn: Sequence[Floats], *, two_sided: bool = False
) -> list[Null]:
    """One entry a dimension: observed (figures), drawn (permutations, figures).

    >>> one = null([np.array([9.0])], [np.arange(9.0)[:, None]])[0]
    >>> float(one.p[0]), float(one.expected[0])
    (0.1, 4.0)
    """
    tests = [np.abs(one) for one in observed] if two_sided else list(observed)
    against = [np.abs(one) for one in drawn] if two_sided else list(drawn)
    tail = 0.025 if two_sided else 0.05
    return [
        Null(value, _mean(own), *percentile(own, tail), p_values(test, far), p_max)
        for value, own, test, far, p_max in zip(
            observed, drawn, tests, against, adjusted(tests, against), strict=True
        )
    ]


def p_values(observed: Floats, drawn: Floats) -> Floats:
    """(b + 1) / (B + 1): how often a permuted figure is as large; NaN where there is none."""
    # a permutation without a figure (all answers in one group) is not held against the run
    as_large = (np.isnan(drawn) | (drawn >= observed - ROUNDING)).sum(axis=0)
    made: Floats = (as_large + 1) / (len(drawn) + 1)
    return np.where(np.isnan(observed), np.nan, made)


def adjusted(observed: Sequence[Floats], drawn: Sequence[Floats]) -> list[Floats]:
    """p-values by the largest of all: each figure is standardised by its own permutations.

    One entry a dimension: observed (figures), drawn (permutations, figures).
    """
    standard: list[Floats] = []
    for seen, own in zip(observed, drawn, strict=True):
        both = np.concatenate([seen[None], own])
        centre = _mean(both)
        spread = np.sqrt(_mean((both - centre) ** 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            standard.append(np.where(spread > ROUNDING, (both - centre) / spread, np.nan))
    every = np.concatenate([one[1:] for one in standard], axis=1)
    largest = np.max(np.where(np.isnan(every), -np.inf, every), axis=1)
    made = []
    for seen, one in zip(observed, standard, strict=True):
        as_large = (largest[:, None] >= one[:1] - ROUNDING).sum(axis=0)
        # what no permutation moves is as large in all of them
        p = np.where(np.isnan(one[0]), 1.0, (as_large + 1) / (len(largest) + 1))
        made.append(np.where(np.isnan(seen), np.nan, p))
    return made


def _mean(drawn: Floats) -> Floats:
    """The mean over permutations of the figures that exist; NaN where none does."""
    there = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        made: Floats = np.where(there, drawn, 0.0).sum(axis=0) / there.sum(axis=0)
    return made


def blocks_of(values: Floats, within: Ints | None = None, most: int = _BLOCKS) -> Ints:
    """Units with about the same value, as numbered blocks of at least twenty; equal values are
    never parted. `within` are blocks to cut further."""
    whole = np.zeros(len(values), np.int64) if within is None else within
    made = np.zeros(len(values), np.int64)
    for block in np.unique(whole):
        rows = np.flatnonzero(whole == block)
        parts = min(most, len(rows) // _LEAST_IN_BLOCK)
        code = np.zeros(len(rows), np.int64)
        if parts > 1:
            shares = np.arange(1, parts) / parts
            cuts = np.unique(np.quantile(values[rows], shares, method="inverted_cdf"))
            code = np.searchsorted(cuts, values[rows], side="left")
        made[rows] = block * (most + 1) + code
    return np.unique(made, return_inverse=True)[1].astype(np.int64)


def keys_of(
    sizes: Mapping[str, int], permutations: int, seed: int, at_once: int
) -> Iterator[dict[str, Floats]]:
    """Random keys for the units of each kind, some permutations at a time."""
    drawn = {
        kind: np.random.default_rng(sub_seed(seed, "audit.permute", kind)) for kind in sorted(sizes)
    }
    for done in range(0, permutations, at_once):
        rows = min(at_once, permutations - done)
        yield {kind: drawn[kind].random((rows, sizes[kind])) for kind in drawn}


def permuted(codes: Ints, blocks: Ints, keys: Floats) -> Ints:
    """The codes of units after each permutation within their blocks, (permutations, units)."""
    order = np.argsort(blocks + keys, axis=1)
    made = np.empty_like(order)
    settled = codes[np.argsort(blocks, kind="stable")]
    np.put_along_axis(made, order, np.broadcast_to(settled, order.shape), axis=1)
    return made
