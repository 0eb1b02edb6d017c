"""The one door to what another stage has made: a finished folder, opened and checked.

    open_finished(folder, RUN)      the manifest is read, its seal checked, its data class told
    finished.parquet("a.parquet")   the file is hashed against the manifest, then read: the same
                                    open file, which must still be the same when it has been read

A file that is gone, cut, changed, or another file of the folder under this name, is refused with
its name and what to do. With `accept` (--accept-changed) a changed file is read all the same, and
remembered: what is made of it says so in its manifest, its identity and every figure's signature.

Libraries that open a path themselves (weights) get it from `checked`; what they read is the
checked file as long as it `unchanged`.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import CheckFailed, ClinqaError, ConfigError
from clinqa.core.hashing import Stamp, sha256_open
from clinqa.core.inputs import readable
from clinqa.core.manifest import AcceptedChange, FileRecord, Manifest, fingerprint
from clinqa.core.outfolder import MANIFEST
from clinqa.core.records import DataClass, strictest

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "CARD",
    "DATASET",
    "RUN",
    "SCORES",
    "Finished",
    "FolderKind",
    "FromFolder",
    "accepted_of",
    "change_warnings",
    "mark_of",
    "open_finished",
]


@dataclass(frozen=True, slots=True)
class FolderKind:
    """What a folder should hold, and by which verbs it is made (of builds: by any)."""

    noun: str
    made_by: str
    again: str
    verbs: tuple[str, ...] = ()
    error: type[ClinqaError] = ConfigError


DATASET = FolderKind("dataset", "a build", "build it again")
RUN = FolderKind("run", "predict", "run predict again", ("predict",))
SCORES = FolderKind("scores", "clinqa score", "score again", ("score",))

CARD = "README.md"
_CARD_CLASS = re.compile(
    r"^\s*(?:-\s*|\|\s*)?['\"]?data[-_ ]class\s*[:|]\s*['\"]?(?P<said>[\w-]+)", re.M | re.I
)
_HEAD = 1 << 16


@dataclass(eq=False)
class Finished:
    """A complete folder of another stage. Nothing but the manifest is read before it is asked for.

    Are changed files to be read (`accept`)? None where nobody can say so. `changed` are those that
    were.
    """

    folder: Path
    manifest: Manifest
    kind: FolderKind
    accept: bool | None = None
    changed: dict[str, AcceptedChange] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._records = {record.name: record for record in self.manifest.outputs}
        self._stamps: dict[str, Stamp] = {}
        if self.accept:  # what a stage is known by is asked for before its files are read
            for name in self._records:
                with self.opened(name):
                    pass

    def __contains__(self, name: str) -> bool:
        """Does the manifest list a file of this name?"""
        return name in self._records

    def names(self, start: str = "", end: str = "") -> list[str]:
        """The files that the manifest lists, by how their names begin and end."""
        return sorted(n for n in self._records if n.startswith(start) and n.endswith(end))

    def record(self, name: str) -> FileRecord:
        """What a file is known by: as the manifest has it or, if that was accepted, as it is."""
        record = self._listed(name)
        change = self.changed.get(name)
        if change is None:
            return record
        size = (self.folder / name).stat().st_size
        return FileRecord(name, change.found, size, record.rows)

    @cached_property
    def data_class(self) -> DataClass:
        """The strictest of what manifest, identity and card say."""
        said = [self.manifest.data_class]
        said += [str(self.manifest.identity.get("data_class", self.manifest.data_class))]
        return strictest([*said, *_class_on_card(self.folder / CARD)])

    @property
    def origin(self) -> str:
        """Where its data are known to come from."""
        return self.manifest.origin

    @property
    def accepted(self) -> list[AcceptedChange]:
        """Every changed file that it is made of, or of which it is read."""
        return sorted({*self.manifest.accepted, *self.changed.values()})

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A file as the manifest has it, open at its start.

        CheckFailed, which names it, if it is not listed, gone or changed, before it is read or
        while it was.
        """
        with self._open(name) as file:
            yield file
            self._still(name, file)

    def _open(self, name: str) -> BinaryIO:
        record, path = self._listed(name), self.folder / name
        if not _is_file(path):
            raise CheckFailed(f"{path}: is gone, and its manifest lists it; {self.kind.again}")
        with readable(path, advice=self.kind.again), ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            found, self._stamps[name] = sha256_open(file)
            if found != record.sha256:
                self._differs(record, found)
            stack.pop_all()
            return file

    def checked(self, name: str) -> Path:
        """The path of a file that is as the manifest has it, for who must open it by its name."""
        with self.opened(name):
            return self.folder / name

    def unchanged(self) -> None:
        """CheckFailed if a file that was handed out is no longer the one that was checked."""
        for name in self._stamps:
            path = self.folder / name
            with readable(path, advice=self.kind.again), path.open("rb") as file:
                self._still(name, file)

    def read(self, name: str) -> bytes:
        """All bytes of a file; raises what `opened` does."""
        with self.opened(name) as file:
            return file.read()

    def json(self, name: str, error: type[ClinqaError] = ConfigError) -> Any:
        """What a JSON file holds; `error` where that cannot be read."""
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as exc:
            path = self.folder / name
            raise error(f"{path}: cannot be read as JSON; {self.kind.again}") from exc

    @contextmanager
    def parquet_file(
        self, name: str, *, dictionaries: Sequence[str] = ()
    ) -> Iterator[pq.ParquetFile]:
        """A Parquet file to be read piece by piece; some columns as dictionaries."""
        path = self.folder / name
        with (
            self.opened(name) as file,
            readable(path, advice=self.kind.again),
            pq.ParquetFile(file, read_dictionary=list(dictionaries)) as parquet,
        ):
            yield parquet

    def parquet(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        *,
        dictionaries: Sequence[str] = (),
    ) -> pa.Table:
        """All rows of a Parquet file, of these columns or all."""
        with self.parquet_file(name, dictionaries=dictionaries) as file:
            return file.read(columns=None if columns is None else list(columns))

    def scan(self, name: str) -> pl.LazyFrame:
        """A Parquet file to be asked by polars; what is wrong inside it is found when it is."""
        import polars as pl  # not for stages that need none

        with self._open(name) as file:
            return pl.scan_parquet(file, glob=False)  # which keeps it open

    def _listed(self, name: str) -> FileRecord:
        record = self._records.get(name)
        if record is None:
            raise CheckFailed(
                f"{self.folder / name}: its manifest does not list it; {self.kind.again}"
            )
        return record

    def _still(self, name: str, file: BinaryIO) -> None:
        """CheckFailed unless an open file is what it was when it was hashed."""
        # a new name, link or mode moves the stamp too: the content decides
        if Stamp.of(file) != self._stamps[name]:
            if sha256_open(file)[0] != self.record(name).sha256:
                path = self.folder / name
                raise CheckFailed(f"{path}: was changed while it was read; {self.kind.again}")

    def _differs(self, record: FileRecord, found: str) -> None:
        path = self.folder / record.name
        if not self.accept:
            others = [other.name for other in self._records.values() if other.sha256 == found]
            what = f"is {others[0]} of this folder" if others else "changed since it was made"
            or_else = "" if self.accept is None else ", or go on with it (--accept-changed)"
            raise CheckFailed(f"{path}: {what} (SHA-256); {self.kind.again}{or_else}")
        folder = self.folder.resolve().name
        change = AcceptedChange(folder, record.name, record.sha256, found)
        self.changed[record.name] = change


