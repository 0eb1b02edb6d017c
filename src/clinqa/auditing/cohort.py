"""Which attribute belongs to which patient of the split, and at which unit it was assigned.

A table is of patients if it has a column of patients, else of tracts; a tract's attribute reaches
its patients through a map patient → tract (a table of its own, or the tract column of a table of
patients). An attribute of a table of patients that is the same for all patients of every tract
was assigned to tracts, whatever the table says.

Items of a kind may belong to no patient but to the document they were taken from, say: its tables
of documents are read alike, without tracts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from clinqa.auditing.assembled import PATIENT, TRACT, Assembled, Source, assembled, row_of
from clinqa.auditing.joining import LARGE, Join, joined, refuse_scientific
from clinqa.auditing.presets import Chosen, chosen_by
from clinqa.auditing.table import Table
from clinqa.auditing.unknown import ReadColumn, counted
from clinqa.core.arrays import Ints
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.visible import visible
from clinqa.kinds.facets.audited import PATIENTS, Who
from clinqa.packs.attributes import PresetOfColumns

__all__ = ["PATIENT", "TRACT", "Attribute", "Cohort", "Loss", "read_cohort"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: its value for each patient of the split, None where not known.

    `codes` counts the patients for whom something stands there that means "not known", by what it
    is; `empty` those with an empty cell, `absent` those without a row. `notes` are of the column.
    One that was found `by_preset` is continuous, whatever its numbers look like.
    """

    name: str
    unit: str  # PATIENT or TRACT: whose attribute it is
    values: Sequence[str | None]
    is_date: bool = False
    codes: Mapping[str, int] = field(default_factory=dict)
    empty: int = 0
    absent: int = 0
    notes: Sequence[str] = ()
    by_preset: bool = False


@dataclass(frozen=True, slots=True)
class Loss:
    """How many patients of the split a table says nothing of; `by` are the rules by which ids were
    brought together."""

    table: str
    of: str  # patient, tract, or map: what has no row
    patients: int
    lost: int
    by: Sequence[str] = ()

    @property
    def share(self) -> float:
        """Of the patients of the split."""
        return self.lost / self.patients if self.patients else 0.0


@dataclass(frozen=True, slots=True)
class Cohort:
    """The patients of a split in the order of their ids, with attributes; `tract` numbers their
    tracts, and a patient of unknown tract has one alone. `places` are the tracts' own ids, for
    telling a column that repeats them. `told` is what a reader must know, `headlines` what must
    be seen first. `unread` are columns that nobody asked for, `lacking` dimensions of a preset
    that no table has."""

    patients: Sequence[str]
    attributes: Sequence[Attribute]
    tract: Ints
    tracts: int  # that are known
    counts: Mapping[str, int] = field(default_factory=dict)
    told: Sequence[str] = ()
    who: Who = PATIENTS
    places: Sequence[str | None] = ()
    losses: Sequence[Loss] = ()
    headlines: Sequence[str] = ()
    unread: Sequence[str] = ()
    lacking: Sequence[str] = ()


