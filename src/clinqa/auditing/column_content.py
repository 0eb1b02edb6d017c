"""What a column holds, told from its cells and its name: dates, ids and codes, or amounts.

A date near a tract points at a person, and the quartile of an id is a row of the table: both are
told apart before anything is cut or shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

__all__ = ["are_dates", "holds_ids", "looks_like_codes", "number_of"]

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
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
#: Whole numbers of so many digits, one each, are no amounts: record numbers, or ids of tracts.
_DIGITS = {"patient": 6, "tract": 9}
_ENOUGH = 20


def number_of(cell: str) -> float | None:
    """The number in a cell; None for what is none, or has more digits than a measurement has.

    >>> number_of("-2.5e3"), number_of("1_000"), number_of("9" * 300), number_of("inf")
    (-2500.0, None, None, None)
    """
    if not _NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


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
