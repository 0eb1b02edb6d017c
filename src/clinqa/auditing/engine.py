"""One metric of all runs over all dimensions: scores, deviations with intervals, gaps with nulls.

Everything stands on sums by unit. Drawing patients again and permuting attributes are weighted sums
of those, so nothing is computed again from answers.

How an attribute is permuted among the units that it was assigned to (tracts or patients).

All items and repeats of a unit move together; an intersection of an attribute of patients with one
of tracts has each permuted at its own unit. Units change places only within blocks of about as
many items; for the standardised gap also of about as hard questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from clinqa.auditing.answers import Means
from clinqa.auditing.cohort import PATIENT, TRACT
from clinqa.auditing.deviations import AuditDraws, Interval, intervals
from clinqa.auditing.dimensions import Dimension
from clinqa.auditing.disparities import (
    Crude,
    Standardised,
    StrataCells,
    between_variance,
    cells_of,
    crude,
    equality_difference,
    hardness,
    standardised,
    trend,
)
from clinqa.core.arrays import Floats, Ints
from clinqa.stats.nulls import Null, blocks_of, keys_of, null, permuted
from clinqa.stats.swaps import UnitSums, gap_differences

__all__ = ["CRUDE", "GAPS", "STANDARD", "Found", "Shuffled", "Units", "audit_means", "shuffled"]


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
        return self.table[tuple(made)]


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


#: The measures that get a null. All but the last two are of crude scores; `trend` is two-sided.
CRUDE = ("equality_difference", "equality_difference_repeats", "max_min_gap", "trend")
STANDARD = ("equality_difference_standardised",)
GAPS = (*CRUDE, *STANDARD)
_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of one dimension; arrays are (groups, runs) or (runs)."""

    dimension: Dimension
    crude: Crude  # of the means over repeats
    repeats: Sequence[Floats]  # of each run the gap of each repeat
    noise: Floats  # the sampling variance of each group's score
    between: Floats  # the variance between groups net of it
    standard: Standardised
    intervals: Interval
    units: int
    n: Floats  # answers, by group and run
    nulls: Mapping[str, Null] = field(default_factory=dict)
    pairs: Null | None = None  # of every two runs: how far their excess gaps lie apart


@dataclass(slots=True)
class _Making:
    """A dimension while its permutations are drawn."""

    dimension: Dimension
    groups: int
    how: Shuffled
    careful: Shuffled  # within blocks of as hard questions too
    sums: Means
    cells: StrataCells
    drawn: dict[str, list[Floats]] = field(default_factory=dict)


def audit_means(
    means: Means,
    patient: Ints,
    tract: Ints,
    strata: Ints,
    dimensions: Sequence[Dimension],
    drawing: AuditDraws,
) -> list[Found]:
    """Audit one metric. Rows of `means` are items; `patient` numbers their patients and `tract`
    the tract of each patient; `strata` is what each item asks."""
    plain, careful = _units(means, patient, tract, strata)
    making = [_begin(one, means, patient, strata, plain, careful) for one in dimensions]
    _draw(making, plain, drawing)
    of_patients = means.summed(patient, len(tract))
    found = [_found(one, of_patients, tract, drawing) for one in making]
    nulls: list[dict[str, Null]] = [{} for _ in making]
    for name in GAPS:
        there = [at for at, one in enumerate(making) if name in one.drawn]
        if there:
            seen = [_observed(name, making[at]) for at in there]
            drawn = [np.concatenate(making[at].drawn[name]) for at in there]
            for at, made in zip(there, null(seen, drawn, two_sided=name == "trend"), strict=True):
                nulls[at][name] = made
    pairs: Sequence[Null | None] = [None] * len(making)
    if means.runs > 1 and making:
        sums = [_by_unit(one, of_patients.of_runs(), tract) for one in making]
        pairs = gap_differences(sums, draws=drawing.permutations, seed=drawing.seed)
    return [
        replace(one, nulls=own, pairs=apart)
        for one, own, apart in zip(found, nulls, pairs, strict=True)
    ]


def _by_unit(one: _Making, of_patients: Means, tract: Ints) -> UnitSums:
    """What is swapped between runs: patients, or tracts where the attribute is of tracts."""
    codes = one.dimension.entering()
    over, under = of_patients.over, of_patients.under[:, of_patients.under_of]
    kind = one.dimension.unit
    if kind == TRACT:
        size = int(tract.max(initial=-1)) + 1
        whole = np.full(size, -1, np.int64)
        whole[tract] = codes
        codes, place = whole, np.where(one.dimension.entering() >= 0, tract, -1)
        summed = of_patients.summed(place, size)
        over, under = summed.over, summed.under[:, summed.under_of]
    permuted_gaps = np.concatenate(one.drawn["equality_difference"])
    return UnitSums(kind, codes, over, under, permuted_gaps)


def _units(
    means: Means, patient: Ints, tract: Ints, strata: Ints
) -> tuple[dict[str, Units], dict[str, Units]]:
    """Patients and tracts in blocks of about as many items; and of as hard questions too."""
    expected, asked = hardness(means, strata)
    size = len(tract)
    items = _binned(patient, np.ones(len(patient)), size)
    by_patient, asked_of = _binned(patient, expected, size), _binned(patient, asked, size)
    plain: dict[str, Units] = {}
    careful: dict[str, Units] = {}
    own = np.arange(len(tract), dtype=np.int64)
    for kind, of in ((PATIENT, own), (TRACT, tract)):
        size = int(of.max(initial=-1)) + 1
        count = _binned(of, items, size)
        blocks = blocks_of(count)
        below = _binned(of, asked_of, size)
        above = _binned(of, by_patient, size)
        mean = np.divide(above, below, out=np.zeros(size), where=below > 0)
        plain[kind] = Units(of, size, blocks)
        careful[kind] = Units(of, size, blocks_of(mean, blocks_of(count, most=3)))
    return plain, careful


