"""What passes between the report readers and whoever uses them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import SourceError
from clinqa.core.records import Reason, Reject

__all__ = [
    "STAGE",
    "STUDIES",
    "BrokenFile",
    "FilePlan",
    "InputPlan",
    "RawRows",
    "ReadCounts",
    "ReadOptions",
    "ReportBatch",
    "reject",
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
    where = path.name if row is None else f"{path.name} row {row}"
    detail = f"{where}: {why}" if why else where
    return Reject(STAGE, reason, source_id, part=part, row=row, detail=detail)
