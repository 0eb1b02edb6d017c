"""Which column of a table is what: known layouts by their header, others by name or option."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clinqa.core.errors import ConfigError, SourceError
from clinqa.sources.reports.records import ReadOptions

__all__ = ["MIMIC_III", "MIMIC_IV", "TABLE", "ReportColumns", "detect", "shown"]

MIMIC_III = "mimic-iii noteevents"
MIMIC_IV = "mimic-iv notes"
TABLE = "table"

# the columns of known layouts by their roles
_KNOWN = {
    MIMIC_III: {
        "text": "text",
        "subject": "subject_id",
        "study": "row_id",
        "category": "category",
        "iserror": "iserror",
    },
    MIMIC_IV: {"text": "text", "subject": "subject_id", "study": "note_id"},
}
# names that leave no doubt; two of one role in one table do
_TEXT = {"text", "report", "note", "report_text", "note_text", "reporttext", "notetext"}
_SUBJECT = {"subject_id", "patient_id", "person_id", "subject", "patient", "subjectid", "patientid"}
_STUDY = {"study_id", "report_id", "note_id", "studyid", "reportid", "noteid"}
# used only where no better name is there
_STUDY_LAST = {"id", "row_id"}
_NAME_LIKE = re.compile(r"[^\W\d][\w .:/()#-]{0,39}\Z")


@dataclass(frozen=True, slots=True)
class ReportColumns:
    """The roles of a table's columns, as positions; `names` are the header's own spellings."""

    name: str
    names: tuple[str, ...]
    roles: dict[str, int]

    def column(self, role: str) -> str | None:
        """The name of the column in a role, as the file spells it."""
        position = self.roles.get(role)
        return None if position is None else self.names[position].strip()


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().casefold())


def shown(names: Sequence[str]) -> str:
    """The columns for an error message. A table without a header has a record in its first
    line, so what does not look like a name is shown by its place only."""
    looks = [
        name.strip()
        if _NAME_LIKE.match(name.strip()) and len(name.split()) <= 4
        else f"(column {place})"
        for place, name in enumerate(names, 1)
    ]
    extra = f" and {len(looks) - 40} more" if len(looks) > 40 else ""
    return ", ".join(looks[:40]) + extra


def detect(names: Sequence[str], options: ReadOptions) -> ReportColumns:
    """The layout of a table with these column names.

    Columns named in the options win; a known header decides the rest; then obvious names.
    Raises SourceError naming the columns found and the flags.
    """
    keys = [_key(name) for name in names]
    have = set(keys)
    roles: dict[str, int] = {}
    known = ((name, own) for name, own in _KNOWN.items() if have >= set(own.values()))
    layout, wanted = next(known, (TABLE, {}))
    asked = {"text": options.text_col, "subject": options.subject_col, "study": options.study_col}
    for role in ("text", "subject", "study", "category", "iserror"):
        name = asked.get(role)
        if name is not None:
            roles[role] = _find(names, keys, name, role)
        elif role in wanted:
            roles[role] = _only(names, keys, {wanted[role]}, role)
        elif layout == TABLE:
            obvious = {"text": _TEXT, "subject": _SUBJECT, "study": _STUDY}.get(role, set())
            if role == "study" and not have & obvious:
                obvious = _STUDY_LAST if len(have & _STUDY_LAST) == 1 else set()
            if have & obvious:
                roles[role] = _only(names, keys, obvious, role)
    _refuse_shared(roles)
    if "text" not in roles:
        raise SourceError(
            f"no column holds the report text; columns found: {shown(names)}. "
            "Name them with --text-col --subject-col --study-col"
        )
    return ReportColumns(layout, tuple(names), roles)


def _refuse_shared(roles: Mapping[str, int]) -> None:
    """One column in two roles would make a text the id of its study, and ids are shown."""
    by_place: dict[int, str] = {}
    for role, place in roles.items():
        if place in by_place:
            raise ConfigError(
                f"column {place + 1} cannot be both the {by_place[place]} and the "
                f"{role}; name another with --text-col --subject-col --study-col, or leave out "
                "what the table does not have"
            )
        by_place[place] = role


def _find(names: Sequence[str], keys: Sequence[str], name: str, role: str) -> int:
    exact = [place for place, found in enumerate(names) if found == name]
    places = exact or [place for place, key in enumerate(keys) if key == _key(name)]
    if not places:
        raise SourceError(
            f"--{role}-col {name}: no such column; columns found: {shown(names)}. "
            "Name them with --text-col --subject-col --study-col"
        )
    return _single(names, places, role)


def _only(names: Sequence[str], keys: Sequence[str], wanted: set[str], role: str) -> int:
    return _single(names, [place for place, key in enumerate(keys) if key in wanted], role)


def _single(names: Sequence[str], places: Sequence[int], role: str) -> int:
    if len(places) > 1:
        which = ", ".join(f"{names[place].strip()} (column {place + 1})" for place in places)
        raise SourceError(
            f"more than one column could be the {role}: {which}; columns found: {shown(names)}. "
            "Name one with --text-col --subject-col --study-col, or rename a repeated one"
        )
    return places[0]
