"""The level that a unit's words give a target: degree, denial, inadequacy, value.

Which noun a word speaks of: one that has labels, or one beside it that has none.
"""

from __future__ import annotations

from dataclasses import replace

from clinqa.packs.loader import Pack
from clinqa.reading.clauses import Unit
from clinqa.reading.vocabulary import MarkedPhrase, Target

__all__ = ["Values", "belongs_elsewhere", "is_decoy", "is_the_cause", "structure_is_dim"]

_BESIDE = frozenset({"the", "a", "-", "sized"})


def is_decoy(mark: MarkedPhrase) -> bool:
    """A noun that takes words but has no label (leaflets, effusion)."""
    return mark.has("decoy") and not mark.roles.targets and not mark.roles.aspects


def belongs_elsewhere(unit: Unit, mark: MarkedPhrase, target: Target) -> bool:
    """Do the words of `mark` speak of a noun without label ("small apical mass", "the root is
    dilated", "hypertrophy of the atrial septum", "leaflets open well")?"""
    if not (unit.decoy or unit.segments):
        return False
    place = next((i for i, m in enumerate(unit.marks) if m is mark), None)
    if place is None:
        return False
    if target.normal and target.level == 0 and any(is_decoy(m) for m in unit.marks[:place]):
        return True
    after = unit.marks[place + 1 :]
    if not target.adjective:
        words = [m.text for m in after[:2]]
        if words[:1] == ["of"]:
            noun = after[2:3] if words[1:] and words[1] in ("the", "a") else after[1:2]
            return bool(noun) and is_decoy(noun[0])
        if mark.has("segment") and place > 0 and unit.marks[place - 1].has("segment"):
            return True  # "the inferolateral wall" is a place
        if target.level is None and place > 0 and is_decoy(unit.marks[place - 1]):
            return not unit.marks[place - 1].has("filler")  # "root wall"
        return False
    if mark.has("attributive") and after and _unknown(after[0]):
        return True  # "a small number of bubbles"
    head = None
    for m in after:  # of a run of nouns the last is the head: "LV apical mass"
        if is_decoy(m) or m.roles.structures or any(not t.adjective for t in m.roles.targets):
            head = m
        elif not (m.has("segment") or m.has("filler") or m.roles.degree is not None):
            if m.text not in _BESIDE:
                break
    if head is not None:
        return is_decoy(head)
    before = [m for m in unit.marks[:place] if is_decoy(m) or m.roles.structures]
    return bool(before) and is_decoy(before[-1])


def _unknown(mark: MarkedPhrase) -> bool:
    roles = mark.roles
    known = roles.targets or roles.structures or roles.tags or roles.value or roles.aspects
    return not known and roles.degree is None and mark.text.isalpha() and len(mark.text) > 2


def is_the_cause(unit: Unit) -> bool:
    """ "Obscured by the prosthesis": the structure hides, it is not hidden."""
    places = [m.start for m in unit.marks if m.roles.structures]
    dims = [m.start for m in unit.marks if m.has("dim_after") and not m.has("dim_before")]
    return bool(places and dims) and min(places) > max(dims)


def structure_is_dim(unit: Unit) -> bool:
    """Is it the structure that is not seen, and a noun without label only where or how?"""
    for mark in unit.marks:
        if is_decoy(mark):
            return False
        if mark.has("dim_after"):
            return unit.dim and bool(unit.structures)
    return False


Value = tuple[int, bool]  # a level, and whether it is bare: present, with nothing said of how much


