"""Which noun a word speaks of: one that has labels, or one beside it that has none."""

from __future__ import annotations

from clinqa.reading.clauses import Unit
from clinqa.reading.vocabulary import MarkedPhrase, Target

__all__ = ["belongs_elsewhere", "is_decoy", "is_the_cause", "structure_is_dim"]

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
