"""Only the present study speaks: earlier values, other modalities, plans, legends (LABELLING 6)."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.reading.clauses import Clause, Unit
from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["Frame", "frame_of", "spoken_now", "strip_earlier"]


@dataclass(slots=True)
class Frame:
    """What holds for a whole statement."""

    silent: bool = False  # nothing in it speaks of this study
    compares: bool = False  # values of another time stand beside those of now
    framed: bool = False  # a word says so ("compared with")
    past: bool = False
    stress: bool = False
    post: bool = False
    corrects: bool = False


_CHANGED = frozenset(
    {"has improved", "have improved", "improved", "worsened", "has worsened", "has progressed",
     "progressed", "has decreased", "has increased", "regressed"}
)  # fmt: skip
_STUDIES = frozenset({"study", "exam", "examination", "echo", "echocardiogram", "scan", "report"})
_WAS = frozenset({"there was", "there were"})
_LIKE = frozenset({"as", "from", "since", "than", "to", "similar", "with", "unchanged", "over"})
_ONCE = frozenset({"previously", "formerly", "initially", "prior", "previous"})


def strip_earlier(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    """Drop what a value changed from ("progressed from mild to moderate", "rather than severe")."""
    out: list[MarkedPhrase] = []
    i = 0
    now = any(m.has("now") for m in marks)
    while i < len(marks):
        mark = marks[i]
        if now and mark.text in _ONCE:
            j = i + 1
            while j < len(marks) and (
                marks[j].roles.degree is not None or marks[j].text in ("to", "-", "/")
            ):
                j += 1
            if j > i + 1:  # "previously moderate MR is now trace"
                i = j
                continue
        if mark.has("drop_from") and i + 1 < len(marks):
            following = marks[i + 1]
            graded = following.roles.degree is not None or any(
                t.level not in (None, -2) for t in following.roles.targets
            )
            if mark.text in ("rather than", "instead of", "as opposed to"):
                i += 1
                while i < len(marks) and marks[i].text not in (",", ";", ".", ")"):
                    i += 1
                continue
            if graded or (following.text.isdigit() and len(following.text) == 1):
                i += 2
                while i < len(marks) and marks[i].text == "+":
                    i += 1
                if i < len(marks) and marks[i].text == "to":
                    i += 1
                continue
        out.append(mark)
        i += 1
    return out


def _named(mark: MarkedPhrase) -> bool:
    return bool(mark.roles.targets or mark.roles.structures)


def frame_of(marks: list[MarkedPhrase]) -> Frame:
    """What the statement as a whole says of its time and kind."""
    frame = Frame()
    frame.corrects = any(m.has("correction") for m in marks)
    frame.framed = any(m.has("compare") for m in marks)
    frame.compares = frame.framed or (
        any(m.has("was") for m in marks)
        and (any(m.text in _CHANGED for m in marks) or _was_then_now(marks))
    )
    first = next((i for i, m in enumerate(marks) if _named(m)), len(marks))
    opening = marks[:first]
    target = next((i for i, m in enumerate(marks) if m.roles.targets), len(marks))
    if any(m.has("legend") for m in opening):
        frame.silent = True
    if any(m.has("modality") or m.has("void") for m in marks[:target]):
        frame.silent = True
    degrees = [i for i, m in enumerate(marks) if m.roles.degree is not None]
    numbered = [
        i
        for i in degrees
        if i + 1 < len(marks) and (marks[i + 1].text[0].isdigit() or marks[i + 1].text in "<>=")
    ]
    if len(numbered) >= 3 and len({marks[i].roles.degree for i in numbered}) >= 3:
        frame.silent = True  # a printed key of grades
    if _is_key(marks):
        frame.silent = True
    lead = opening[:4]
    earlier = any(m.has("past") for m in lead) and not any(m.has("compare") for m in lead)
    dated = any(m.has("blank") or m.text.isdigit() for m in opening)
    if (
        dated
        and any(m.text in _STUDIES for m in opening)
        and any(m.has("was") or m.text in _WAS for m in marks)
    ):
        earlier = True  # "on the 2019 study there was ..."
    if earlier and not any(m.has("now") for m in marks):
        frame.past = True
    told = {"showed", "revealed", "demonstrated", "reported", "found"} & {m.text for m in opening}
    if told and any(m.has("blank") or m.text.isdigit() for m in opening):
        frame.past = True  # "echo 2006 showed ..."
    if opening and any(m.has("stress") for m in opening):
        frame.stress = True
    if opening and any(m.has("post") for m in opening):
        frame.post = True
    return frame


def _was_then_now(marks: list[MarkedPhrase]) -> bool:
    """ "MR was severe and is now mild": the first value is an earlier one."""
    was = next((i for i, m in enumerate(marks) if m.has("was")), len(marks))
    return any(m.has("now") for m in marks[was:])


def _is_key(marks: list[MarkedPhrase]) -> bool:
    """Does every grade stand beside its own range ("normal 55-70, mildly reduced 45-54, ...")?"""
    levels: set[int] = set()
    for i, mark in enumerate(marks):
        level = 0 if mark.roles.value == "normal" else mark.roles.degree
        if level is None:
            continue
        near = marks[i + 1 : i + 4]
        for j, other in enumerate(near):
            if other.text in (",", ";", ".") or other.roles.targets:
                break
            if other.text[0].isdigit() or other.text[0] in "<>":
                ahead = marks[i + 1 + j : i + 5 + j]
                if other.text[0] in "<>" or any(m.text in ("-", "to") for m in ahead[:2]):
                    levels.add(level)
                break
    return len(levels) >= 3


def spoken_now(clause: Clause, frame: Frame) -> list[Unit]:
    """The units of a clause that speak of the present study."""
    kept: list[Unit] = []
    halted = False
    comparing = frame.framed and clause.lead is None
    past = frame.past or (frame.compares and clause.lead is not None and clause.lead.text in _WAS)
    topic: Unit | None = None  # what an earlier value was said of
    for unit in clause.units:
        tags = unit.tags
        if "now" in tags:
            past = False
            if topic is not None and not unit.targets and not unit.structures:
                # "MR was severe and is now mild"
                unit.targets, unit.structures = topic.targets, topic.structures
        if "if" in tags:
            halted = True
        if "compare" in tags:
            # everything up to the next comma is the frame, or, where it comes late, the old value
            comparing = True
            if not _said_before(unit, "compare"):
                continue
        elif comparing and unit.sep == "," and clause.lead is None:
            comparing = False
        if halted or {"modality", "legend", "void"} & tags:
            continue
        if "intrinsic" in tags and not (unit.degree is not None and unit.targets):
            continue
        if comparing and "compare" not in tags:
            continue
        if frame.compares and "was" in tags and "now" not in tags:
            past = True
            topic = unit if unit.targets else topic
            continue
        if past and "now" not in tags:
            continue
        if "past" in tags and "now" not in tags and not _said_before(unit, "past"):
            topic = unit if unit.targets else topic
            continue
        kept.append(unit)
    return kept


def _said_before(unit: Unit, tag: str) -> bool:
    """Is the finding complete before the word of time ("mild MR as on the prior study")?"""
    named = False
    for i, mark in enumerate(unit.marks):
        if mark.has(tag):
            like = tag == "compare" or any(
                m.text in _LIKE or m.has("compare") for m in unit.marks[max(0, i - 3) : i]
            )
            return named and like and "was" not in unit.tags
        if mark.roles.targets or (mark.roles.structures and unit.valued):
            named = True
    return False