def open_finished(folder: Path, kind: FolderKind, *, accept: bool | None = None) -> Finished:
    """The finished folder of this kind; an error that says what it is instead.

    Raises `kind.error` where it is none, and what `Manifest.read` raises.
    """
    if not folder.is_dir():
        raise kind.error(f"{folder}: no such folder; give the --out of {kind.made_by}")
    if not (folder / MANIFEST).is_file():
        raise kind.error(
            f"{folder}: no {MANIFEST}, so no complete {kind.noun}; {kind.again} to finish it"
        )
    manifest = Manifest.read(folder / MANIFEST)
    if kind.verbs and manifest.verb not in kind.verbs:
        raise kind.error(f"{folder}: not a folder of {kind.made_by} (made by {manifest.verb!r})")
    return Finished(folder, manifest, kind, accept)


class FromFolder:
    """What is read from a finished folder, through its door."""

    __slots__ = ()
    finished: Finished

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.finished.folder

    @property
    def manifest(self) -> Manifest:
        """What it says of itself."""
        return self.finished.manifest


def accepted_of(read: Iterable[Finished]) -> list[AcceptedChange]:
    """The changed files behind all these folders, each once."""
    return sorted({change for one in read for change in one.accepted})


def mark_of(accepted: Sequence[AcceptedChange]) -> str:
    """What the signature of every figure ends with where changed files were accepted.

    >>> mark_of([])
    ''
    >>> mark_of([AcceptedChange("run", "a.parquet", "00", "11")])[:16]
    '|changed inputs '
    """
    if not accepted:
        return ""
    return f"|changed inputs {fingerprint({str(one): one.found for one in accepted})[:8]}"


def change_warnings(accepted: Sequence[AcceptedChange]) -> list[str]:
    """What a reader is told of them."""
    return [
        f"{one}: changed since it was made, and read all the same (--accept-changed)"
        for one in accepted
    ]


def _class_on_card(path: Path) -> list[str]:
    """The data classes that the head of a card names, in tags, keys and tables; what it names may
    only be stricter. ConfigError for one that is none: whoever wrote it meant something."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError:
        return []
    known = [one.value for one in DataClass]
    said = [one.casefold() for one in _CARD_CLASS.findall(head)]
    if not set(said) <= set(known):
        raise ConfigError(f"{path}: names no such data class; there are {', '.join(known)}")
    return said


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
