"""From marks to clauses and units: what belongs together in a statement.

A clause ends at a full stop, a semicolon or a word such as "but". A unit is the stretch of a
clause between commas, "and", "or", "with", a slash: at most one value and its nouns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from clinqa.reading.vocabulary import MarkedPhrase, Target

__all__ = ["Clause", "Unit", "clauses_of"]

_SHORT = frozenset(
    {"est", "approx", "syst", "diast", "pressure", "vs", "vel", "resp", "max", "avg", "calc", "dr"}
)
_OPEN, _CLOSE = ("(", "["), (")", "]")


@dataclass(slots=True)
class Unit:
    """A stretch of a clause; the fields are what its marks say of it."""

    sep: str
    marks: list[MarkedPhrase] = field(default_factory=list)
    targets: list[tuple[MarkedPhrase, Target]] = field(default_factory=list)
    structures: list[str] = field(default_factory=list)
    weak: bool = False
    only_normal: bool = False
    decoy: bool = False
    degree: MarkedPhrase | None = None
    degree_first: bool = False
    value: str = ""
    value_first: bool = False
    aspects: frozenset[str] = frozenset()
    negated: bool = False
    negated_first: bool = False
    dim: bool = False
    dim_first: bool = False
    weak_dim: bool = False
    severity: bool = False
    borrowed: bool = False
    borrowed_value: bool = False
    predicate: bool = False
    segments: bool = False
    loose: int = 0  # words that are nothing we know
    tags: set[str] = field(default_factory=set)
    structure_first: bool = False
    raw: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)  # words of a bare unit coordinated with it

    @property
    def valued(self) -> bool:
        return bool(self.degree or self.value or self.aspects or self.negated or self.dim)


@dataclass(slots=True)
class Clause:
    """Units with what led to them: `lead` is the word that opened the clause."""

    lead: MarkedPhrase | None
    units: list[Unit]


def clauses_of(marks: list[MarkedPhrase]) -> list[Clause]:
    """The clauses of a statement, brackets with findings of their own as clauses after it."""
    main, asides = _brackets(marks)
    clauses = [_clause(lead, part) for lead, part in _cut(main)]
    for aside in asides:
        clauses += [_clause(lead, part) for lead, part in _cut(aside)]
    return [clause for clause in clauses if clause.units]


def _brackets(marks: list[MarkedPhrase]) -> tuple[list[MarkedPhrase], list[list[MarkedPhrase]]]:
    main: list[MarkedPhrase] = []
    asides: list[list[MarkedPhrase]] = []
    i = 0
    while i < len(marks):
        if marks[i].text not in _OPEN:
            main.append(marks[i])
            i += 1
            continue
        depth, j = 1, i + 1
        while j < len(marks) and depth:
            depth += (marks[j].text in _OPEN) - (marks[j].text in _CLOSE)
            j += 1
        inner = marks[i + 1 : j - 1] if depth == 0 else marks[i + 1 :]
        if main and any(m.has("dim_after") for m in main[-1:]):
            pass  # why it could not be seen
        elif _compares(main):
            pass  # "compared with the study of May (large effusion)"
        elif main and main[-1].has("dim_weak"):
            main[-1].extra["reason"] = True  # "not graded (AF)"
        elif not inner or any(m.has("past") or m.has("was") or m.has("intrinsic") for m in inner):
            pass  # an earlier value, or a remark on how the value was got
        elif any(m.roles.targets for m in inner):
            asides.append(inner)
        else:
            for mark in inner:
                mark.paren = True
                if mark.text not in (",", ";", "and", "or"):
                    main.append(mark)
        i = j
    return main, asides


def _compares(marks: list[MarkedPhrase]) -> bool:
    """Does a comparison stand before, with no comma since?"""
    for mark in reversed(marks):
        if mark.text in (",", ";"):
            return False
        if mark.has("compare"):
            return True
    return False


def _says_something(marks: Iterable[MarkedPhrase]) -> bool:
    return any(
        m.roles.degree is not None
        or m.roles.value
        or m.roles.aspects
        or m.has("no_before")
        or m.has("dim_before")
        for m in marks
    )


def _cut(marks: list[MarkedPhrase]) -> list[tuple[MarkedPhrase | None, list[MarkedPhrase]]]:
    parts: list[tuple[MarkedPhrase | None, list[MarkedPhrase]]] = []
    lead: MarkedPhrase | None = None
    current: list[MarkedPhrase] = []
    for i, mark in enumerate(marks):
        named = bool(current) and any(
            m.roles.targets or m.roles.structures or m.has("segment") or m.has("decoy")
            for m in current
        )
        if mark.has("field"):
            label = named and not _says_something(
                m for m in current if not (m.roles.targets or m.roles.structures)
            )
            rest = marks[i + 1 :]
            if label and mark.text == " - " and any(m.has("with") for m in current):
                label = False
            if label and _own_structure(current, rest):
                label = False
            if label and not (
                i + 1 < len(marks) and any(m.has("segment") for m in marks[i + 1 : i + 3])
            ):
                current.append(mark)
                continue
            parts.append((lead, current))
            lead, current = mark, []
        elif mark.text == "." and (
            (current and current[-1].text in _SHORT)
            or (i + 1 < len(marks) and marks[i + 1].has("field"))
        ):
            continue
        elif mark.text in (";", ".", "!", "?") or mark.has("break"):
            parts.append((lead, current))
            lead, current = mark, []
        else:
            current.append(mark)
    parts.append((lead, current))
    return [(lead, part) for lead, part in parts if part]


def _own_structure(label: list[MarkedPhrase], rest: list[MarkedPhrase]) -> bool:
    """Is the label only a place, and what follows about a structure it names itself?"""
    if any(m.roles.targets or m.has("decoy") or m.has("segment") for m in label):
        return False
    for mark in rest:
        if _separator(mark) or mark.text in (";", ".") or mark.has("break"):
            return False
        if mark.roles.structures and not mark.roles.weak:
            return True
    return False


def _separator(mark: MarkedPhrase) -> str:
    if mark.text in (",", "/"):
        return mark.text
    for tag in ("and", "or", "with"):
        if mark.has(tag):
            return tag
    return "with" if mark.text in ("without", "w/o") else ""


def _fold_modifiers(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    """ "regional and global" is one modifier."""
    out: list[MarkedPhrase] = []
    i = 0
    while i < len(marks):
        if (
            i + 2 < len(marks)
            and {"mod_regional", "mod_global"} <= (marks[i].roles.tags | marks[i + 2].roles.tags)
            and _separator(marks[i + 1]) in ("and", "or", "/")
        ):
            both = MarkedPhrase("both", marks[i].roles, marks[i].start, marks[i + 2].end)
            both.extra["both"] = True
            out.append(both)
            i += 3
            continue
        out.append(marks[i])
        i += 1
    return out


def _clause(lead: MarkedPhrase | None, marks: list[MarkedPhrase]) -> Clause:
    units: list[Unit] = []
    current = Unit("")
    marks = _fold_modifiers(marks)
    for i, mark in enumerate(marks):
        sep = _separator(mark) if not mark.paren else ""
        if sep:
            if current.marks:
                units.append(current)
                current = Unit(sep)
            elif not current.sep or sep != ",":
                current.sep = sep
            if mark.has("no_before"):
                current.marks.append(mark)
            continue
        if _starts_anew(current, mark, marks[i + 1 :]):
            units.append(current)
            current = Unit("next")
        current.marks.append(mark)
    if current.marks:
        units.append(current)
    for unit in units:
        _describe(unit)
    return Clause(lead, [unit for unit in units if unit.marks])


def _starts_anew(current: Unit, mark: MarkedPhrase, rest: list[MarkedPhrase]) -> bool:
    """Does a value after a finished finding open a new one ("mild MR mild TR")?"""
    if mark.paren or not (
        mark.roles.degree is not None
        or mark.roles.value == "normal"
        or (mark.has("no_before") and not mark.has("no_after"))
    ):
        return False
    seen = False
    for earlier in current.marks:
        if earlier.roles.targets:
            seen = True
        elif earlier.has("be") or earlier.has("field") or earlier.has("no_before"):
            if seen:
                return False
    if not seen:
        return False
    for later in rest:
        if _separator(later) or later.has("be") or later.has("field"):
            return False
        if later.roles.targets:
            return True
    return False


def _describe(unit: Unit) -> None:
    """Fill in what the marks say. A mark can be many things; its place decides."""
    first_target: int | None = None
    for i, mark in enumerate(unit.marks):
        roles = mark.roles
        unit.raw.append(mark.text)
        unit.tags |= roles.tags
        for target in roles.targets:
            unit.targets.append((mark, target))
            if first_target is None and not any(t.measure for t in roles.targets):
                first_target = i
        if (
            roles.structures
            and unit.structures
            and (_belongs(unit.marks, i) or unit.marks[i - 1].has("be"))
        ):
            continue
        if roles.structures and not roles.targets:
            if first_target is None:
                unit.structure_first = True
            if roles.weak:
                if not unit.structures:
                    unit.structures, unit.weak = list(roles.structures), True
                    unit.only_normal = roles.only_normal
            elif unit.weak or not unit.structures:
                unit.structures, unit.weak, unit.only_normal = list(roles.structures), False, False
            else:
                unit.structures += [s for s in roles.structures if s not in unit.structures]
        if mark.has("decoy") and not roles.targets:
            unit.decoy = True
        if mark.has("segment"):
            unit.segments = True
        if mark.extra.get("both"):
            unit.tags |= {"mod_regional", "mod_global", "mod_both"}
        if (
            not roles.targets
            and not roles.structures
            and not roles.tags
            and not (roles.degree is not None or roles.value or roles.aspects)
            and mark.text.isalpha()
            and len(mark.text) > 2
            and not mark.paren
        ):
            unit.loose += 1
    named = first_target
    if named is None:
        named = next((i for i, m in enumerate(unit.marks) if m.roles.structures), None)
    if named is None:
        named = next((i for i, m in enumerate(unit.marks) if m.has("decoy")), None)
    for i, mark in enumerate(unit.marks):
        before = named is None or i < named
        roles = mark.roles
        if roles.degree is not None and (unit.degree is None or unit.degree.paren):
            if not (mark.paren and unit.degree is not None) and not _better(unit.degree, mark):
                unit.degree, unit.degree_first = mark, before
        elif roles.degree is not None and unit.degree is not None and not mark.paren:
            if unit.degree.roles.degree == -2 and roles.degree >= 0:
                unit.degree, unit.degree_first = mark, before
        if roles.value and not (roles.value == "normal" and _range_to(unit.marks, i)):
            if not unit.value or not mark.paren:
                unit.value, unit.value_first = roles.value, before
        if roles.aspects and not roles.targets:
            unit.aspects |= roles.aspects
        if mark.has("no_before") and (before or not mark.has("no_after") or _leads(unit, i)):
            unit.negated = True
            unit.negated_first |= before
        elif mark.has("no_after") and (not before or (named is None)):
            unit.negated = True
        if mark.has("dim_before") and before:
            unit.dim = unit.dim_first = True
        elif mark.has("dim_after") and (not before or named is None or not mark.has("dim_before")):
            unit.dim = True
            unit.dim_first |= before
        if mark.has("dim_weak"):
            unit.weak_dim = True
            if mark.extra.get("reason"):
                unit.tags.add("reason")
        if mark.has("dim_severity"):
            unit.severity = True
        if (mark.has("be") or mark.has("field") or mark.has("no_after")) and not before:
            unit.predicate = True


def _belongs(marks: list[MarkedPhrase], i: int) -> bool:
    """Does a structure only place a noun without label ("striking the anterior mitral leaflet")?"""
    return i + 1 < len(marks) and marks[i + 1].has("decoy") and not marks[i + 1].roles.targets


def _better(held: MarkedPhrase | None, new: MarkedPhrase) -> bool:
    """Is the degree already held to be kept over the new one?"""
    return held is not None and not held.paren and new.paren


def _leads(unit: Unit, i: int) -> bool:
    """Does a denial stand before a value or target that follows it ("is not stenotic")?"""
    return any(
        m.roles.targets or m.roles.degree is not None or m.roles.value or m.roles.aspects
        for m in unit.marks[i + 1 :]
    )


def _range_to(marks: list[MarkedPhrase], i: int) -> bool:
    """ "normal to mildly dilated": a range takes its upper word."""
    return (
        i + 2 < len(marks)
        and marks[i + 1].text in ("to", "-")
        and (marks[i + 2].roles.degree is not None or bool(marks[i + 2].roles.targets))
    )
