"""The frame of every stage: a folder opened and locked, done once, and told what it was.

    --dry-run                   → what would be done; no folder is made
    the folder holds this       → "already done", where its files are as they were written
    unfinished, same identity   → gone on with, or begun anew inside it (see `core.outfolder`)
    refused or failed           → the folder is as it was; what was paid for or sent stays, with
                                  its journal and the log of what left (`.partial/egress.jsonl`)
    --fresh                     → results go, the log of what left is moved aside under a date
    done                        → counts reconcile, everything moves into place, the manifest last

A verb fills in a `Stage` and hands it to `run_stage`; its own work is a function from the
`Workplace` it may write to what was `Made`. Nothing else opens a folder or writes a manifest.
How far it is, it tells by a `Progress`; what is shown of that is up to the caller.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import clinqa
from clinqa.core.durable import create_file, write_durably, writing
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.finished import Finished, accepted_of, change_warnings, mark_of
from clinqa.core.hashing import sha256_file
from clinqa.core.manifest import (
    AcceptedChange,
    FileRecord,
    Manifest,
    StageCounts,
    identity_of,
    library_versions,
)
from clinqa.core.origin import with_origin
from clinqa.core.outfolder import EGRESS, JOURNAL, OutFolder, open_out
from clinqa.core.records import DataClass, is_private, strictest
from clinqa.core.visible import visible

__all__ = [
    "Known",
    "Made",
    "Progress",
    "Stage",
    "StageOptions",
    "StageResult",
    "Workplace",
    "run_stage",
    "silent",
]


class Progress(Protocol):
    """Told how far a stage is; `fraction` where the total is not known beforehand.

    `note` is a word beside it: a loss, say; never text of a record.
    """

    def __call__(
        self,
        stage: str,
        done: int,
        total: int | None = None,
        *,
        fraction: float | None = None,
        note: str = "",
    ) -> None: ...


def silent(
    stage: str,
    done: int,
    total: int | None = None,
    *,
    fraction: float | None = None,
    note: str = "",
) -> None:
    """Progress that nobody sees."""


class StageOptions(Protocol):
    """What the frame itself asks of a verb's options."""

    @property
    def dry_run(self) -> bool:
        """Only say what would be done."""

    @property
    def fresh(self) -> bool:
        """Take away what an earlier run of the verb left in the folder."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a run is known by, found out after the dry run only: hashing large files takes time.

    `configuration` is what it was told, as the manifest tells it, and decides what is made but for
    the keys `aside`; `decides` does so too and is not told (fingerprints, hashes of inputs).
    `brought` are inputs that no finished folder answers for, by where they lie: they must be the
    same still when the work is done.
    """

    configuration: Mapping[str, Any]
    inputs: Sequence[FileRecord] = ()
    decides: Mapping[str, Any] = field(default_factory=dict)
    aside: frozenset[str] = frozenset()
    brought: Mapping[Path, FileRecord] = field(default_factory=dict)

    def unchanged(self) -> None:
        """CheckFailed if a file that was brought is no longer what the run is known by."""
        for path, record in self.brought.items():
            if not path.is_file() or sha256_file(path) != record.sha256:
                raise CheckFailed(f"{path}: was changed while it was read; run again")

    @property
    def hashes(self) -> list[str]:
        """The SHA-256 of each input, in their order."""
        return [record.sha256 for record in self.inputs]


@dataclass(frozen=True, slots=True)
class Made:
    """What the work of a stage came to; its files lie in the workplace.

    `counts` must reconcile, `rows` are by the name of a file, `lines` are for people.
    `configuration` adds what only the work could tell. `describe` writes what tells of the
    manifest itself (a card): it is given the manifest as it will be, but for outputs.
    """

    counts: Mapping[str, StageCounts] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    lines: Sequence[str] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    describe: Callable[[Manifest], None] | None = None


@dataclass(frozen=True, slots=True)
class StageResult:
    """The end of a stage. `lines` are for people: main figures, a dry run, or "already done".

    `manifest` is the one in the folder; a dry run has none.
    """

    counts: Mapping[str, Any]
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    already_done: bool = False
    manifest: Manifest | None = None

    @property
    def empty(self) -> bool:
        """Was a dataset made, and not one item in it? Its rejects say why, so the folder is whole;
        but nothing can be done with it, and the command ends with exit code 3."""
        rows = self.manifest.rows if self.manifest else {}
        items = [number for name, number in rows.items() if name.startswith("data/")]
        return bool(items) and not any(items)


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a stage writes while it works."""

    folder: OutFolder
    data_class: DataClass
    origin: str = ""
    #: Files that were read although they had changed: figures say so in their signatures.
    accepted: Sequence[AcceptedChange] = ()

    @property
    def mark(self) -> str:
        """What every signature has where files were read that had changed."""
        return mark_of(self.accepted)

    @property
    def partial(self) -> Path:
        """The folder that is written; its files move into place when all is done."""
        return self.folder.partial

    @property
    def private(self) -> bool:
        """Are files for their owner alone?"""
        return self.folder.private

    @property
    def journal(self) -> Path:
        """What is already done or paid for, record by record."""
        return self.partial / JOURNAL

    @property
    def egress(self) -> Path:
        """The log of what is sent away."""
        return self.partial / EGRESS

    def write(self, name: str, content: bytes | str) -> None:
        """Write a small file whole, in the folders that its name has."""
        path = self.partial / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        body = content.encode("utf-8") if isinstance(content, str) else content
        write_durably(path, body, private=self.private)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What a verb says of itself, so that the frame can do the rest.

    `known`, `work` and `plan` are called when they are needed and once at most. `told` gives the
    counts of a finished folder from its manifest. `origin` is where the data are known to come
    from (`core.origin`). `holds` is what the folder is said to hold: "this build". `reads` are the
    finished folders that it reads. `resume` keeps what an ended run left, and `keeps` names (as
    patterns) what beside journal and log is worth it; `passing` names what of it goes once the
    manifest stands. `sends` says that there is a log even if nothing was sent. `when_done` may open
    a finished folder again. `noticed` are warnings of what was seen before
    the work, `foreseen` those of a dry run alone.
    """

    verb: str
    holds: str
    out: Path
    options: StageOptions
    data_class: DataClass
    known: Callable[[], Known]
    work: Callable[[Workplace], Made]
    told: Callable[[Manifest], Mapping[str, Any]]
    plan: Callable[[], Sequence[str]] = list
    origin: str = ""
    reads: Sequence[Finished] = ()
    noticed: Sequence[str] = ()
    foreseen: Sequence[str] = ()
    seeds: Mapping[str, int] = field(default_factory=dict)
    libraries: Sequence[str] = ("pyarrow", "numpy", "polars")
    resume: bool = False
    keeps: Sequence[str] = ()
    passing: Sequence[str] = ()
    sends: bool = False
    when_done: Callable[[OutFolder], OutFolder] | None = None

    def identity(self, known: Known) -> dict[str, Any]:
        """What decides the rows: a folder of another identity is not written over."""
        told = {key: one for key, one in known.configuration.items() if key not in known.aside}
        own = {"verb": self.verb, "clinqa": clinqa.__version__, "data_class": self.data_class.value}
        changed = {str(one): one.found for one in self.accepted}
        accepted = {"accepted_changes": changed} if changed else {}
        return identity_of({**told, **own, **with_origin(self.origin), **accepted, **known.decides})

    @property
    def accepted(self) -> list[AcceptedChange]:
        """The changed files that it is made of, because that was asked for."""
        return accepted_of(self.reads)


