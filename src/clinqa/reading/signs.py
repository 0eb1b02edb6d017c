"""Levels from ranges of numbers, from signs that stand together, from what prevents a reading."""

from __future__ import annotations

from clinqa.packs.loader import Pack
from clinqa.packs.schema import CombinationSpec, SignSpec
from clinqa.reading.claims import Claim
from clinqa.reading.numbers import range_level, sign_from_number
from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["add_signs"]


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
