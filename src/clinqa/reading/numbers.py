"""The few numbers that say a level: stated ranges, and a vessel's width beside its collapse."""

from __future__ import annotations

from clinqa.packs.schema import PackSpec, RangeSpec, SignSpec
from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["range_level", "sign_from_number"]

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
