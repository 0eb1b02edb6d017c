"""From occurrences of statements to the labels of studies, and which statement decided each.

The vectorised twin of `resolve`: a property test holds them equal. A study's findings of one
abnormality and phase are bits; what decides is the highest rank that speaks (a correction, then a
finding that names the abnormality, then one that follows from a structure). Of the statements of
that rank and of the level that came out, the answer is the one that names the fewest
abnormalities, then the longest, then the first in the alphabet, so that nothing hangs on order.

One level per study and abnormality, whatever the order of its statements (LABELLING 12).

Levels seen for one abnormality are a set of seven bits; what a set means is looked up in a table
of 128 entries, made once from the pack's resolution rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import AnyArray, Bools, Bytes, Int8s, Int16s, Int32s, Ints, Records
from clinqa.core.records import Level, Phase
from clinqa.packs.loader import Pack
from clinqa.reading.findings import Finding
from clinqa.reading.pieces import Pieces
from clinqa.reading.readings import (
    CORRECTS,
    EXPLICIT,
    HEDGED,
    PHASES,
    PINNED,
    PROSTHESIS,
    Readings,
    spread,
)
from clinqa.reading.sections import Role

__all__ = [
    "LEVELS",
    "Attributor",
    "Labels",
    "ResolutionTable",
    "answer_order",
    "mask_of",
    "resolution_table",
    "resolve",
]

LEVELS: tuple[int, ...] = (-3, -2, -1, 0, 1, 2, 3)
_BIT = {level: 1 << i for i, level in enumerate(LEVELS)}


def mask_of(levels: Iterable[int]) -> int:
    """The set of levels as bits.

    >>> mask_of([0, 1, 0]) == mask_of([1, 0])
    True
    """
    return sum(_BIT[level] for level in set(levels))


@dataclass(frozen=True, slots=True)
class ResolutionTable:
    """`table[mask]` is the level of a set of levels; `inferred_yields` is whether findings that
    only follow from a structure give way to those that name the abnormality."""

    tables: dict[str, tuple[int, ...]]
    inferred_yields: bool


def resolution_table(pack: Pack, profile: str = "default") -> ResolutionTable:
    """The table of a profile: `strict` makes normal beside a severity a conflict; `published`
    knows no difference between explicit and inferred findings."""
    rules = pack.spec.resolution
    allowed = set(rules.with_severity) - ({0} if profile == "strict" else set())
    severity = set(rules.severity)
    tables: dict[str, tuple[int, ...]] = {}
    for abnormality in pack.abnormalities:
        special = {
            mask_of(row.levels): row.level
            for row in rules.special
            if row.abnormality == abnormality
        }
        row = []
        for mask in range(1 << len(LEVELS)):
            levels = {level for level in LEVELS if mask & _BIT[level]}
            if len(levels) == 1:
                row.append(next(iter(levels)))
            elif mask in special:
                row.append(special[mask])
            elif levels & severity and levels <= severity | allowed:
                row.append(max(levels & severity))
            else:
                row.append(int(Level.CONFLICT))
        tables[abnormality] = tuple(row)
    return ResolutionTable(tables, profile != "published")


def resolve(findings: Iterable[Finding], table: ResolutionTable) -> dict[str, int]:
    """The level of each abnormality of one study at baseline.

    A correction replaces what it names; explicit findings replace inferred ones; then the set of
    levels decides. An abnormality that nobody mentions is absent, not normal.
    """
    masks: dict[str, list[int]] = {}
    for finding in findings:
        if finding.phase is not Phase.BASELINE:
            continue
        kinds = masks.setdefault(finding.abnormality, [0, 0, 0])
        rank = 2 if finding.corrects and finding.explicit else 1 if finding.explicit else 0
        if not table.inferred_yields and rank == 0:
            rank = 1
        kinds[rank] |= _BIT[finding.level]
    return {
        name: table.tables[name][corrections or explicit or inferred]
        for name, (inferred, explicit, corrections) in sorted(masks.items())
    }


_SLOTS = 8  # levels of a label, padded to a byte
_RANKS = 3  # inferred, explicit, correction


@dataclass(frozen=True, slots=True)
class Labels:
    """A row a study, abnormality and phase, in this order.

    `deciding` are occurrences (rows of the pieces): those of label i from `first[i]` up to
    `first[i + 1]`, one a level, levels rising. One statement decides, unless the label needs
    several: levels that contradict each other, or that mean something only together.
    """

    study: Int32s
    abnormality: Int16s
    phase: Bytes
    level: Int8s
    explicit: Bools
    hedged: Bools
    prosthesis: Bools
    first: Ints
    deciding: Ints

    def __len__(self) -> int:
        return len(self.study)


class Attributor:
    """Resolves batches by a pack's table. `counting` are the roles whose statements label."""

    def __init__(self, table: ResolutionTable, readings: Readings, counting: list[Role]) -> None:
        self._readings = readings
        self._inferred_yields = table.inferred_yields
        names = readings.abnormalities
        self._width = len(names)
        self._table = np.array([table.tables[name] for name in names], np.int8)
        self._counts = np.zeros(len(Role), bool)
        self._counts[[int(role) for role in counting]] = True

    def labels(self, pieces: Pieces, studies: int) -> Labels:
        """The labels of a batch of studies from its statements."""
        occurrence, found = self._expanded(pieces)
        phase, rank, key = self._keys(pieces, occurrence, found)
        level = found["level"].astype(np.int64) - LEVELS[0]
        size = studies * self._width * len(PHASES)
        present = np.zeros((size, _RANKS, _SLOTS), bool)
        present[key, rank, level] = True
        # along one axis packing is ten times as fast as along the last of three
        masks = np.packbits(present.reshape(-1), bitorder="little").reshape(size, _RANKS)
        decided = np.where(masks[:, 2] > 0, 2, np.where(masks[:, 1] > 0, 1, 0))
        mask = masks[np.arange(size), decided]
        keys = np.flatnonzero(mask)
        del present, masks, phase
        study, rest = np.divmod(keys, self._width * len(PHASES))
        abnormality, phases = np.divmod(rest, len(PHASES))
        mask = mask[keys]
        levels = self._table[abnormality, mask]
        # no statement says this level: it takes one of each to see why
        bits = np.where(levels < LEVELS[0], 0, 1 << np.maximum(levels - LEVELS[0], 0))
        joint = mask & bits == 0
        row = np.zeros(size, np.int64)
        row[keys] = np.arange(len(keys))
        own = row[key]
        decides = (rank == decided[key]) & (joint[own] | (levels[own] == found["level"]))
        own, flags = own[decides], found["flags"][decides]
        best = np.full(len(keys) * _SLOTS, -1, np.int64)
        # the best statement comes last, and the last one assigned stays
        best[own * _SLOTS + level[decides]] = occurrence[decides]
        chosen = np.flatnonzero(best >= 0)
        return Labels(
            study=study.astype(np.int32),
            abnormality=abnormality.astype(np.int16),
            phase=phases.astype(np.uint8),
            level=levels,
            explicit=_any(own, flags & EXPLICIT, len(keys)),
            hedged=_any(own, flags & HEDGED, len(keys)),
            prosthesis=_any(own, flags & PROSTHESIS, len(keys)),
            first=np.searchsorted(chosen, np.arange(len(keys) + 1) * _SLOTS),
            deciding=best[chosen],
        )

    def _expanded(self, pieces: Pieces) -> tuple[Ints, Records]:
        """A row a finding: its occurrence and itself, the worst answers first."""
        statements = self._readings.statements
        speaks = self._counts[pieces.role] & (statements["findings"][pieces.statement] > 0)
        places = np.flatnonzero(speaks)
        numbers = pieces.statement[places]
        distinct, inverse = np.unique(numbers, return_inverse=True)
        order = answer_order(self._readings, distinct)[inverse]
        worst_first = np.argsort(order * len(pieces) + places)[::-1]
        places, numbers = places[worst_first], numbers[worst_first]
        sizes = statements["findings"][numbers]
        found = self._readings.findings[spread(statements["first"][numbers], sizes)]
        return np.repeat(places, sizes), found

    def _keys(
        self, pieces: Pieces, occurrence: Ints, found: Records
    ) -> tuple[AnyArray, AnyArray, Ints]:
        """Phase, rank and key (study, abnormality, phase) of each finding."""
        flags = found["flags"]
        section = pieces.phase[occurrence]
        # what stress brings out is the study's own and replaces what rest showed (LABELLING 6)
        pinned = ((flags & PINNED) > 0) & (section != PHASES.index(Phase.POST))
        phase = np.where((found["phase"] > 0) | pinned, found["phase"], section)
        corrects = ((flags & CORRECTS) > 0) | (pieces.role[occurrence] == Role.ADDENDUM)
        corrects |= pinned & (section == PHASES.index(Phase.STRESS))
        explicit = (flags & EXPLICIT) > 0
        rank = np.where(explicit, 1 + corrects, 0 if self._inferred_yields else 1)
        key = pieces.study[occurrence].astype(np.int64) * self._width + found["abnormality"]
        return phase, rank, key * len(PHASES) + phase


def _any(row: Ints, flag: Bytes, size: int) -> Bools:
    out = np.zeros(size, bool)
    out[row[flag > 0]] = True
    return out


def answer_order(readings: Readings, numbers: Int32s) -> Ints:
    """The place of each statement among the given ones as an answer; equal texts share one."""
    if not len(numbers):
        return np.empty(0, np.int64)
    rows = readings.statements[numbers]
    texts = readings.words.texts
    table = pa.table(
        {
            "named": pa.array(rows["named"].copy()),
            "length": pa.array(rows["length"].copy()),
            "text": pa.array([texts[number] for number in numbers.tolist()], pa.large_string()),
        }
    )
    keys = [("named", "ascending"), ("length", "descending"), ("text", "ascending")]
    order = pc.sort_indices(table, sort_keys=keys)
    ordered = table.take(order)
    changes = np.zeros(len(numbers), np.int64)
    for name in ("named", "text"):
        column = ordered[name].combine_chunks()
        differs = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
        changes[1:] |= differs.to_numpy(zero_copy_only=False)
    place = np.empty(len(numbers), np.int64)
    place[order.to_numpy()] = np.cumsum(changes)
    return place
