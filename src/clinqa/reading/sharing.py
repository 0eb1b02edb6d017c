"""What units share: nouns ("mitral and tricuspid regurgitation"), values, denials (LABELLING 5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from clinqa.reading.clauses import Clause, Unit

__all__ = ["LIST", "look_back", "share"]

_MODIFIERS = frozenset({"mod_regional", "mod_global", "mod_both"})
LIST = frozenset({"and", "or", ",", "/"})


def share(units: list[Unit]) -> None:
    """Fill in, in place, what each unit takes from its neighbours."""
    for left, unit in pairwise(units):
        if not (unit.targets or unit.structures or unit.valued or unit.decoy):
            left.tags |= unit.tags & _MODIFIERS  # "function normal, global and segmental"
    _tails(units)
    _heads(units)
    _from_right(units)
    _from_left(units)
    _trailing(units)


def _heads(units: list[Unit]) -> None:
    """A structure without a noun takes the noun of the next: "left atrium moderately, right
    atrium mildly dilated"."""
    for i in range(len(units) - 2, -1, -1):
        left, right = units[i], units[i + 1]
        if left.targets or not left.structures or right.sep not in LIST:
            continue
        if left.weak:
            if right.dim and right.predicate and not left.valued and not left.decoy:
                _copy_value(right, left)
            continue
        if left.value == "normal" and left.value_first and not left.decoy and not right.valued:
            if (
                right.targets
                and right.structures
                and all(t.level is None for _, t in right.targets)
            ):
                left.targets = [(m, t) for m, t in right.targets if t.structure is None]
                left.borrowed = bool(left.targets)  # "normal LA and RA cavity sizes"
                continue
        if left.decoy or left.dim or (left.value and left.degree is None):
            continue
        if right.targets and right.structures and right.structure_first:
            left.targets = [(m, t) for m, t in right.targets if t.structure is None]
            left.borrowed = bool(left.targets)
            if left.borrowed and not left.valued and not _value_leads(right):
                _copy_value(right, left)
            left.tags |= right.tags & {"mod_regional", "mod_global", "mod_both", "normal_only"}
        elif right.targets and any(t.structure for _, t in right.targets) and not right.structures:
            # "mitral and tricuspid regurgitation", where the second is one term
            if not left.valued and (right.negated_first or right.degree_first):
                continue
            first = right.targets[0][1]
            left.targets = [(right.targets[0][0], replace(first, structure=None))]
            left.borrowed = True
            if not left.valued and right.predicate:
                _copy_value(right, left)
        elif (
            not (right.targets or right.decoy)
            and right.valued
            and right.structures
            and not left.valued
        ):
            _copy_value(right, left)


def _tails(units: list[Unit]) -> None:
    """ "Mild regurgitation of the mitral and tricuspid valves": one noun, a list after it."""
    for i in range(1, len(units)):
        left, unit = units[i - 1], units[i]
        if not left.targets or not left.structures:
            continue
        if left.structure_first and not left.borrowed:
            continue
        ends = unit.valued and unit.predicate and not left.valued
        ends = ends and ("of" in left.raw or left.borrowed)
        if (
            unit.targets
            or (unit.valued and not ends)
            or not unit.structures
            or unit.sep not in LIST
        ):
            continue
        if unit.decoy or unit.loose > 1:
            continue
        unit.targets = [(m, t) for m, t in left.targets if t.structure is None]
        unit.borrowed = bool(unit.targets)
        if unit.borrowed and not ends:
            _copy_value(left, unit)


def _value_leads(unit: Unit) -> bool:
    """Does the unit's value stand before its structure, so that it is its own?"""
    return bool(
        (unit.degree is not None and unit.degree.end <= _first_structure(unit))
        or (unit.value_first and not unit.predicate and _value_place(unit) < _first_structure(unit))
    )


def _first_structure(unit: Unit) -> int:
    return next((m.start for m in unit.marks if m.roles.structures), 10**9)


def _value_place(unit: Unit) -> int:
    return next((m.start for m in unit.marks if m.roles.value or m.roles.aspects), -1)


def _copy_value(source: Unit, to: Unit) -> None:
    to.degree, to.degree_first = source.degree, source.degree_first
    to.value, to.value_first = source.value, source.value_first
    to.aspects = source.aspects
    to.negated, to.negated_first = source.negated, source.negated_first
    to.dim, to.dim_first, to.severity = source.dim, source.dim_first, source.severity
    to.borrowed_value = True


def _needs_value(unit: Unit) -> bool:
    return bool(unit.targets or unit.decoy) and not unit.valued and "present" not in unit.raw


def _from_right(units: list[Unit]) -> None:
    """ "LV wall thickness and cavity size are normal": the predicate speaks of each."""
    for i in range(len(units) - 2, -1, -1):
        left, right = units[i], units[i + 1]
        if not _needs_value(left) or right.sep not in LIST:
            continue
        if left.predicate or not (right.targets or right.decoy):
            continue
        if any(m.has("be") for m in left.marks):
            continue  # it says something of its own
        after = right.valued and (
            right.predicate or not (right.degree_first or right.value_first or right.negated_first)
        )
        if not after or right.dim_first:
            continue
        if right.structures and right.structure_first and left.structures and _adjectives(left):
            continue
        attribute = all(t.level is None for _, t in left.targets) and left.targets
        predicate_noun = bool({"all", "both"} & set(right.raw)) or (
            right.decoy and not right.targets
        )
        if attribute or predicate_noun or right.negated or right.dim or _same(left, right):
            if right.aspects and attribute and not (right.aspects & _names(left)):
                if right.value == "" and right.degree is None:
                    continue
            _copy_value(right, left)


