"""Ids of two tables brought together, and how many of them have no partner.

Ids are the same as written. Where some have no partner, what programs do to ids is undone by
rule: zeros in front and a trailing `.0` are lost to a spreadsheet, capitals and the prefix of the
Census Bureau (`1400000US`) come and go. A pair so found must be the only one on both sides, or
nothing is joined. An id in scientific form (3.60610E+10) has lost its digits, and no rule brings
them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.alike_ids import bare_id as plain_id
from clinqa.core.errors import SourceError
from clinqa.core.visible import visible

__all__ = ["LARGE", "Join", "alike", "bare_id", "joined", "refuse_scientific"]

#: A join that loses more than this share of the patients is a headline.
LARGE = 0.05
_SCIENTIFIC = re.compile(r"\d[.,]\d+E\+?\d{1,3}|\dE\+\d{1,3}", re.ASCII | re.IGNORECASE)
_GISJOIN = re.compile(r"G(?:(\d{2})0(\d{3})0(\d{6,7})|(\d{11,12}))", re.ASCII)
_CENSUS = re.compile(r"\d{3}[0-9A-Z]{4}US(?P<id>\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Join:
    """Which id of a table is which of ours; `by` are the rules that brought some together."""

    partner: Mapping[str, str]
    by: Sequence[str] = ()


def bare_id(name: str) -> str:
    """An id without what programs, and offices, add or take away.

    >>> bare_id("01001000100"), bare_id("1001000100.0"), bare_id("1400000US01001000100")
    ('1001000100', '1001000100', '1001000100')
    >>> bare_id("G0100010000100"), bare_id("e01")
    ('1001000100', 'E01')
    >>> bare_id("5350001.10"), bare_id("5350001.01"), bare_id("000")
    ('5350001.1', '5350001.01', '0')
    """
    text = name.strip().upper().strip("'")
    if census := _CENSUS.fullmatch(text):
        text = census["id"]
    if gisjoin := _GISJOIN.fullmatch(text):  # of IPUMS: the same with a letter and zeros between
        text = "".join(part or "" for part in gisjoin.groups())
    return plain_id(text)


def _ways(ours: str, theirs: str) -> list[str]:
    """By what rules two ids are the same."""
    made = []
    if _CENSUS.fullmatch(ours.upper()) or _CENSUS.fullmatch(theirs.upper()):
        made.append("the prefix of the Census Bureau")
    if _GISJOIN.fullmatch(ours.upper()) or _GISJOIN.fullmatch(theirs.upper()):
        return ["the form of IPUMS (GISJOIN)"]
    if ours.casefold() == theirs.casefold():
        return ["capitals"]
    one, other = (re.sub(_CENSUS, r"\g<id>", text.upper()).strip("'") for text in (ours, theirs))
    if one.partition(".")[0] != other.partition(".")[0]:
        made.append("leading zeros")
    if one.partition(".")[2] != other.partition(".")[2]:
        made.append("zeros after the point")
    return made or ["quotation marks"]


def alike(columns: Sequence[Sequence[str | None]]) -> bool:
    """Do columns hold the same ids in the same rows?"""
    first, *rest = ([None if cell is None else bare_id(cell) for cell in one] for one in columns)
    return all(one == first for one in rest)


def refuse_scientific(path: Path, column: str, ids: Iterable[str | None], what: str) -> None:
    """SourceError where ids are numbers in scientific form."""
    there = [one for one in ids if one is not None]
    odd = sum(_SCIENTIFIC.fullmatch(one) is not None for one in there)
    if odd:
        raise SourceError(
            f"{path}: {odd:,} of {len(there):,} {what} ids in column {visible(column)} are in "
            "scientific form, as 3.60610E+10 is: a spreadsheet cut their last digits off. Export "
            "the column as text from where it came"
        )


def joined(path: Path, ours: Sequence[str], theirs: Iterable[str], what: str, whose: str) -> Join:
    """The partner of each of our ids in a table.

    SourceError where rules would find more partners, but not for certain which.
    """
    table = list(theirs)
    there = set(table)
    partner = {one: one for one in ours if one in there}
    lone = [one for one in ours if one not in there]
    if not lone:
        return Join(partner)
    by_bare: dict[str, list[str]] = {}
    for one in table:
        if one not in partner:
            by_bare.setdefault(bare_id(one), []).append(one)
    claims: dict[str, int] = {}
    for one in lone:
        claims[bare_id(one)] = claims.get(bare_id(one), 0) + 1
    found = {one: by_bare[bare_id(one)] for one in lone if bare_id(one) in by_bare}
    torn = [one for one, pairs in found.items() if len(pairs) > 1 or claims[bare_id(one)] > 1]
    if torn:
        raise SourceError(
            f"{path}: {len(lone):,} of {len(ours):,} {what}s ({len(lone) / len(ours):.0%}) are not "
            f"in it as written; {len(found):,} would be without leading zeros, zeros after the "
            f"point or capitals, but {len(torn):,} of them could then be two different ones: "
            f"write the ids as text, as {whose} does"
        )
    ways: dict[str, None] = {}
    for one, (other,) in found.items():
        partner[one] = other
        ways |= dict.fromkeys(_ways(one, other))
    return Join(partner, tuple(ways))
