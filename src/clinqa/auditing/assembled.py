"""The tables of an audit as they come in: of patients, of tracts, and the map between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.auditing.table import Table, key_column, read_table, tract_names
from clinqa.core.alike_ids import told_alike
from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.visible import visible
from clinqa.kinds.facets.audited import Who

__all__ = ["PATIENT", "TRACT", "Assembled", "Source", "assembled", "row_of"]

PATIENT, TRACT = "patient", "tract"


@dataclass(frozen=True, slots=True)
class Source:
    """A table with attributes, and its columns of ids."""

    table: Table
    key: str
    other: str | None = None  # of patients: the column of their tracts
    of_tracts: bool = False

    @property
    def attributes(self) -> list[str]:
        """Its columns but those of ids."""
        return [name for name in self.table.columns if name not in (self.key, self.other)]


@dataclass(slots=True)
class Assembled:
    """Tables as they come in; `counts` are of their rows. `map` is from patients to tracts."""

    sources: list[Source] = field(default_factory=list)
    map: dict[str, str] = field(default_factory=dict)
    map_path: Path | None = None
    told: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("of_the_split", "not_in_the_split", "repeated", "without_id"), 0
        )
    )


def assembled(
    tables: Sequence[Path],
    tract_map: Path | None,
    patient_column: str | None,
    tract_column: str | None,
    missing: Sequence[str],
    known: Sequence[str],
    who: Who,
) -> Assembled:
    """The tables read and told apart; those of patients first."""
    read = Assembled()
    paths = [*tables, *([tract_map] if tract_map is not None else [])]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("--groups and --map: the same file is given twice")
    seen: list[str] = []
    for path in paths:
        table = read_table(path, missing, known)
        read.told += table.held.told
        seen += table.columns
        keys = _sort_in(read, table, patient_column, tract_column, path == tract_map, who)
        names = {what: filter(None, table.ids(key)) for what, key in keys.items()}
        read.told += told_alike(visible(path.name), **names)
    for option, named in (
        (f"--{who.word}-column", patient_column),
        ("--tract-column", tract_column),
    ):
        if named is not None and named.casefold() not in {name.casefold() for name in seen}:
            columns = ", ".join(sorted(map(visible, set(seen))))
            raise ConfigError(f"{option} {visible(named)}: no table has it; there are {columns}")
    read.sources.sort(key=lambda one: one.of_tracts)
    of_tracts = [one for one in read.sources if one.of_tracts]
    if of_tracts and read.map_path is None:
        raise ConfigError(
            f"{of_tracts[0].table.path}: a table of tracts needs a map patient → tract: --map "
            "FILE with both columns, or a table of patients with a tract column"
        )
    return read


def _sort_in(
    read: Assembled,
    table: Table,
    patient_column: str | None,
    tract_column: str | None,
    is_map: bool,
    who: Who,
) -> dict[str, str]:
    """Put a table where it belongs; gives its columns of ids by whose they are."""
    patient = key_column(table, who.columns, patient_column, who.word)
    if not who.in_tracts:
        if patient is None:
            raise ConfigError(
                f"{table.path}: no column of {who.many} ({', '.join(who.columns[:4])}, …), which "
                f"holds {who.ids}; name it with --{who.word}-column"
            )
        read.sources.append(Source(table, patient))
        return {who.many: patient}
    tract = key_column(table, tract_names(), tract_column, TRACT)
    if is_map and (patient is None or tract is None):
        raise ConfigError(f"{table.path}: --map has a column of patients and one of tracts")
    if patient is None and tract is None:
        raise ConfigError(
            f"{table.path}: no column of patients ({', '.join(who.columns[:4])}, …) or of tracts "
            f"({', '.join(tract_names()[:3])}, …); name it with --patient-column or --tract-column"
        )
    if patient is None and tract is not None:
        read.sources.append(Source(table, tract, of_tracts=True))
        return {"tracts": tract}
    assert patient is not None
    if tract is not None:
        read.map_path = read.map_path or table.path
        _extend_map(read, table, patient, tract)
    if not is_map:
        read.sources.append(Source(table, patient, tract))
    return {who.many: patient} | ({"tracts": tract} if tract is not None else {})


def _extend_map(read: Assembled, table: Table, patient: str, tract: str) -> None:
    torn = set()
    for one, where in zip(table.ids(patient), table.ids(tract), strict=True):
        if one is not None and where is not None and read.map.setdefault(one, where) != where:
            torn.add(one)
    if torn:
        raise SourceError(
            f"{table.path}: {len(torn):,} patients are put into more than one tract; keep one tract"
            " a patient"
        )


def row_of(source: Source, counts: dict[str, int], who: Who) -> dict[str, int]:
    """The row of each id; SourceError where rows of one id disagree."""
    table, key = source.table, source.key
    what = TRACT if source.of_tracts else who.word
    rows: dict[str, int] = {}
    differing: dict[str, set[str]] = {}
    first: list[int] = []
    for at, name in enumerate(table.ids(key)):
        if name is None:
            counts["without_id"] += 1
            continue
        before = rows.setdefault(name, at)
        if before == at:
            continue
        unlike = [
            column
            for column, cells in table.columns.items()
            if cells[before].split() != cells[at].split()
        ]
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
