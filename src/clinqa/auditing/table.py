"""Tables of patients or of tracts: any number of columns, as text, and what a column holds.

Nothing of a row is ever quoted in an error: a cell is an attribute of a person. Columns are named,
rows counted and numbered.

What a column holds is told from its cells and its name: dates, ids and codes, or amounts. A date
near a tract points at a person, and the quartile of an id is a row of the table: both are told
apart before anything is cut or shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.auditing.joining import alike
from clinqa.auditing.unknown import ReadColumn, Rules, is_no_id, read_column, rules_of
from clinqa.core.errors import ConfigError
from clinqa.core.small_tables import SmallTable, column_named, read_small_table
from clinqa.core.visible import visible
from clinqa.packs.attributes import attribute_words

__all__ = ["Table", "are_dates", "holds_ids", "key_column", "looks_like_codes",
           "read_table", "tract_names"]  # fmt: skip

_MONTHS = (
    "jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|"
    "oct(ober)?|nov(ember)?|dec(ember)?"
)
_MONTH = r"(0?[1-9]|1[0-2])"
_TIME = r"([t ].*)?"
_DATE = re.compile(
    rf"\d{{4}}[-/.]{_MONTH}[-/.]\d{{1,2}}{_TIME}"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.](\d{{2}}|\d{{4}}){_TIME}"
    rf"|(18|19|20)\d\d[-/]{_MONTH}|{_MONTH}[-/](18|19|20)\d\d"
    r"|(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"  # YYYYMMDD
    rf"|([a-z]+,? )?(\d{{1,2}}(st|nd|rd|th)?[-./ ]+)?({_MONTHS})[-./, ]+"
    rf"(\d{{1,2}}(st|nd|rd|th)?,? +)?(\d{{2}}|\d{{4}}){_TIME}"
    r"|(18|19|20)\d\d[- ]?(w\d\d|q[1-4])(-\d)?|q[1-4][- /]?(18|19|20)\d\d"
)
_DATED = frozenset(
    {"date", "dates", "datetime", "dob", "dod", "birthdate", "birthday", "admittime", "dischtime",
     "timestamp"}
)  # fmt: skip
_CODED = frozenset(
    {"id", "ids", "mrn", "hadm", "uid", "uuid", "guid", "zip", "zipcode", "zip5", "zcta", "postal",
     "postcode", "plz", "fips", "geoid", "ssn", "accession", "phone", "telephone", "code"}
)  # fmt: skip
#: Whole numbers of so many digits, one each, are no amounts: record numbers, or ids of tracts.
_DIGITS = {"patient": 6, "tract": 9}
_ENOUGH = 20


def are_dates(name: str, cells: Collection[str]) -> bool:
    """Is half or more of what a column holds a date more exact than a year, or does its name say
    so? `cells` are the known ones.

    >>> are_dates("seen", {"2020-01", "5 Feb 2021", "unknown"}), are_dates("age", {"53", "54"})
    (True, False)
    """
    if not cells:
        return False
    if _words(name) & _DATED:
        return True
    dates = sum(_DATE.fullmatch(cell.casefold()) is not None for cell in cells)
    return 2 * dates >= len(cells)


def holds_ids(cells: Sequence[str | None], ids: Sequence[str]) -> bool:
    """Are these the ids of the patients themselves, in their rows or in another order?"""
    known = [cell for cell in cells if cell is not None]
    if 2 * sum(cell == own for cell, own in zip(cells, ids, strict=True)) > len(known):
        return True
    distinct = set(known)
    # ages are few different numbers, and short ones, even where patients are called 1, 2, 3
    unlike_ages = len(distinct) > 2 * _ENOUGH or min(map(len, distinct), default=0) > 3
    one_each = len(distinct) >= 0.9 * len(known)
    return unlike_ages and one_each and len(distinct & set(ids)) >= 0.9 * len(distinct)


def looks_like_codes(name: str, distinct: Sequence[str], units: int, unit: str) -> bool:
    """Numbers that count nothing: by the column's name, zeros in front, or one long number each.

    >>> looks_like_codes("zip", ["2118", "2119"], 50, "patient")
    True
    >>> looks_like_codes("income", ["45500", "55700"], 50, "patient")
    False
    """
    if _words(name) & _CODED:
        return True
    if not all(cell.isascii() and cell.isdigit() for cell in distinct):
        return False
    lengths = {len(cell) for cell in distinct}
    if len(lengths) > 1:
        return False
    length = lengths.pop()
    if length > 1 and any(cell.startswith("0") for cell in distinct):
        return True
    return length >= _DIGITS[unit] and units >= _ENOUGH and len(distinct) >= 0.95 * units


def _words(name: str) -> set[str]:
    """The words of a name: `subjectId`, `zip code` and `HADM_ID` have two each."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+\d*|\d+", parted.casefold()))


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in its file, and what options say of its cells."""

    held: SmallTable
    rules: Rules

    @property
    def path(self) -> Path:
        return self.held.path

    @property
    def columns(self) -> Mapping[str, Sequence[str]]:
        """The texts by the name of their column."""
        return self.held.columns

    @property
    def numbers(self) -> Sequence[int]:
        """The number of each row in the file."""
        return self.held.numbers

    def ids(self, name: str) -> list[str | None]:
        """A column of ids: text as it is, None where there is none."""
        whole = [" ".join(cell.split()) for cell in self.columns[name]]
        known = {text: None if is_no_id(text) else text for text in set(whole)}
        return [known[text] for text in whole]

    def read(self, name: str, rows: Sequence[int]) -> ReadColumn:
        """A column of an attribute; `rows` are those of the split."""
        held = self.held
        return read_column(
            name, self.columns[name], self.rules, comma=held.comma,
            temporal=name in held.temporal, rows=rows,
        )  # fmt: skip

    def holds_dates(self, name: str, column: ReadColumn) -> bool:
        """Does the file say so, or do cells and name?"""
        known = {cell for cell in column.cells if cell is not None}
        return name in self.held.temporal or are_dates(name, known)


def read_table(path: Path, missing: Sequence[str] = (), known: Sequence[str] = ()) -> Table:
    """The table in a CSV or Parquet file."""
    held = read_small_table(path, "a table of groups")
    return Table(held, rules_of(missing, known, held.columns))


def key_column(table: Table, known: Sequence[str], named: str | None, what: str) -> str | None:
    """The column that holds the ids; the one that was named, or one whose name says so.

    Of several whose names say so the first counts, where all hold the same ids.
    """
    names = list(table.columns)
    if named is not None and (own := column_named(names, named)) is not None:
        return own
    wanted = {_bare(name) for name in known}
    found = [name for name in names if _bare(name) in wanted]
    if len(found) > 1 and not alike([table.ids(name) for name in found]):
        raise ConfigError(
            f"{table.path}: columns {', '.join(map(visible, found))} could all be the {what}; "
            f"name it with --{what}-column"
        )
    return found[0] if found else None


def tract_names() -> tuple[str, ...]:
    """What columns of the ids of places are called."""
    return attribute_words().places


def _bare(name: str) -> str:
    """A name without case, blanks and marks.

    >>> _bare("LSOA code (2011)"), _bare("TRACT_FIPS")
    ('lsoacode2011', 'tractfips')
    """
    return "".join(re.findall(r"[^\W_]+", name.casefold()))
