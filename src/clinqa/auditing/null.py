"""How an attribute is permuted among the units that it was assigned to (tracts or patients).

All items and repeats of a unit move together; an intersection of an attribute of patients with one
of tracts has each permuted at its own unit. Units change places only within blocks of about as
many items; for the standardised gap also of about as hard questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clinqa.auditing.dimensions import Dimension
from clinqa.core.arrays import Floats, Ints
from clinqa.stats.nulls import permuted

__all__ = ["Shuffled", "Units", "shuffled"]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one kind: `of` gives the unit of each patient, `blocks` of each unit its block
    (units of one block may change places)."""

    of: Ints
    size: int
    blocks: Ints


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
        made = permuted(self.codes, self.blocks, keys[self.kind][:, self.units])
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
