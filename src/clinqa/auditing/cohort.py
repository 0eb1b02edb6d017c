"""Which attribute belongs to which patient of the split, and at which unit it was assigned.

A table is of patients if it has a column of patients, else of tracts; a tract's attribute reaches
its patients through a map patient → tract (a table of its own, or the tract column of a table of
patients). An attribute of a table of patients that is the same for all patients of every tract
was assigned to tracts, whatever the table says.

Items of a kind may belong to no patient but to the document they were taken from, say: its tables
of documents are read alike, without tracts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from clinqa.auditing.table import (
    TRACT_NAMES,
    Table,
    key_column,
    read_table,
)
from clinqa.core.arrays import Ints
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.visible import visible
from clinqa.kinds.facets.audited import PATIENTS, Who

__all__ = ["PATIENT", "TRACT", "Attribute", "Cohort", "read_cohort"]

PATIENT, TRACT = "patient", "tract"


@dataclass(frozen=True, slots=True)
class Attribute:
    """One column: its value for each patient of the split, None where not known."""

    name: str
    unit: str  # PATIENT or TRACT: whose attribute it is
    values: Sequence[str | None]
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class Cohort:
    """The patients of a split in the order of their ids, with attributes; `tract` numbers their
    tracts, and a patient of unknown tract has one alone. `places` are the tracts' own ids, for
    telling a column that repeats them. `told` is what a reader must know."""

    patients: Sequence[str]
    attributes: Sequence[Attribute]
    tract: Ints
    tracts: int  # that are known
    counts: Mapping[str, int] = field(default_factory=dict)
    told: Sequence[str] = ()
    who: Who = PATIENTS
    places: Sequence[str | None] = ()


@dataclass(slots=True)
class _Read:
    """Tables as they come in; `counts` are of their rows."""

    of_patients: list[tuple[Table, str, str | None]] = field(default_factory=list)
    of_tracts: list[tuple[Table, str]] = field(default_factory=list)
    map: dict[str, str] = field(default_factory=dict)
    mapped: bool = False
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("of_the_split", "not_in_the_split", "repeated", "without_id"), 0
        )
    )


def read_cohort(
    patients: Sequence[str],
    tables: Sequence[Path],
    tract_map: Path | None = None,
    *,
    patient_column: str | None = None,
    tract_column: str | None = None,
    missing: Sequence[str] = (),
    who: Who = PATIENTS,
) -> Cohort:
    """Attach the tables to the patients of the split; `patients` are their ids, sorted.

    A patient that no table holds has every attribute missing and stays; a row of a patient that the
    split does not hold is counted and left out.
    """
    if not tables:
        raise ConfigError("--groups: give at least one table of patients or tracts")
    if not who.in_tracts and (tract_map is not None or tract_column is not None):
        raise ConfigError(
            f"--map and --tract-column: items of this dataset belong to {who.many}, and "
            f"{who.many} to no tract; give a table with one row a {who.word}"
        )
    read = _read_tables(tables, tract_map, patient_column, tract_column, missing, who)
    names = sorted({read.map[patient] for patient in patients if patient in read.map})
    number = {name: at for at, name in enumerate(names)}
    lone = iter(range(len(names), len(names) + len(patients)))
    tract = np.array(
        [number[read.map[p]] if p in read.map else next(lone) for p in patients], np.int64
    )
    where = [read.map.get(patient) for patient in patients]
    made = _attributes(read, patients, tract, names, where, who)
    if not made:
        raise ConfigError(f"{tables[0]}: no column but the ids; a dimension is a column")
    told = list(_told(read, patients, made, who, bool(names)))
    return Cohort(patients, made, tract, len(names), read.counts, told, who, where)


def _read_tables(
    tables: Sequence[Path],
    tract_map: Path | None,
    patient_column: str | None,
    tract_column: str | None,
    missing: Sequence[str],
    who: Who,
) -> _Read:
    read = _Read()
    paths = [*tables, *([tract_map] if tract_map is not None else [])]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("--groups and --map: the same file is given twice")
    seen: set[str] = set()
    for path in paths:
        table = read_table(path, missing)
        seen.update(table.columns)
        _sort_in(read, table, patient_column, tract_column, path == tract_map, who)
    for option, named in (
        (f"--{who.word}-column", patient_column),
        ("--tract-column", tract_column),
    ):
        if named is not None and named not in seen:
            known = ", ".join(sorted(map(visible, seen)))
            raise ConfigError(f"{option} {visible(named)}: no table has it; there are {known}")
    if read.of_tracts and not read.mapped:
        raise ConfigError(
            f"{read.of_tracts[0][0].path}: a table of tracts needs a map patient → tract: --map "
            "FILE with both columns, or a table of patients with a tract column"
        )
    return read


def _attributes(
    read: _Read,
    patients: Sequence[str],
    tract: Ints,
    names: Sequence[str],
    where: Sequence[str | None],
    who: Who,
) -> list[Attribute]:
    """Every column but the ids, for each patient; `names` are the tracts, `where` each one's."""
    made: list[Attribute] = []
    for table, key, tract_key in read.of_patients:
        rows = _row_of(table, key, read.counts, who.word)
        _count(table, rows, set(patients), read.counts, who.word, who.ids)
        for name in table.columns:
            if name not in (key, tract_key):
                values = _values(table, name, rows, patients)
                unit = _unit(values, tract, len(names))
                made.append(Attribute(name, unit, values, name in table.dates))
    for table, key in read.of_tracts:
        rows = _row_of(table, key, read.counts, TRACT)
        _count(table, rows, set(names), read.counts, TRACT, "the ids of the map")
        for name in table.columns:
            if name != key:
                values = _values(table, name, rows, where)
                made.append(Attribute(name, TRACT, values, name in table.dates))
    _check_distinct(made)
    return made


