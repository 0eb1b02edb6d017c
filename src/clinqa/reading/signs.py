"""Levels from ranges of numbers, from signs that stand together, from what prevents a reading.

The few numbers that say a level: stated ranges, and a vessel's width beside its collapse.
"""

from __future__ import annotations

from clinqa.packs.loader import Pack
from clinqa.packs.schema import CombinationSpec, PackSpec, RangeSpec, SignSpec
from clinqa.reading.findings import Claim
from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["add_signs", "range_level", "sign_from_number"]


def add_signs(pack: Pack, marks: list[MarkedPhrase], section: str, claims: list[Claim]) -> None:
    """Add, in place, what a statement's numbers and combined signs say (LABELLING 4)."""
    _ranges(pack, marks, claims)
    for combination in pack.spec.combinations:
        _combine(pack, combination, marks, section, claims)
    _unreadable(pack, marks, claims)


def _place(pack: Pack, abnormality: str) -> tuple[str, str]:
    spec = pack.abnormalities[abnormality]
    return spec.structure, spec.aspect


def _ranges(pack: Pack, marks: list[MarkedPhrase], claims: list[Claim]) -> None:
    for name, rows in pack.spec.ranges.items():
        place = _place(pack, name)
        if any((c.structure, c.aspect) == place and c.level != -3 for c in claims):
            continue
        level = range_level(marks, place, rows, name)
        if level is not None:
            claims[:] = [c for c in claims if (c.structure, c.aspect) != place]
            claims.append(Claim(*place, level))


def _combine(
    pack: Pack,
    combination: CombinationSpec,
    marks: list[MarkedPhrase],
    section: str,
    claims: list[Claim],
) -> None:
    structures = {sign.structure for sign in combination.signs}
    named = section in structures or any(structures & set(m.roles.structures) for m in marks)
    if not named:
        return
    values = [_sign(pack, sign, marks, claims) for sign in combination.signs]
    for row in combination.table:
        if row.values == values:
            claims.append(Claim(*_place(pack, combination.abnormality), row.level))
            return


def _sign(pack: Pack, sign: SignSpec, marks: list[MarkedPhrase], claims: list[Claim]) -> str | None:
    levels = [c.level for c in claims if (c.structure, c.aspect) == (sign.structure, sign.aspect)]
    if not levels:
        return sign_from_number(marks, sign, pack.spec)
    if -3 in levels:
        return None
    return "normal" if max(levels) in (0, -1) else "abnormal"


def _unreadable(pack: Pack, marks: list[MarkedPhrase], claims: list[Claim]) -> None:
    """What makes a reading impossible ("ventilated") where nothing is read all the same."""
    for name in pack.spec.unreadable:
        if not any(m.has(f"unreadable:{name}") for m in marks):
            continue
        place = _place(pack, name)
        structures = {
            sign.structure
            for combination in pack.spec.combinations
            if combination.abnormality == name
            for sign in combination.signs
        }
        speaks = any(
            structures & set(m.roles.structures)
            or any((t.structure, t.aspect) == place for t in m.roles.targets)
            for m in marks
        )
        if speaks and not any((c.structure, c.aspect) == place for c in claims):
            claims.append(Claim(*place, -3))


_BETWEEN = frozenset({"to", "-", " - ", "and"})
_OVER = frozenset({">", ">=", "above", "over", "exceeds", "greater than", "more than", "at least"})
_UNDER = frozenset({"<", "<=", "less than", "below", "under"})


def _whole(mark: MarkedPhrase) -> int | None:
    return int(mark.text) if mark.text.isdecimal() and len(mark.text) < 3 else None


def range_level(
    marks: list[MarkedPhrase], place: tuple[str, str], rows: list[RangeSpec], name: str
) -> int | None:
    """The level of a range stated after the target at `place`, by its upper bound.

    A single number labels nothing (LABELLING 4).
    """
    at = next(
        (
            i
            for i, mark in enumerate(marks)
            if any((t.structure, t.aspect) == place for t in mark.roles.targets)
        ),
        None,
    )
    if at is None:
        return None
    for mark in marks[max(0, at - 2) : at]:
        for tag in mark.roles.tags:
            if tag.startswith(f"range:{name}:"):
                return int(tag.rsplit(":", 1)[1])
    for i in range(at + 1, len(marks)):
        if i > at + 1 and marks[i].roles.targets and not marks[i].paren:
            break
        for tag in marks[i].roles.tags:
            if tag.startswith(f"range:{name}:"):
                return int(tag.rsplit(":", 1)[1])
        low = _whole(marks[i])
        if low is None:
            continue
        before = marks[i - 1].text
        unit_after = marks[i + 1].text if i + 1 < len(marks) else ""
        if unit_after in ("%", "cm", "mm"):
            continue
        if i + 2 < len(marks) and marks[i + 1].text in _BETWEEN:
            high = _whole(marks[i + 2])
            if high is not None and high > low:
                return _by_upper(high, rows)
        if before in _UNDER:
            return _by_upper(low, rows)
        if before in _OVER or marks[i - 1].has("above"):
            return _by_upper(low + 1, rows)
    return None


def _by_upper(high: int, rows: list[RangeSpec]) -> int | None:
    for row in rows:
        if high <= row.upto:
            return row.level
    return None


def sign_from_number(marks: list[MarkedPhrase], sign: SignSpec, spec: PackSpec) -> str | None:
    """A sign given by a measured width: normal up to the pack's limit, else abnormal."""
    limit = spec.widths.get(sign.structure)
    if limit is None or sign.aspect != "size":
        return None
    named = False
    for i, mark in enumerate(marks):
        if sign.structure in mark.roles.structures:
            named = True
        if named and i + 1 < len(marks) and marks[i + 1].text in ("cm", "mm"):
            try:
                width = float(mark.text)
            except ValueError:
                continue
            width = width / 10 if marks[i + 1].text == "mm" else width
            return "normal" if width <= limit else "abnormal"
    return None
