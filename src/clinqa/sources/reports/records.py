"""What passes between the report readers and whoever uses them; and which column of a table is
what: known layouts by their header, others by name or option."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import ConfigError, SourceError
from clinqa.core.pathnames import told_name
from clinqa.core.records import Reason, Reject

__all__ = [
    "MIMIC_III",
    "MIMIC_IV",
    "STAGE",
    "STUDIES",
    "TABLE",
    "BrokenFile",
    "FilePlan",
    "InputPlan",
    "RawRows",
    "ReadCounts",
    "ReadOptions",
    "ReportBatch",
    "ReportColumns",
    "detect",
    "reject",
    "shown",
]

STAGE = "read"

STUDIES = pa.schema(
    [
        ("study_id", pa.string()),
        # null where the table names no patient: the study then is its own group
        ("group", pa.string()),
        ("text", pa.large_string()),
        # 1-based within its file, the header not counted
        ("row", pa.int64()),
        # the text column's name as the file spells it, or "txt"
        ("part", pa.string()),
    ]
)


class BrokenFile(Exception):
    """A file, or the rest of it, cannot be read; becomes a counted reject, never ends a run."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How reports are read. Column names match in any case; None means: find it."""

    text_col: str | None = None
    subject_col: str | None = None
    study_col: str | None = None
    max_chars: int = 2_000_000
    limit: int | None = None
    batch_rows: int = 4096
    batch_bytes: int = 16 << 20
    # the real path of the output folder: inside an input folder it is no input
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """Some studies (schema STUDIES) and what was rejected while reading them."""

    studies: pa.Table
    rejects: list[Reject]


@dataclass(slots=True)
class ReadCounts:
    """The bookkeeping of one read: `read = studies + rejected + out_of_scope`, always.

    `read` counts rows (a .txt file is one row), and one for each file that broke. The rest are
    warnings: `bad_bytes` byte sequences that were no UTF-8 and became U+FFFD, in `bad_texts`
    texts; `no_group` studies whose row names no patient though the table has the column.
    """

    read: int = 0
    studies: int = 0
    out_of_scope: Counter[str] = field(default_factory=Counter)
    rejects: Counter[str] = field(default_factory=Counter)
    bad_bytes: int = 0
    bad_texts: int = 0
    no_group: int = 0

    @property
    def rejected(self) -> int:
        """Everything that was read and could not be used."""
        return sum(self.rejects.values())

    def reconcile(self) -> bool:
        """Does every row read stand in exactly one place?"""
        return self.read == self.studies + self.rejected + sum(self.out_of_scope.values())


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One input as it would be read; `problem` says why it cannot be. Holds no record text."""

    path: Path
    format: str
    layout: str = ""
    text_col: str | None = None
    subject_col: str | None = None
    study_col: str | None = None
    bytes: int = 0
    files: int = 1
    problem: str = ""
    # was it named by the user, or found in a folder?
    named: bool = False


@dataclass(frozen=True, slots=True)
class InputPlan:
    """What a read would take in: for --dry-run, and the first step of every read."""

    files: tuple[FilePlan, ...]
    # files in a folder that are no reports: other suffixes, hidden files, licences
    ignored: int = 0
    # what could be reports and is not read: links that lead elsewhere, pipes, clinqa's own folders
    skipped: int = 0
    warnings: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise SourceError for an input that the user named and that cannot be read: a misspelt
        name must not pass for a reject. A file found in a folder becomes one, with a warning."""
        wrong = [plan for plan in self.files if plan.problem and plan.named]
        if wrong or not self.readable:
            each = [f"{plan.path}: {plan.problem}" for plan in wrong or self.files]
            more = f"; and {len(each) - 5} more" if len(each) > 5 else ""
            what = "an input cannot be read" if self.readable else "no input can be read"
            raise SourceError(f"{what}: {'; '.join(each[:5])}{more}")

    @property
    def readable(self) -> tuple[FilePlan, ...]:
        """The inputs that can be opened and whose columns are known."""
        return tuple(plan for plan in self.files if not plan.problem)

    @property
    def bytes(self) -> int:
        """Size on disk of what would be read."""
        return sum(plan.bytes for plan in self.readable)


@dataclass(slots=True)
class RawRows:
    """Rows as a format's reader gives them, before columns are decoded and rows judged.

    `columns` maps a role (text, study, subject, category, iserror) to an array of any type;
    `rows` are the rows' numbers; `rejects` are rows that could not be split into columns;
    `share` is how much of the input has been read.
    """

    columns: dict[str, pa.Array]
    rows: pa.Array
    rejects: list[Reject] = field(default_factory=list)
    bad_bytes: int = 0
    bad_texts: int = 0
    share: float = 0.0


def reject(
    reason: Reason, path: Path, row: int | None, source_id: str = "", part: str = "", why: str = ""
) -> Reject:
    """A reject of this stage; its detail names file and row, and never a word of the record."""
    name = told_name(path.name)
    where = name if row is None else f"{name} row {row}"
    detail = f"{where}: {why}" if why else where
    return Reject(STAGE, reason, source_id, part=part, row=row, detail=detail)


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