def _binned(places: Ints, values: Floats, size: int) -> Floats:
    return np.bincount(places, weights=values, minlength=size).astype(np.float64)


def _begin(
    dimension: Dimension,
    means: Means,
    patient: Ints,
    strata: Ints,
    plain: Mapping[str, Units],
    careful: Mapping[str, Units],
) -> _Making:
    how = shuffled(dimension, plain)
    rows = how.base[patient]
    return _Making(
        dimension=dimension,
        groups=len(dimension.groups),
        how=how,
        careful=shuffled(dimension, careful),
        sums=means.summed(rows, how.size),
        cells=cells_of(means, rows, strata),
    )


def _draw(making: Sequence[_Making], units: Mapping[str, Units], drawing: AuditDraws) -> None:
    """Every permutation of every dimension, some at a time."""
    sizes = {kind: one.size for kind, one in units.items()}
    rows = max([1, *(one.how.size for one in making), *(len(one.cells.row) for one in making)])
    at_once = max(1, min(drawing.permutations, _AT_ONCE // rows))
    for keys in keys_of(sizes, drawing.permutations, drawing.seed, at_once):
        for one in making:
            codes = one.how.permuted(keys)
            for name, values in _crude_measures(one, _group_sums(one, codes)).items():
                one.drawn.setdefault(name, []).append(values)
            codes = one.careful.permuted(keys)
            made = standardised(one.cells, codes, one.groups)
            one.drawn.setdefault(STANDARD[0], []).append(_standard_gap(made))


def _group_sums(one: _Making, codes: Ints) -> Crude:
    """The scores of groups for each row of codes, (permutations, groups, columns)."""
    over = np.ascontiguousarray(one.sums.over.T)
    under = np.ascontiguousarray(one.sums.under.T)
    both = np.concatenate([over, under])
    parts = [
        np.einsum("bu,ku->bk", (codes == group).astype(np.float64), both)
        for group in range(one.groups)
    ]
    made = np.stack(parts, axis=1)
    return crude(made[..., : len(over)], made[..., len(over) :], one.sums.under_of)


def _crude_measures(one: _Making, of: Crude) -> dict[str, Floats]:
    runs = one.sums.runs
    gaps = of.equality_difference
    made = {
        "equality_difference": gaps[:, :runs],
        "equality_difference_repeats": _over_repeats(one.sums, gaps),
        "max_min_gap": of.max_min[:, :runs],
    }
    if one.dimension.ordered:
        slopes = trend(of, np.array(one.dimension.ranks, np.float64))
        made["trend"] = slopes[:, :runs]
    return made


def _over_repeats(sums: Means, gaps: Floats) -> Floats:
    """The mean of the gaps of a run's repeats; of one asked once, its gap."""
    made = []
    for run in range(sums.runs):
        columns = sums.repeats_of(run) or [run]
        made.append(gaps[:, columns].mean(axis=1))
    return np.stack(made, axis=1)


def _standard_gap(made: Standardised) -> Floats:
    """The gap over the groups that were asked anything."""
    return equality_difference(np.where(made.covered > 0, made.deviations, np.nan))


def _observed(name: str, one: _Making) -> Floats:
    codes = one.how.codes[None]
    if name in STANDARD:
        made = _standard_gap(standardised(one.cells, codes, one.groups))
    else:
        made = _crude_measures(one, _group_sums(one, codes))[name]
    return np.asarray(made[0], np.float64)


def _found(one: _Making, of_patients: Means, tract: Ints, drawing: AuditDraws) -> Found:
    dimension = one.dimension
    codes = dimension.entering()
    whole = _group_sums(one, one.how.codes[None])
    runs = one.sums.runs
    gaps = whole.equality_difference[0]
    first = Crude(
        whole.scores[0, :, :runs], whole.overall[0, :runs], whole.deviations[0, :, :runs],
        whole.under[0, :, :runs],
    )  # fmt: skip
    unit = tract if dimension.unit == TRACT else np.arange(len(tract))
    noise = _noise(of_patients.of_runs(), codes, unit, one.groups, first)
    kept = [code for code in range(one.groups) if code not in dimension.small]
    return Found(
        dimension=dimension,
        crude=first,
        repeats=[gaps[one.sums.repeats_of(run) or [run]] for run in range(runs)],
        noise=noise,
        between=between_variance(first.scores[kept], noise[kept]),
        standard=standardised(one.cells, one.how.codes, one.groups),
        intervals=intervals(of_patients.of_runs(), codes, one.groups, dimension, drawing),
        units=one.how.size if one.how.table is None else int((codes >= 0).sum()),
        n=first.under,
    )


def _noise(means: Means, codes: Ints, unit: Ints, groups: int, of: Crude) -> Floats:
    """The sampling variance of each group's score: linearised, over the units of assignment."""
    made = np.full((groups, means.runs), np.nan)
    below = means.under[:, means.under_of]
    for group in range(groups):
        rows = np.flatnonzero(codes == group)
        _, cluster = np.unique(unit[rows], return_inverse=True)
        clusters = int(cluster.max(initial=-1)) + 1
        if clusters < 2:
            continue
        errors = means.over[rows] - np.nan_to_num(of.scores[group]) * below[rows]
        summed = np.zeros((clusters, means.runs))
        np.add.at(summed, cluster, errors)
        with np.errstate(invalid="ignore", divide="ignore"):
            squares = (summed**2).sum(axis=0) / below[rows].sum(axis=0) ** 2
        made[group] = squares * (clusters / (clusters - 1))
    return made
