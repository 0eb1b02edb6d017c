"""Numbers with a unit in a statement, and other numbers that leave what is stated.

A changed number contradicts only if the new claim cannot hold together with the old one. "Is
shorter than 120 ms" is not contradicted by "is shorter than 160 ms": what is below 120 is below 160
too, and what exceeds 60 may exceed 200. So a bound said of the subject keeps its number, a bound
that is a condition ("when the rate is above 100 ...") must become looser, and a range must be left
altogether.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from clinqa.builders.references.clauses import StatementClause
from clinqa.builders.references.pack_words import Words

__all__ = [
    "Bound",
    "NumberRole",
    "Quantity",
    "numbers_in",
    "quantities",
    "replacements",
]

_NUMBER = r"[+\u2212\u2013-]?\d+(?:\.\d+)?"
_LOWER = (
    r"more than|greater than|longer than|larger than|wider than|higher than|taller than|above|over|"
    r"exceeds|exceed|exceeding|at least|deeper than|beyond|faster than|no less than|>|\u2265"
)
_UPPER = (
    r"less than|smaller than|shorter than|narrower than|lower than|fewer than|below|under|at most|"
    r"no more than|up to|slower than|within|<|\u2264"
)
_AFTER_LOWER = r"or (?:more|longer|greater|above|higher|wider|over|larger|deeper)"
_AFTER_UPPER = r"or (?:less|shorter|below|lower|narrower|fewer|smaller)"
_CONDITION = re.compile(r"\b(?:in|with|for|during|when|if|after|before|among|without|per|every)\b")
_NUMBERS = re.compile(rf"(?<![\w.,/]){_NUMBER}(?![\w/]|\.\d)")
_FURTHER, _NEARER, _FAR = 1.3, 0.75, 4.0
_NEAR = (0.41, 2.5)  # of "about"
_ABOUT = re.compile(r"\b(?:about|approximately|roughly|around|some)\s*$", re.I)


class Bound(StrEnum):
    """What a number says."""

    EXACT = "exact"
    RANGE = "range"
    ABOVE = "above"
    BELOW = "below"


class NumberRole(StrEnum):
    """Whether the number is said of the subject, or is the condition for what is said."""

    SAID = "said"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity of a statement: the places of its one or two numbers, and what they say."""

    spots: tuple[tuple[int, int], ...]
    values: tuple[float, ...]
    unit: str
    bound: Bound
    role: NumberRole
    about: bool = False
    """Said with "about": what is near is no mistake."""


@lru_cache(maxsize=4)
def _pattern(unit: str) -> re.Pattern[str]:
    units = rf"(?:\s*(?P<unit>{unit})(?![\w/]))"
    first = rf"(?:\s*(?:{unit})(?![\w/]))?"
    return re.compile(
        rf"(?<![\w.,/])(?:(?P<between>between\s+)?(?P<low>{_NUMBER}){first}"
        rf"\s*(?P<joint>to|and|-|\u2013)\s*)?(?P<number>{_NUMBER}){units}"
        rf"(?P<after>\s+(?:{_AFTER_LOWER}|{_AFTER_UPPER})\b)?",
        re.I,
    )


_BEFORE = re.compile(
    rf"(?:\b|(?<=\s))(?P<low>{_LOWER})\s*$|(?:\b|(?<=\s))(?P<up>{_UPPER})\s*$", re.I
)


def quantities(clause: StatementClause, words: Words) -> Iterator[Quantity]:
    """The quantities of which a change contradicts the statement."""
    text = clause.text
    if re.search(r"\([^)]*\d", text) or re.search(r"\bor\s+[\d+-]", text):
        return  # the same number said twice: changing one contradicts the other
    for match in _pattern(words.unit).finditer(text):
        made = _quantity(clause, match, words)
        if made is not None:
            yield made


def _quantity(clause: StatementClause, match: re.Match[str], words: Words) -> Quantity | None:
    text = clause.text
    unit = words.unit_names[" ".join(match["unit"].casefold().split())]
    spots = [match.span("number")]
    if match["low"] is not None:
        if match["joint"].lower() == "and" and not match["between"]:
            return None  # "1 and 2 mm" are two numbers
        spots.insert(0, match.span("low"))
    values = tuple(_value(text[a:b]) for a, b in spots)
    role = _role(clause, match)
    bound = _bound(text, match, values, unit)
    if role is None or bound is None:
        return None
    # what exceeds 60 may exceed 200: "above" turns into "below", or is denied
    if (bound in (Bound.ABOVE, Bound.BELOW)) is not (role is NumberRole.CONDITION):
        return None
    if match.end("number") < clause.verb_start and unit == "percent":
        return None
    about = bool(_ABOUT.search(text[: match.start()]))
    return Quantity(tuple(spots), values, unit, bound, role, about)