@dataclass(slots=True)
class _Joins:
    """How ids were brought together, and what that lost."""

    patients: Sequence[str]
    who: Who
    counts: dict[str, int]
    losses: list[Loss] = field(default_factory=list)

    def table(self, table: Table, key: str, rows: Mapping[str, int]) -> Join:
        """A table of patients."""
        join = self._of(table, key, rows, self.patients, self.who.word, self.who.ids)
        lost = len(self.patients) - len(join.partner)
        self._lose(table, self.who.word, lost, join)
        return join

    def tracts(
        self, table: Table, key: str, rows: Mapping[str, int], where: Sequence[str | None]
    ) -> Join:
        """A table of tracts; `where` is the tract of each patient."""
        names = sorted({one for one in where if one is not None})
        join = self._of(table, key, rows, names, TRACT, "the ids of the map")
        lost = sum(one is not None and one not in join.partner for one in where)
        self._lose(table, TRACT, lost, join)
        return join

    def _of(
        self,
        table: Table,
        key: str,
        rows: Mapping[str, int],
        ours: Sequence[str],
        what: str,
        ids: str,
    ) -> Join:
        if what == TRACT or not set(ours) <= rows.keys():
            odd = rows if what == TRACT else rows.keys() - set(ours)
            refuse_scientific(table.path, key, odd, what)
        join = joined(table.path, ours, rows, what, "the map" if what == TRACT else "the dataset")
        if not join.partner:
            raise SourceError(
                f"{table.path}: none of its {len(rows):,} {what}s is of the split; "
                f"{_hint(ours, list(rows), ids)}"
            )
        here = len(set(join.partner.values()))
        self.counts["of_the_split"] += here
        self.counts["not_in_the_split"] += len(rows) - here
        return join

    def map(self, path: Path, read: Mapping[str, str]) -> dict[str, str]:
        """The tract of each patient of the split."""
        refuse_scientific(path, "of patients", read.keys() - set(self.patients), PATIENT)
        refuse_scientific(path, "of tracts", read.values(), TRACT)
        join = joined(path, self.patients, read, PATIENT, "the dataset")
        if not join.partner:
            raise SourceError(
                f"{path}: none of its {len(read):,} patients is of the split; are these "
                f"{self.who.ids}?"
            )
        lost = len(self.patients) - len(join.partner)
        self.losses.append(Loss(path.name, "map", len(self.patients), lost, join.by))
        return {one: read[other] for one, other in join.partner.items()}

    def _lose(self, table: Table, of: str, lost: int, join: Join) -> None:
        self.losses.append(Loss(table.path.name, of, len(self.patients), lost, join.by))

    def headlines(self) -> Iterator[str]:
        """What a join lost where that is much."""
        of_rows = {(one.table, one.lost) for one in self.losses if one.of != "map"}
        for one in self.losses:
            if one.of == "map" and (one.table, one.lost) in of_rows:
                continue  # who has no row has no tract either
            if one.share > LARGE:
                much = (
                    f"{visible(one.table)}: {one.lost:,} of {one.patients:,} {self.who.many} of "
                    f"the split ({one.share:.0%})"
                )
                ends = {
                    TRACT: "live in tracts of which it has no row: “missing” in all of its columns",
                    "map": "have no tract: “missing” in every attribute of tracts",
                }
                yield f"{much} {ends.get(one.of, 'have no row: “missing” in all of its columns')}"

    def told(self) -> Iterator[str]:
        """By which rules ids were brought together."""
        for one in self.losses:
            if one.by:
                what = TRACT if one.of == TRACT else self.who.word
                yield (
                    f"{visible(one.table)}: ids of {what}s were matched without regard to "
                    f"{' and '.join(one.by)}; each has one partner only"
                )


def _hint(ours: Sequence[str], theirs: Sequence[str], ids: str) -> str:
    """What may be the matter where no id is that of another."""
    digits = [{len(one) for one in ids_of if one.isdigit()} for ids_of in (ours, theirs)]
    if len(digits[0]) == len(digits[1]) == 1 and digits[0] != digits[1]:
        own, other = digits[0].pop(), digits[1].pop()
        return f"its ids have {other} digits, ours {own}: are they ids of another kind?"
    return f"are these {ids}?"