def run_stage(stage: Stage) -> StageResult:
    """Do the work of a stage in its folder, or say that it has been done.

    Raises ConfigError where the folder is another's, in use, or no longer whole; CheckFailed where
    counts do not reconcile, or a file that was read is not what its folder's manifest says; and
    what the stage's own functions raise.
    """
    strictest([one.data_class for one in stage.reads] or [stage.data_class], stage.data_class)
    if stage.options.dry_run:
        lines = list(stage.plan())
        return StageResult({}, [*stage.noticed, *stage.foreseen], lines)
    known = stage.known()
    identity, private = stage.identity(known), is_private(stage.data_class)
    fresh, resume = stage.options.fresh, stage.resume
    with open_out(
        stage.out, identity, fresh=fresh, private=private, resume=resume, inputs=known.inputs
    ) as opened:
        folder = opened
        if folder.done is not None and stage.when_done is not None:
            with writing(folder.path):
                folder = stage.when_done(folder)
        if folder.done is not None:
            return _already_done(stage, folder.done)
        started, clock = datetime.now(UTC), time.monotonic()
        with writing(folder.path):
            with _left_as_found(stage, folder):
                made = _worked(stage, folder)
                known.unchanged()
                for read in stage.reads:
                    read.unchanged()
                manifest = _manifest(stage, known, made, identity, started, clock)
                if made.describe is not None:
                    made.describe(manifest)
            finished = folder.commit(manifest, made.rows, stage.passing)
    return StageResult(
        stage.told(finished), list(finished.warnings), list(made.lines), manifest=finished
    )


def _already_done(stage: Stage, done: Manifest) -> StageResult:
    """The result of the run that made the folder; ConfigError where a file of it is gone or no
    longer what was written."""
    for record in done.outputs:
        path = stage.out / record.name
        if not path.is_file() or sha256_file(path) != record.sha256:
            what = "is no longer what was written" if path.is_file() else "is gone from it"
            raise ConfigError(
                f"--out {stage.out}: holds {stage.holds}, but {record.name} {what}; make it anew "
                "with --fresh"
            )
    line = f"already done: {visible(str(stage.out))} holds {stage.holds}"
    return StageResult(stage.told(done), list(done.warnings), [line], True, done)


def _worked(stage: Stage, folder: OutFolder) -> Made:
    made = stage.work(Workplace(folder, stage.data_class, stage.origin, stage.accepted))
    for name, counts in made.counts.items():
        counts.check(name)
    if stage.sends and not (folder.partial / EGRESS).exists():  # an empty list says so
        os.close(create_file(folder.partial / EGRESS, private=folder.private))
    return made


@contextmanager
def _left_as_found(stage: Stage, folder: OutFolder) -> Iterator[None]:
    """After an error: keep what was sent or paid for, else leave a folder that any run may take."""
    try:
        yield
    except BaseException:
        names = (EGRESS, JOURNAL, *stage.keeps) if stage.resume else (EGRESS,)
        found = (path for name in names for path in folder.partial.glob(name))
        if not any(path.is_dir() or path.stat().st_size for path in found):
            folder.abandon()
        raise


def _manifest(
    stage: Stage,
    known: Known,
    made: Made,
    identity: Mapping[str, Any],
    started: datetime,
    clock: float,
) -> Manifest:
    """The manifest, but for outputs."""
    return Manifest(
        verb=stage.verb,
        data_class=stage.data_class.value,
        identity=identity,
        clinqa=clinqa.__version__,
        command=["clinqa", *sys.argv[1:]],
        configuration={**known.configuration, **made.configuration},
        seeds=stage.seeds,
        inputs=known.inputs,
        counts=made.counts,
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 3),
        versions=library_versions(stage.libraries),
        warnings=list(
            dict.fromkeys((*change_warnings(stage.accepted), *stage.noticed, *made.warnings))
        ),
        details=made.details,
        origin=stage.origin,
        accepted=stage.accepted,
    )