def _told(
    read: _Read, patients: Sequence[str], made: Sequence[Attribute], who: Who, in_tracts: bool
) -> Iterator[str]:
    nowhere = sum(all(a.values[at] is None for a in made) for at in range(len(patients)))
    if nowhere:
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
    if read.mapped and in_tracts and (unmapped := len(set(patients) - read.map.keys())):
        yield f"{unmapped:,} of {len(patients):,} patients have no tract in the map"


def _sort_in(
    read: _Read,
    table: Table,
    patient_column: str | None,
    tract_column: str | None,
    is_map: bool,
    who: Who,
) -> None:
    patient = key_column(table, who.columns, patient_column, who.word)
    if not who.in_tracts:
        if patient is None:
            raise ConfigError(
                f"{table.path}: no column of {who.many} ({', '.join(who.columns[:4])}, …), which "
                f"holds {who.ids}; name it with --{who.word}-column"
            )
        read.of_patients.append((table, patient, None))
        return
    tract = key_column(table, TRACT_NAMES, tract_column, TRACT)
    if is_map and (patient is None or tract is None):
        raise ConfigError(f"{table.path}: --map has a column of patients and one of tracts")
    if patient is None and tract is None:
        raise ConfigError(
            f"{table.path}: no column of patients ({', '.join(who.columns[:4])}, …) or of tracts "
            f"({', '.join(TRACT_NAMES[:3])}, …); name it with --patient-column or --tract-column"
        )
    if patient is None and tract is not None:
        read.of_tracts.append((table, tract))
        return
    assert patient is not None
    if tract is not None:
        read.mapped = True
        _extend_map(read, table, patient, tract)
    if not is_map:
        read.of_patients.append((table, patient, tract))


def _extend_map(read: _Read, table: Table, patient: str, tract: str) -> None:
    torn = set()
    for one, where in zip(table.columns[patient], table.columns[tract], strict=True):
        if one is not None and where is not None and read.map.setdefault(one, where) != where:
            torn.add(one)
    if torn:
        raise SourceError(
            f"{table.path}: {len(torn):,} patients are put into more than one tract; keep one tract"
            " a patient"
        )


def _row_of(table: Table, key: str, counts: dict[str, int], what: str) -> dict[str, int]:
    """The row of each id; SourceError where rows of one id disagree."""
    rows: dict[str, int] = {}
    differing: dict[str, set[str]] = {}
    first: list[int] = []
    for at, name in enumerate(table.columns[key]):
        if name is None:
            counts["without_id"] += 1
            continue
        before = rows.setdefault(name, at)
        if before == at:
            continue
        unlike = [column for column, cells in table.columns.items() if cells[before] != cells[at]]
        if unlike:
            differing.setdefault(name, set()).update(unlike)
            first = first or [table.numbers[before], table.numbers[at]]
        else:
            counts["repeated"] += 1
    if differing:
        columns = sorted({visible(column) for found in differing.values() for column in found})
        raise SourceError(
            f"{table.path}: {len(differing):,} {what}s stand in several rows with different values "
            f"({', '.join(columns[:5])}), the first in rows {first[0]:,} and {first[1]:,}; keep one"
            f" row a {what}"
        )
    if not rows:
        raise SourceError(f"{table.path}: its column {visible(key)} holds no id")
    return rows


def _count(
    table: Table,
    rows: Mapping[str, int],
    wanted: set[str],
    counts: dict[str, int],
    what: str,
    ids: str,
) -> None:
    here = len(rows.keys() & wanted)
    if not here:
        bare = {name.removesuffix(".0").lstrip("0") for name in rows}
        alike = bool(bare & {name.lstrip("0") for name in wanted})
        hint = (
            "the ids would match without leading zeros or a trailing .0: write them as text, as "
            "the dataset does"
            if alike
            else f"are these {ids}?"
        )
        raise SourceError(
            f"{table.path}: none of its {len(rows):,} {what}s is of the split; {hint}"
        )
    counts["of_the_split"] += here
    counts["not_in_the_split"] += len(rows) - here


def _values(
    table: Table, name: str, rows: Mapping[str, int], ids: Sequence[str | None]
) -> list[str | None]:
    cells = table.columns[name]
    return [cells[rows[one]] if one is not None and one in rows else None for one in ids]


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