def read_cohort(
    patients: Sequence[str],
    tables: Sequence[Path],
    tract_map: Path | None = None,
    *,
    patient_column: str | None = None,
    tract_column: str | None = None,
    missing: Sequence[str] = (),
    known: Sequence[str] = (),
    who: Who = PATIENTS,
    preset: PresetOfColumns | None = None,
    only: Collection[str] = (),
) -> Cohort:
    """Attach the tables to the patients of the split; `patients` are their ids, sorted.

    A patient that no table holds has every attribute missing and stays; a row of a patient that the
    split does not hold is counted and left out. With a preset only its columns are read, and of
    others those that `only` names; without one `only` leaves the others unread.
    """
    if not tables:
        raise ConfigError("--groups: give at least one table of patients or tracts")
    if not who.in_tracts and (tract_map is not None or tract_column is not None):
        raise ConfigError(
            f"--map and --tract-column: items of this dataset belong to {who.many}, and "
            f"{who.many} to no tract; give a table with one row a {who.word}"
        )
    read = assembled(tables, tract_map, patient_column, tract_column, missing, known, who)
    joins = _Joins(patients, who, read.counts)
    lives = joins.map(read.map_path, read.map) if read.map_path is not None else {}
    names = sorted(set(lives.values()))
    number = {name: at for at, name in enumerate(names)}
    lone = iter(range(len(names), len(names) + len(patients)))
    tract = np.array([number[lives[p]] if p in lives else next(lone) for p in patients], np.int64)
    where = [lives.get(patient) for patient in patients]
    wanted = _wanted(read, preset, only)
    made = list(_attributes(read, joins, wanted, where, tract, len(names)))
    if not made and not wanted.unread:
        raise ConfigError(f"{tables[0]}: no column but the ids; a dimension is a column")
    _check_distinct(made)
    told = [*read.told, *joins.told(), *_told(read, patients, made, who)]
    return Cohort(
        patients, made, tract, len(names), read.counts, told, who, where, tuple(joins.losses),
        tuple(joins.headlines()), wanted.unread, wanted.chosen.absent if wanted.chosen else (),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which columns are read, and what a preset calls them."""

    columns: frozenset[tuple[Path, str]]
    unread: tuple[str, ...]
    chosen: Chosen | None


def _wanted(read: Assembled, preset: PresetOfColumns | None, only: Collection[str]) -> _Wanted:
    every = [(one.table.path, name) for one in read.sources for name in one.attributes]
    chosen = None if preset is None else chosen_by(preset, every)
    own = {} if chosen is None else dict(chosen.dimensions)
    folded = {name.casefold() for name in only}
    if chosen is None and not folded:
        return _Wanted(frozenset(every), (), None)
    # the name of a dimension of the preset is no name of a column
    taken = {place for place in every if place[1].casefold() in folded and place not in own}
    read_too = frozenset({*own, *taken})
    unread = tuple(dict.fromkeys(name for path, name in every if (path, name) not in read_too))
    return _Wanted(read_too, unread, chosen)


def _attributes(
    read: Assembled,
    joins: _Joins,
    wanted: _Wanted,
    where: Sequence[str | None],
    tract: Ints,
    tracts: int,
) -> Iterator[Attribute]:
    """Every column that is wanted, for each patient; `where` is each one's tract."""
    for one in read.sources:
        rows = row_of(one, read.counts, joins.who)
        if one.of_tracts:
            join = joins.tracts(one.table, one.key, rows, where)
            ids: Sequence[str | None] = where
        else:
            join = joins.table(one.table, one.key, rows)
            ids = joins.patients
        places = [
            None if i is None or i not in join.partner else rows[join.partner[i]] for i in ids
        ]
        there = sorted({at for at in places if at is not None})
        for name in one.attributes:
            if (one.table.path, name) not in wanted.columns:
                continue
            column = one.table.read(name, there)
            own = _attribute(one, name, column, places)
            unit = TRACT if one.of_tracts else _unit(own.values, tract, tracts)
            own = replace(own, unit=unit)
            dimension = wanted.chosen and wanted.chosen.dimensions.get((one.table.path, name))
            if dimension:
                notes = (f"column {visible(name)}", *own.notes)
                own = replace(own, name=dimension, by_preset=True, notes=notes)
            yield own


def _attribute(
    source: Source, name: str, column: ReadColumn, places: Sequence[int | None]
) -> Attribute:
    there = [at for at in places if at is not None]
    unknown = [at for at in there if column.cells[at] is None]
    codes = counted(column.codes[at] for at in unknown if at in column.codes)
    return Attribute(
        name,
        PATIENT,
        [None if at is None else column.cells[at] for at in places],
        source.table.holds_dates(name, column),
        codes,
        len(unknown) - sum(codes.values()),
        len(places) - len(there),
        column.notes,
    )


def _told(
    read: Assembled, patients: Sequence[str], made: Sequence[Attribute], who: Who
) -> Iterator[str]:
    nowhere = sum(all(a.values[at] is None for a in made) for at in range(len(patients)))
    if nowhere and made:
        yield (
            f"{nowhere:,} of {len(patients):,} {who.many} of the split stand in no table or have "
            "no value there: they are the extra row “missing”"
        )
    if out := read.counts["not_in_the_split"]:
        yield (
            f"{out:,} rows of the tables are of {who.many}"
            f"{' or tracts' if who.in_tracts else ''} that the split does not hold: left out"
        )
    if nameless := read.counts["without_id"]:
        yield f"{nameless:,} rows of the tables have no id: left out"
    if repeated := read.counts["repeated"]:
        yield f"{repeated:,} rows repeat another word for word: counted once"


def _unit(values: Sequence[str | None], tract: Ints, tracts: int) -> str:
    """TRACT where every tract has one value, and some tract more than one patient."""
    seen: dict[int, str] = {}
    shared = False
    for value, where in zip(values, tract.tolist(), strict=True):
        if value is None or where >= tracts:
            continue
        if where in seen:
            if seen[where] != value:
                return PATIENT
            shared = True
        seen[where] = value
    # one value for all is nobody's attribute
    return TRACT if shared and len(set(seen.values())) > 1 else PATIENT


def _check_distinct(made: Sequence[Attribute]) -> None:
    names = [attribute.name for attribute in made]
    twice = sorted({visible(name) for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"--groups: {', '.join(twice)} stands in two tables; rename one")