def _lone_degree(unit: Unit) -> bool:
    return (
        unit.degree is not None
        and unit.loose <= 2
        and not (unit.targets or unit.structures or unit.decoy or unit.negated or unit.dim)
    )


def _under_denial(left: Unit, unit: Unit) -> bool:
    """Does a denial reach over a unit that has words of its own?"""
    if not (left.negated_first and unit.targets) or unit.negated or unit.dim or unit.value:
        return False
    if unit.degree is None:
        return bool(unit.aspects) and unit.sep == "or"
    level = unit.degree.roles.degree
    return level == -2 or (unit.sep == "or" and ("above" in unit.degree.extra or level in (2, 3)))


def _adjectives(unit: Unit) -> bool:
    return any(t.adjective for _, t in unit.targets)


def _names(unit: Unit) -> set[str]:
    return {t.aspect for _, t in unit.targets}


def _same(a: Unit, b: Unit) -> bool:
    return bool({t.kind for _, t in a.targets} & {t.kind for _, t in b.targets})


def _from_left(units: list[Unit]) -> None:
    for left, unit in pairwise(units):
        # "moderate, eccentric, posteriorly directed regurgitation"
        if _lone_degree(left) and unit.sep == "," and unit.loose <= 2 and not unit.valued:
            if not (unit.targets or unit.structures or unit.decoy):
                unit.degree, unit.degree_first = left.degree, True
    for i in range(1, len(units)):
        left, unit = units[i - 1], units[i]
        if unit.sep not in LIST or not left.valued:
            continue
        if not _needs_value(unit) and not _under_denial(left, unit):
            continue
        if not (left.targets or left.decoy or left.borrowed):
            if _lone_degree(left) and unit.sep == "," and unit.targets and not unit.structure_first:
                _copy_value(left, unit)  # "moderate, posteriorly directed MR"
                continue
            if not (left.negated_first or left.dim_first):
                continue
        leads = (
            left.negated_first
            or left.dim_first
            or left.degree_first
            or left.value_first
            or left.borrowed_value
        )
        if not leads:
            continue
        standing = _adjectives(unit) and unit.structures and unit.structure_first
        if left.negated or left.dim:
            if standing and not unit.borrowed:
                continue
            if left.negated and left.degree is not None and not _same(left, unit):
                if left.degree.roles.degree != -2:
                    continue
            if unit.valued:  # "no stenosis or significant regurgitation"
                unit.negated = unit.negated_first = unit.borrowed_value = True
            else:
                _copy_value(left, unit)
            continue
        attribute = unit.targets and all(t.level is None for _, t in unit.targets)
        if attribute and any(m.text[0].isdigit() and not m.paren for m in unit.marks):
            continue  # "LVEF 28 %" stands for itself
        if attribute and left.targets and all(t.level is None for _, t in left.targets):
            if left.degree_first or left.value_first or left.borrowed_value:
                _copy_value(left, unit)
        elif (
            _same(left, unit) and left.degree is not None and unit.sep != "with" and not standing
        ) or (attribute and left.value == "normal" and unit.sep != ","):
            _copy_value(left, unit)
        elif unit.decoy and not unit.targets and left.decoy and left.value == "normal":
            _copy_value(left, unit)  # "normal leaflet and disc motion and gradients"


def _trailing(units: list[Unit]) -> None:
    """ "Biatrial enlargement, moderate": a value alone belongs to what stands before it."""
    for i in range(1, len(units)):
        unit = units[i]
        left = next((u for u in reversed(units[:i]) if u.targets or u.valued), units[i - 1])
        if unit.targets or unit.structures or unit.decoy or not unit.valued:
            continue
        if unit.severity and unit.dim:
            _silence(unit)
            continue
        allowed = 1 if unit.degree is not None else 0
        if {"stress", "post", "segment"} & unit.tags or unit.loose > allowed:
            _silence(unit)
            continue
        if not left.targets or left.negated or left.dim:
            continue
        if unit.dim and left.valued:
            _silence(unit)
            continue
        if left.degree is None and not unit.negated:
            if unit.degree is not None and left.value != "normal":
                left.degree, left.degree_first = unit.degree, False
                left.aspects |= unit.aspects
            elif unit.value or unit.aspects or unit.dim:
                if not left.valued:
                    _copy_value(unit, left)
                elif unit.dim:
                    left.dim = True
        elif left.degree is None and unit.negated and unit.degree is None and not left.valued:
            _copy_value(unit, left)
        _silence(unit)


def _silence(unit: Unit) -> None:
    unit.degree, unit.value, unit.aspects = None, "", frozenset()
    unit.negated = unit.dim = False


_BACK = frozenset({"which", ";", "where", "however", "though", "nevertheless"})
_PRONOUNS = frozenset({"it", "this", "that"})


def look_back(clauses: list[Clause]) -> None:
    """A value alone in a clause that looks back belongs to the last finding before it: "RVSP 28
    mmHg, which is normal"; "MR hidden by shadow; it is at least mild"."""
    for before, clause in pairwise(clauses):
        unit, last = clause.units[0], before.units[-1]
        if clause.lead is None or unit.targets or unit.decoy or unit.negated:
            continue
        if unit.structures and not unit.weak:
            continue
        pronoun = bool(_PRONOUNS & set(unit.raw[:2]))
        goes_on = pronoun or (unit.marks[:1] and unit.marks[0].has("be"))
        if clause.lead.text not in _BACK or not (goes_on or unit.degree):
            continue
        if not last.targets or last.degree or last.value or last.negated or unit.dim:
            continue
        if unit.degree is not None or unit.value or unit.aspects:
            last.degree, last.value, last.aspects = unit.degree, unit.value, unit.aspects
            last.dim = last.weak_dim = False
            last.predicate = True
            clause.units[0] = Unit(unit.sep)
