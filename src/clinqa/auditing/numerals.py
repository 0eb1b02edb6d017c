"""Numbers as tables write them: with thousands parted, a comma for the point, a unit, an open end.

A column is one of numbers if all of its cells are, in one notation; which of two meanings a comma
has is told from the whole column, and from what parts the cells of the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Numerals", "number_of", "plain_number", "read_numerals"]

_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)
_GROUPED_BY_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?", re.ASCII)
_GROUPED_BY_BLANKS = re.compile(r"[+-]?\d{1,3}([ '’]\d{3})+([.,]\d*)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d{1,15},\d*|,\d+)", re.ASCII)
_UNIT = re.compile(r"(?P<before>[$£€]?)\s*(?P<number>[^$£€%\s][^$£€%]*?)\s*(?P<after>[%€]?)")
_BEFORE = "[<>≤≥]=?|over|under|above|below|more than|less than|at least|at most|top coded"
_AFTER = (
    "[+]|-(?=$)|and over|and above|and older|or more|or over|or older|and under|or less|or under|"
    "or younger"
)
_OPEN = re.compile(
    rf"(?P<before>{_BEFORE})?\s*(?P<number>[^<>≤≥\s].*?)\s*(?P<after>{_AFTER})?", re.IGNORECASE
)
_UP = frozenset(
    {">", ">=", "≥", "over", "above", "more than", "at least", "top coded", "+", "and over",
     "and above", "and older", "or more", "or over", "or older"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Numerals:
    """The number of each cell; `others` are cells that stand in place of one."""

    values: dict[str, float]
    others: frozenset[str] = field(default_factory=frozenset)
    notes: tuple[str, ...] = ()


def number_of(cell: str) -> float | None:
    """The number in a cell; None for what is none, or has more digits than a measurement has.

    >>> number_of("-2.5e3"), number_of("1_000"), number_of("9" * 300), number_of("inf")
    (-2500.0, None, None, None)
    """
    if not _NUMBER.fullmatch(cell):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def plain_number(value: float) -> str:
    """A number as `number_of` reads it.

    >>> plain_number(250000.0), plain_number(12.5), plain_number(-0.0)
    ('250000', '12.5', '0')
    """
    return format(value + 0.0, ".15g")


def read_numerals(cells: Sequence[str], *, comma: bool = True) -> Numerals | None:
    """The numbers of a column's different cells; None unless all are, in one notation.

    `comma`: one parts the cells of the file, so that inside a cell it can hardly be a point.

    >>> read_numerals(["1,234", "999"]).values
    {'1,234': 1234.0, '999': 999.0}
    >>> read_numerals(["1,234", "999"], comma=False).values["1,234"]
    1.234
    >>> read_numerals(["> 89", "54", "61"]).values["> 89"], read_numerals(["<18", "18-64"])
    (89.0, None)
    """
    if not cells:
        return None
    bare = {cell: cell.replace("−", "-").replace("\u00a0", " ").replace("\u202f", " ")
            for cell in cells}  # fmt: skip
    parted = {cell: _UNIT.fullmatch(text) for cell, text in bare.items()}
    units = {(one["before"], one["after"]) for one in parted.values() if one is not None}
    texts = bare
    if None not in parted.values() and len(units) == 1 and units != {("", "")}:
        texts = {cell: one["number"] for cell, one in parted.items() if one is not None}
    values, ends = _all(texts, comma)
    if values is None:
        return None
    notes: list[str] = []
    if ends:
        notes.append(f"{len(ends):,} of its values are open at an end, and taken at their bound")
    if any("," in text for text in texts.values()) and _is_decimal(list(texts.values()), comma):
        notes.append("a comma in its numbers is taken for the decimal point")
    return Numerals(values, notes=tuple(notes))


def _all(texts: dict[str, str], comma: bool) -> tuple[dict[str, float] | None, set[str]]:
    """The numbers, and which cells are open at an end: few, and none between the others."""
    decimal = _is_decimal(list(texts.values()), comma)
    values: dict[str, float] = {}
    ends: dict[str, bool] = {}
    for cell, text in texts.items():
        number = _one(text, decimal)
        if number is None:
            opened = _OPEN.fullmatch(text)
            marks = [] if opened is None else [opened["before"], opened["after"]]
            marks = [mark.casefold() for mark in marks if mark]
            number = _one(opened["number"], decimal) if opened and len(marks) == 1 else None
            if number is None:
                return None, set()
            ends[cell] = marks[0] in _UP
        values[cell] = number
    plain = [value for cell, value in values.items() if cell not in ends]
    if ends and 2 * len(ends) >= len(values):
        return None, set()
    for cell, up in ends.items():
        if values[cell] < max(plain) if up else values[cell] > min(plain):
            return None, set()
    return values, set(ends)


def _one(text: str, decimal: bool) -> float | None:
    if decimal:
        if _GROUPED_BY_POINTS.fullmatch(text):
            text = text.replace(".", "").replace(",", ".")
        elif _COMMA.fullmatch(text):
            text = text.replace(",", ".")
        elif _GROUPED_BY_BLANKS.fullmatch(text):
            text = re.sub(r"[ '’]", "", text).replace(",", ".")
    elif _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif _GROUPED_BY_BLANKS.fullmatch(text) and "," not in text:
        text = re.sub(r"[ '’]", "", text)
    return number_of(text)


def _is_decimal(texts: Sequence[str], comma: bool) -> bool:
    """Is a comma in these numbers the decimal point?"""
    with_comma = [re.sub(r"[^\d.,+-]", "", text) for text in texts if "," in text]
    if not with_comma:
        return False
    if any(_GROUPED.fullmatch(text) and "." in text for text in with_comma):
        return False
    if not all(_GROUPED.fullmatch(text.strip("+-")) for text in with_comma):
        return True
    return not comma
