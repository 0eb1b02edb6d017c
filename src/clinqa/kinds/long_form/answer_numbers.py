"""Numbers of an answer beside the report's: they can make an answer wrong, and never right.

A number is compared with the report's own of the same name (EF, mean gradient, …), or of the same
unit where one of the two has no name; where the report gives none, with the pack's table of numbers
against words. Tables are wide, so only a plain contradiction counts: "normal, EF 30 %".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from clinqa.core.records import Level
from clinqa.kinds.long_form.answer_words import NumberSpec, number_specs
from clinqa.packs.loader import Pack

__all__ = ["AnswerNumbers"]

_NEAR = 0.05  # numbers this near are the same, rounded
_REACH = 40  # characters between a name and its number
_UNITS = {
    "%": "%", "percent": "%", "per cent": "%", "mmhg": "mmHg", "mm hg": "mmHg", "torr": "mmHg",
    "mm of hg": "mmHg",
    "cm2": "cm2", "cm²": "cm2", "cm^2": "cm2", "cm 2": "cm2", "sq cm": "cm2",
    "square cm": "cm2", "square centimeters": "cm2", "square centimetres": "cm2",
    "ml/m2": "ml/m2", "ml/m²": "ml/m2", "ml/m^2": "ml/m2", "cc/m2": "ml/m2",
    "cm": "cm", "mm": "mm", "m/s": "m/s", "m/sec": "m/s", "meters per second": "m/s",
    "metres per second": "m/s",
}  # fmt: skip
_ABOVE = (">", "≥", "greater", "more", "at least", "above", "over")
_NUMBER = re.compile(
    r"(?P<bound>[<>≤≥]=?|greater than|more than|at least|above|over|less than|at most|below|under)?"
    r"\s*(?<![\w.*/])(?P<low>\d{1,3}(?:\.\d{1,2})?)"
    rf"(?:\s*(?:{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})?"
    r"\s*(?:-|–|—|to|and)\s*(?P<high>\d{1,3}(?:\.\d{1,2})?))?"
    rf"\s*(?P<unit>{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})?(?![\w/²+])",
    re.I,
)
_CLAUSE = re.compile(r"[;\n]|\.(?!\d)")


@dataclass(frozen=True, slots=True)
class _Number:
    name: str  # empty: not said
    unit: str
    low: float
    high: float

    def same(self, other: _Number) -> bool:
        """Do they overlap, rounding aside?"""
        return self.low <= other.high * (1 + _NEAR) and other.low <= self.high * (1 + _NEAR)


class AnswerNumbers:
    """Compares numbers with one pack's names and tables."""

    def __init__(self, pack: Pack) -> None:
        self._specs: dict[str, list[NumberSpec]] = {}
        for spec in number_specs(pack):
            self._specs.setdefault(spec.abnormality, []).append(spec)
        self._names: dict[str, re.Pattern[str]] = {}
        self._called: dict[str, dict[str, str]] = {}
        every = {
            t.casefold(): s.name for own in self._specs.values() for s in own for t in s.phrases
        }
        for abnormality, own in self._specs.items():
            # of two measurements of one name the asked one's stands
            called = every | {t.casefold(): spec.name for spec in own for t in spec.phrases}
            self._called[abnormality] = called
            words = "|".join(map(re.escape, sorted(called, key=len, reverse=True)))
            self._names[abnormality] = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I)

    def contradict(self, abnormality: str, level: int | None, report: str, answer: str) -> bool:
        """Is a number of the asked abnormality in the answer against the report, or the level?"""
        own = self._specs.get(abnormality)
        if not own or level is None or level == Level.INADEQUATE:
            return False
        theirs = list(self._numbers(abnormality, report))
        named = {spec.name: spec for spec in own}
        return any(
            self._against(number, theirs, level, named.get(number.name))
            for number in self._numbers(abnormality, answer)
            if not number.name or number.name in named
        )

    def _against(
        self, number: _Number, theirs: Sequence[_Number], level: int, spec: NumberSpec | None
    ) -> bool:
        alike = [one for one in theirs if one.unit == number.unit or not (one.unit and number.unit)]
        same_name = [one for one in alike if number.name and one.name == number.name]
        unnamed = [one for one in alike if one.unit and not (number.name and one.name)]
        if compared := same_name or unnamed:
            return not any(number.same(one) for one in compared)
        return spec is not None and level not in spec.agreeing(number.low, number.high)

    def _numbers(self, abnormality: str, text: str) -> Iterator[_Number]:
        """The numbers that have a unit, or a name that needs none."""
        pattern, called = self._names[abnormality], self._called[abnormality]
        for clause in _CLAUSE.split(text):
            names = [(one.end(), called[one[0].casefold()]) for one in pattern.finditer(clause)]
            before = 0
            for found in _NUMBER.finditer(clause):
                near = [
                    name
                    for end, name in names
                    if before <= end <= found.start("low") and found.start("low") - end <= _REACH
                ]
                before = found.end()
                name, unit = near[-1] if near else "", _UNITS.get((found["unit"] or "").lower(), "")
                if name or unit:
                    yield _made(name, unit, found)


def _made(name: str, unit: str, found: re.Match[str]) -> _Number:
    low = float(found["low"])
    high = float(found["high"]) if found["high"] else low
    if bound := found["bound"]:
        low, high = (low, inf) if bound.casefold().startswith(_ABOVE) else (0.0, high)
    if unit == "mm":
        return _Number(name, "cm", low / 10, high / 10)
    return _Number(name, unit, low, max(low, high))
