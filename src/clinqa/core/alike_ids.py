"""Ids that differ only in what programs change without being asked: told once, never joined.

A spreadsheet makes 7 of 007, a data frame with one empty cell makes 7.0 of it, a form takes blanks
and capitals as they are typed. Whether two such ids are one patient nobody here can know: they are
taken as they are written, and it is said how many there are. Of no id a word is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["alike_ids", "bare_id", "told_alike"]

_NUMBER = re.compile(r"\d+(\.\d*)?", re.ASCII)

Id = str | tuple[str, str]
"""An id, or where it is one (a bank, say) and the id."""


def bare_id(text: str) -> str:
    """An id without what programs add or take away.

    >>> bare_id(" e01 "), bare_id("007"), bare_id("7.0"), bare_id("000")
    ('E01', '7', '7', '0')
    >>> bare_id("5350001.10"), bare_id("5350001.01")
    ('5350001.1', '5350001.01')
    """
    bare = " ".join(text.split()).upper().strip("'")
    if not bare[:1].isdigit() or not _NUMBER.fullmatch(bare):
        return bare
    whole, _, part = bare.partition(".")
    part = part.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{part}" if part else whole


def alike_ids(ids: Iterable[Id]) -> tuple[int, int, int]:
    """How many ids there are, how many of them are alike to another, and in how many sets.

    >>> alike_ids(["7", "007", "7.0", "8", "a", "A", "a"])
    (6, 5, 2)
    """
    seen: set[Id] = set()
    sizes: dict[Id, int] = {}
    for one in ids:
        if one in seen:
            continue
        seen.add(one)
        bare = bare_id(one) if isinstance(one, str) else (one[0], bare_id(one[1]))
        sizes[bare] = sizes.get(bare, 0) + 1
    sets = [size for size in sizes.values() if size > 1]
    return len(seen), sum(sets), len(sets)


def told_alike(where: str, **ids: Iterable[Id]) -> list[str]:
    """One warning with the counts of each sort of ids (`patients=…`); none where all are unlike.

    >>> told_alike("a.csv", patients=["7", "07", "8"], studies=["1", "2"])[0].split(";")[0]
    'a.csv: 2 of 3 ids of patients (1 set) differ from another in capitals, padding or zeros only'
    """
    found = []
    for what, several in ids.items():
        total, alike, sets = alike_ids(several)
        if alike:
            each = "1 set" if sets == 1 else f"{sets:,} sets"
            found.append(f"{alike:,} of {total:,} ids of {what} ({each})")
    if not found:
        return []
    return [
        f"{where}{': ' if where else ''}{', '.join(found)} differ from another in capitals, padding"
        " or zeros only; they were taken as different: write them alike where they are the same"
    ]
