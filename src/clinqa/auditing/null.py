"""What the gap would be if the attribute had nothing to do with the score: the attribute permuted.

An attribute is permuted among the units that it was assigned to (tracts or patients), so all
items and repeats of a unit move together; an intersection of an attribute of patients with one
of tracts has each permuted at its own unit. Units change places only within blocks of about as
many items; for the standardised gap also of about as hard questions.

Every dimension, run and repeat sees the same permutations, so the largest of all standardised gaps
has a distribution of its own: p-values adjusted by it (max-T, Westfall and Young 1993) hold for all
dimensions and models at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.auditing.dimensions import Dimension
from clinqa.core.ids import sub_seed

__all__ = [
    "Shuffled",
    "Units",
    "adjusted",
    "blocks_of",
    "keys_of",
    "mean_of",
    "p_values",
    "points_of",
    "shuffled",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LEAST_IN_BLOCK = 20
_BLOCKS = 5


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one kind: `of` gives the unit of each patient, `blocks` of each unit its block
    (units of one block may change places)."""

    of: Ints
    size: int
    blocks: Ints


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


@dataclass(frozen=True, slots=True)
class Shuffled:
    """How the codes of a dimension are permuted; rows are `base` (units, or patients where the
    parts of an intersection were assigned to different units)."""

    base: Ints  # of each patient its row, -1 where it does not enter
    size: int
    codes: Ints  # of each row
    parts: tuple[_Part, ...]
    table: Ints | None  # of an intersection: the code of each combination of parts

    def permuted(self, keys: Mapping[str, Floats]) -> Ints:
        """The codes after each permutation, (permutations, rows)."""
        made = [part.permuted(keys) for part in self.parts]
        if self.table is None:
            return made[0]
        found: Ints = self.table[tuple(made)]
        return found


@dataclass(frozen=True, slots=True)
class _Part:
    """One attribute: the units that enter, their codes and blocks, and which of them a row is."""

    kind: str
    units: Ints
    codes: Ints
    blocks: Ints
    rows: Ints | None

    def permuted(self, keys: Mapping[str, Floats]) -> Ints:
        order = np.argsort(self.blocks + keys[self.kind][:, self.units], axis=1)
        made = np.empty_like(order)
        settled = self.codes[np.argsort(self.blocks, kind="stable")]
        np.put_along_axis(made, order, np.broadcast_to(settled, order.shape), axis=1)
        return made if self.rows is None else made[:, self.rows]


def shuffled(dimension: Dimension, units: Mapping[str, Units]) -> Shuffled:
    """How a dimension is permuted, from the units of patients and of tracts."""
    codes = dimension.entering()
    if not dimension.parts or len({part.unit for part in dimension.parts}) == 1:
        kind = dimension.unit if not dimension.parts else dimension.parts[0].unit
        part, rows = _part(codes, kind, units[kind], None)
        base = np.where(codes >= 0, rows, -1)
        return Shuffled(base, len(part.codes), part.codes, (part,), None)
    # patients are the rows; each attribute moves among all its units that are known
    enter = np.flatnonzero(codes >= 0)
    parts = []
    for one in dimension.parts:
        part, rows = _part(one.codes, one.unit, units[one.unit], None)
        parts.append(_Part(part.kind, part.units, part.codes, part.blocks, rows[enter]))
    shape = tuple(len(one.groups) for one in dimension.parts)
    table = np.full(shape, -1, np.int64)
    together = np.stack([one.codes[enter] for one in dimension.parts], axis=1)
    table[tuple(together.T)] = codes[enter]
    base = np.full(len(codes), -1, np.int64)
    base[enter] = np.arange(len(enter))
    return Shuffled(base, len(enter), codes[enter], tuple(parts), table)


def _part(codes: Ints, kind: str, units: Units, rows: Ints | None) -> tuple[_Part, Ints]:
    """The units whose code is known, and of each patient the row of its unit (-1 for none)."""
    known = np.flatnonzero(codes >= 0)
    there, first = np.unique(units.of[known], return_index=True)
    place = np.full(units.size, -1, np.int64)
    place[there] = np.arange(len(there))
    part = _Part(kind, there, codes[known][first], units.blocks[there], rows)
    return part, place[units.of]


def p_values(observed: Floats, permuted: Floats) -> Floats:
    """(b + 1) / (B + 1): how often a permuted figure is as large; NaN where there is none."""
    # sums in another order differ in their last digits; equal figures count as equal
    # a permutation without a figure (all answers in one group) is not held against the run
    as_large = (np.isnan(permuted) | (permuted >= observed - 1e-12)).sum(axis=0)
    made: Floats = (as_large + 1) / (len(permuted) + 1)
    return np.where(np.isnan(observed), np.nan, made)


def mean_of(drawn: Floats) -> Floats:
    """The mean over permutations of the figures that exist; NaN where none does."""
    there = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        made: Floats = np.where(there, drawn, 0.0).sum(axis=0) / there.sum(axis=0)
    return made


def points_of(drawn: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Two quantiles over permutations of the figures that exist; NaN where none does."""
    none = np.isnan(drawn).all(axis=0)
    ends = np.nanquantile(np.where(none, 0.0, drawn), [low, high], axis=0)
    return np.where(none, np.nan, ends[0]), np.where(none, np.nan, ends[1])


def adjusted(observed: Sequence[Floats], permuted: Sequence[Floats]) -> list[Floats]:
    """p-values by the largest of all: each figure is standardised by its own permutations.

    One entry a dimension: observed (runs), permuted (permutations, runs).
    """
    standard: list[tuple[Floats, Floats]] = []
    for seen, drawn in zip(observed, permuted, strict=True):
        both = np.concatenate([seen[None], drawn])
        centre = mean_of(both)
        spread = np.sqrt(mean_of((both - centre) ** 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.where(spread > 1e-12, (both - centre) / spread, np.nan)
        standard.append((z[0], z[1:]))
    width = np.concatenate([drawn for _, drawn in standard], axis=1)
    largest = np.max(np.where(np.isnan(width), -np.inf, width), axis=1)
    made = []
    for seen, _ in standard:
        as_large = (largest[:, None] >= seen[None] - 1e-12).sum(axis=0)
        # what no permutation moves is as large in all of them
        made.append(np.where(np.isnan(seen), 1.0, (as_large + 1) / (len(largest) + 1)))
    return [np.where(np.isnan(seen), np.nan, p) for seen, p in zip(observed, made, strict=True)]