class Values:
    """Reads the value of each target of a unit with one pack's aspects."""

    def __init__(self, pack: Pack) -> None:
        self._aspects = pack.spec.aspects

    def of(self, unit: Unit) -> list[tuple[Target, int, bool]]:
        """The level of each target of a unit; two targets of one aspect are one."""
        chosen: dict[tuple[str, str | None], tuple[Target, int, bool]] = {}
        for mark, target in unit.targets:
            if target.aspect not in self._aspects:
                continue
            if mark.roles.degree is not None and len(unit.targets) > 1:
                continue  # "prominent hypertrophy" is a degree, "prominent left atrium" a finding
            value = self._level(unit, mark, target)
            if value is None:
                continue
            key = (target.aspect, target.structure)
            held = chosen.get(key)
            level, bare = value
            if held is None or (held[2] and not bare) or (held[0].level is None and not held[2]):
                chosen[key] = (target, level, bare)
        return self._joined(unit, chosen)

    def _joined(
        self, unit: Unit, chosen: dict[tuple[str, str | None], tuple[Target, int, bool]]
    ) -> list[tuple[Target, int, bool]]:
        """A named attribute and a finding of its aspect are one thing: "free wall hypokinetic"."""
        for key, (target, level, bare) in list(chosen.items()):
            if key[1] is not None or target.level is None:
                continue
            for _, other in unit.targets:
                if other.aspect == key[0] and other.structure and other.level is None:
                    del chosen[key]
                    named = replace(target, structure=other.structure)
                    chosen[key[0], other.structure] = (named, level, bare)
                    break
        return list(chosen.values())

    def _level(self, unit: Unit, mark: MarkedPhrase, target: Target) -> Value | None:
        if target.measure:
            # a jet or signal is how something else is measured; it is a finding if described
            described = unit.degree is not None or "described" in unit.tags
            if unit.negated or unit.dim or not described:
                return None
        if belongs_elsewhere(unit, mark, target):
            return None
        if unit.dim:
            if unit.severity and target.level == -2 and "any" not in unit.raw:
                return -2, False  # present, severity undetermined
            return None if target.normal else (-3, False)
        if unit.weak_dim:
            if target.level == -2 and "present" in unit.raw:
                return -2, True
            return (-3, False) if unit.loose or "reason" in unit.tags else None
        degree = self._degree(unit, target)
        if unit.negated:
            return self._denied(unit, target, degree)
        if target.level is None:
            return self._attribute(unit, target, degree)
        if target.level != -2:
            return self._fixed(unit, target, degree)
        if degree is not None:
            return degree, degree == -2
        if unit.value == "normal" and target.aspect not in unit.aspects:
            return 0, False
        return -2, True

    def _fixed(self, unit: Unit, target: Target, degree: int | None) -> Value | None:
        """Words that are a level by themselves ("restrictive"); a grade beside them is firmer."""
        assert target.level is not None
        if target.normal and degree not in (None, 0):
            return None
        graded = unit.degree is not None and unit.degree.extra.get("grade")
        if self._aspects[target.aspect].graded and graded and degree is not None and degree > 0:
            return degree, False
        if degree == 0 and target.level > 0:
            return 0, False
        return target.level, False

    def _degree(self, unit: Unit, target: Target) -> int | None:
        mark = unit.degree
        if mark is None:
            return None
        level = mark.roles.degree
        if mark.roles.trace and level == 0 and not self._aspects[target.aspect].zero_trace:
            return 1
        return level

    def _attribute(self, unit: Unit, target: Target, degree: int | None) -> Value | None:
        spec = self._aspects[target.aspect]
        altered = target.aspect in unit.aspects or unit.value == "abnormal"
        if target.normal:
            calm = unit.value == "normal" and not unit.aspects and not _for_age(unit)
            return (0, False) if calm and degree in (None, 0) else None
        if (target.only_altered and not altered) or (target.for_age and not _for_age(unit)):
            return None
        if altered and spec.abnormal_level is not None:
            return (0, False) if degree == 0 else (spec.abnormal_level, False)
        if altered:
            return (degree, False) if degree is not None else (-2, False)
        if spec.normal_only and "normal_only" in unit.tags and "mod_regional" not in unit.tags:
            if unit.value != "normal" or degree is not None:
                return None
        if degree is not None:
            if degree == -2:
                return None if spec.present_level is None else (-2, True)
            if unit.aspects and degree != 0:
                return None
            return degree, False
        if unit.value == "normal" and not unit.aspects:
            return 0, False
        if spec.present_level is not None and (
            "present" in unit.raw or {"rest", "provoked"} & unit.tags
        ):
            return spec.present_level, True
        return None

    def _denied(self, unit: Unit, target: Target, degree: int | None) -> Value | None:
        spec = self._aspects[target.aspect]
        if "partial" in unit.tags and "whole" not in unit.tags:
            return None  # "no paravalvular leak" says nothing of the valve itself
        mark = unit.degree
        if mark is not None and "above" in mark.extra:
            under = mark.extra["above"]
            assert isinstance(under, int)
            if mark.extra.get("above_trace"):
                return (0 if spec.zero_trace else 1), False
            return under, False
        if mark is not None and mark.extra.get("bounded"):
            return (degree, False) if degree is not None else None
        if target.level is None:
            if target.aspect in unit.aspects or unit.value == "abnormal":
                return (0, False) if degree in (None, -2) else (-2, True)
            if target.normal:
                return None
            if spec.absent_level is not None:
                return spec.absent_level, False
            if unit.value == "normal":
                return -2, False
            return (0, False) if spec.denial else None
        if target.normal and target.level == 0:
            return None
        if target.level == -2 and degree in (2, 3) and not unit.borrowed_value:
            # "MR is not severe" says that there is some; "no severe MR" leaves it open
            return None if unit.degree_first else (-2, True)
        return 0, False


def _for_age(unit: Unit) -> bool:
    return any("age" in text.split() for text in unit.raw)