def _bound(text: str, match: re.Match[str], values: tuple[float, ...], unit: str) -> Bound | None:
    """What is said of the numbers; None where that is not clear."""
    said = _BEFORE.search(text[: match.start()])
    if not said and not match["after"]:
        if len(values) == 1:
            return Bound.EXACT
        return Bound.RANGE if values[0] < values[1] else None
    if len(values) == 2 or unit == "degree":
        return None  # an angle has no less and more
    after = (match["after"] or "").strip()
    low = bool(said and said["low"]) or bool(re.fullmatch(_AFTER_LOWER, after, re.I))
    return Bound.ABOVE if low else Bound.BELOW


def _role(clause: StatementClause, match: re.Match[str]) -> NumberRole | None:
    """Said of the subject, a condition, or neither for certain."""
    start = match.start()
    if start >= clause.main_end:
        lead = clause.text[clause.main_end : start]
        plain = re.match(r"\s(?:when|if|whenever)\s", lead) and lead.count(",") == 0
        return NumberRole.CONDITION if plain and not clause.open else None
    if start < clause.verb_start:
        return None  # "120 ms or more is wide" does not say what 100 ms is
    between = clause.text[clause.verb_end : start]
    if start >= clause.core_end or _CONDITION.search(between):
        return None
    if clause.open and clause.kind != "be":
        return None
    return NumberRole.SAID


def replacements(
    quantity: Quantity, clause: StatementClause, words: Words, met: tuple[float, ...] = ()
) -> list[tuple[str, tuple[float, ...]]]:
    """Statements with other numbers that leave what is stated, and those numbers.

    `met`: numbers of this unit elsewhere in the documents, tried first by whoever chooses.
    """
    spec = words.spec.units[quantity.unit]
    pool = sorted({*spec.values, *met})
    made: list[tuple[str, tuple[float, ...]]] = []
    if quantity.bound is Bound.RANGE:
        low, high = quantity.values
        for new in _ranges(pool, high - low, quantity):
            made.append((_written(clause.text, quantity, new), new))
    else:
        for value in pool:
            if _leaves(quantity, value):
                made.append((_written(clause.text, quantity, (value,)), (value,)))
    return made


def _leaves(quantity: Quantity, value: float) -> bool:
    old = quantity.values[0]
    if quantity.unit == "percent" and not 0 < value < 100:
        return False
    if quantity.bound is Bound.EXACT:
        return _different(old, value, quantity.unit) and (
            not quantity.about or quantity.unit == "degree" or _far(old, value)
        )
    if quantity.unit == "mv" and old < 0:
        return False
    up = quantity.bound is Bound.ABOVE
    if quantity.role is NumberRole.CONDITION:
        up = not up
    if up:
        return old * _FURTHER <= value <= old * _FAR
    return old / _FAR <= value <= old * _NEARER


def _different(old: float, value: float, unit: str) -> bool:
    if unit == "degree":
        turn = abs(old - value) % 360
        return min(turn, 360 - turn) >= 45
    if old == 0 or (old < 0) != (value < 0):
        return old != value
    ratio = abs(value) / abs(old)
    return _FURTHER <= ratio <= _FAR or 1 / _FAR <= ratio <= _NEARER


def _far(old: float, value: float) -> bool:
    return old == 0 or not _NEAR[0] < abs(value) / abs(old) < _NEAR[1]


def _apart(old: tuple[float, ...], new: tuple[float, ...]) -> bool:
    """Two ranges with room between them."""
    room = 0.1 * max(abs(old[0]), abs(old[1]))
    return new[0] >= old[1] + room or new[1] <= old[0] - room


def _ranges(pool: list[float], width: float, quantity: Quantity) -> Iterator[tuple[float, float]]:
    for low in pool:
        for high in pool:
            # as wide as the stated one, more or less, so that it looks like one
            if not 0.4 * width <= high - low <= 1.7 * width:
                continue
            if quantity.unit != "degree" and low <= 0:
                continue
            if quantity.unit == "degree" and high - low > 180:
                continue
            if _apart(quantity.values, (low, high)):
                yield low, high


def _written(text: str, quantity: Quantity, new: tuple[float, ...]) -> str:
    signed = any(text[a:b].startswith("+") for a, b in quantity.spots)
    minus = "\u2212" if "\u2212" in text else "-"
    for (start, end), value in reversed(list(zip(quantity.spots, new, strict=True))):
        text = text[:start] + _number(value, signed, minus) + text[end:]
    return text


def _number(value: float, signed: bool, minus: str) -> str:
    body = f"{abs(value):g}"
    if value < 0:
        return minus + body
    return f"+{body}" if signed and value > 0 else body


def _value(text: str) -> float:
    return float(text.replace("\u2212", "-").replace("\u2013", "-").replace("+", ""))


def numbers_in(text: str) -> list[float]:
    """All numbers of a text, in order."""
    return [_value(m[0]) for m in _NUMBERS.finditer(text)]
