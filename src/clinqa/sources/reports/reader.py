"""Reading reports: plan the inputs, read each in its format, hand on batches of studies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.errors import SourceError
from clinqa.core.outfolder import is_ours
from clinqa.core.records import Reason, Reject
from clinqa.sources.reports.csvfile import read_csv, read_header
from clinqa.sources.reports.folder import (
    FOLDER_PART,
    format_of,
    list_folder,
    read_texts,
)
from clinqa.sources.reports.jsonl import read_jsonl, read_keys
from clinqa.sources.reports.judge import JudgedRows, judge
from clinqa.sources.reports.parquet import read_names, read_parquet
from clinqa.sources.reports.records import (
    STUDIES,
    BrokenFile,
    FilePlan,
    InputPlan,
    RawRows,
    ReadCounts,
    ReadOptions,
    ReportBatch,
    ReportColumns,
    detect,
    reject,
)
from clinqa.sources.reports.streams import ByteStream

__all__ = ["NAMED", "ReportReader", "describe", "read_reports", "some"]

# files named in one warning
NAMED = 5

_READERS = {"csv": read_csv, "parquet": read_parquet, "jsonl": read_jsonl}
_FORMATS = "CSV, CSV.GZ, Parquet, JSONL, or a folder of .txt"
_TEXTS = ReportColumns("one study a file", ("text", "study"), {"text": 0, "study": 1})


@dataclass(frozen=True, slots=True)
class _Source:
    """One thing to read: a table, or the .txt files of a folder."""

    plan: FilePlan
    layout: ReportColumns = _TEXTS
    texts: tuple[Path, ...] = ()


def describe(inputs: Sequence[Path], options: ReadOptions | None = None) -> InputPlan:
    """What would be read: files, formats, layouts, columns, bytes. Opens headers only."""
    return _plan(inputs, options or ReadOptions())[1]


def read_reports(inputs: Sequence[Path], options: ReadOptions | None = None) -> ReportReader:
    """The studies of all inputs, streamed: an iterator of batches, with counts as it goes.

    An input named here that cannot be read is a SourceError. A file found in a folder, and one
    that breaks on the way, is a `broken_file` reject and named in `broken`; where nothing can be
    read, SourceError says why. Which rows come is independent of the order of the inputs, except
    under `limit`.
    """
    return ReportReader(inputs, options or ReadOptions())


class ReportReader:
    """Iterator over ReportBatch; `plan` and `counts` say what is and was read, and `broken` which
    files could not be, or not to their end: the first ones, each with the reason."""

    def __init__(self, inputs: Sequence[Path], options: ReadOptions) -> None:
        self.options = options
        self.counts = ReadCounts()
        self._sources, self.plan = _plan(inputs, options)
        self.plan.check()
        self.broken: list[str] = []
        self._bytes_done = 0
        #: How much of the input has been read, by size on disk.
        self.fraction = 0.0
        self._batches = self._run()

    def __iter__(self) -> Iterator[ReportBatch]:
        return self

    def __next__(self) -> ReportBatch:
        return next(self._batches)

    def _run(self) -> Iterator[ReportBatch]:
        gather = _Gather(self.options)
        for source in self._sources:
            for judged in self._judged(source):
                yield from gather.add(judged)
            self._bytes_done += source.plan.bytes
            if self._left() == 0:
                break
        yield from gather.rest()
        counts = self.counts
        if counts.read and counts.read == counts.rejects[Reason.BROKEN_FILE]:
            raise SourceError(f"no input can be read: {self.broken[0]}")
        if not counts.reconcile():
            raise SourceError("rows read and rows accounted for differ; this is a fault of clinqa")

    def _left(self) -> int | None:
        limit = self.options.limit
        return None if limit is None else max(0, limit - self.counts.studies)

    def _judged(self, source: _Source) -> Iterator[JudgedRows]:
        path = source.plan.path
        part = source.plan.text_col or FOLDER_PART
        try:
            if source.plan.problem:
                raise BrokenFile(source.plan.problem)
            for raw in self._raw(source):
                done = self._bytes_done + raw.share * source.plan.bytes
                self.fraction = min(1.0, done / max(1, self.plan.bytes))
                left = self._left()
                if left == 0:
                    return
                judged = judge(raw, path, source.layout, part, self.options.max_chars)
                read = len(raw.rows) + len(raw.rejects)
                if left is not None and len(judged.studies) > left:
                    # rows beyond the limit count as not read
                    read -= len(judged.studies) - left
                    judged.studies = judged.studies.slice(0, left)
                self._count(judged, read)
                yield judged
        except BrokenFile as broken:
            judged = JudgedRows(STUDIES.empty_table())
            judged.rejects.append(
                reject(Reason.BROKEN_FILE, path, None, part=part, why=str(broken))
            )
            self._count(judged, 1)
            yield judged

    def _raw(self, source: _Source) -> Iterator[RawRows]:
        if source.plan.format == "txt":
            path = source.plan.path
            return read_texts(source.texts, path if path.is_dir() else path.parent)
        return _READERS[source.plan.format](source.plan.path, source.layout)

    def _count(self, judged: JudgedRows, read: int) -> None:
        counts = self.counts
        counts.read += read
        counts.studies += len(judged.studies)
        counts.out_of_scope.update(judged.out_of_scope)
        counts.rejects.update(each.reason.value for each in judged.rejects)
        for each in judged.rejects:
            if each.reason is Reason.BROKEN_FILE and len(self.broken) < NAMED:
                self.broken.append(each.detail)
        counts.bad_bytes += judged.bad_bytes
        counts.bad_texts += judged.bad_texts
        counts.no_group += judged.no_group


@dataclass(slots=True)
class _Gather:
    """Joins small pieces and divides large ones into batches of the size asked for."""

    options: ReadOptions
    tables: list[pa.Table] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0

    def add(self, judged: JudgedRows) -> Iterator[ReportBatch]:
        self.rejects += judged.rejects
        for table, size in self._divided(judged.studies):
            full = self.rows + len(table) > self.options.batch_rows
            if self.rows and (full or self.bytes + size > self.options.batch_bytes):
                yield self._take()
            self.tables.append(table)
            self.rows += len(table)
            self.bytes += size
        if len(self.rejects) > self.options.batch_rows:
            yield self._take()

    def rest(self) -> Iterator[ReportBatch]:
        if self.rows or self.rejects:
            yield self._take()

    def _take(self) -> ReportBatch:
        joined = pa.concat_tables(self.tables) if self.tables else STUDIES.empty_table()
        batch = ReportBatch(joined.combine_chunks(), self.rejects)
        self.tables, self.rejects, self.rows, self.bytes = [], [], 0, 0
        return batch

    def _divided(self, table: pa.Table) -> Iterator[tuple[pa.Table, int]]:
        size = pc.sum(pc.binary_length(table["text"])).as_py() or 0
        rows = len(table)
        if not rows:
            return
        most, largest = self.options.batch_rows, self.options.batch_bytes
        if rows == 1 or (rows <= most and size <= largest):
            yield table, size
            return
        half = most if rows > most else rows // 2
        yield from self._divided(table.slice(0, half))
        yield from self._divided(table.slice(half))


def _plan(inputs: Sequence[Path], options: ReadOptions) -> tuple[list[_Source], InputPlan]:
    if not inputs:
        raise SourceError(f"no input given; give {_FORMATS}")
    sources: list[_Source] = []
    ignored = 0
    skipped: list[tuple[str, list[str]]] = []
    for path in inputs:
        if not path.is_dir():
            source = _text(path) if format_of(path) == "txt" else _table(path, options)
            sources.append(replace(source, plan=replace(source.plan, named=True)))
            continue
        if is_ours(path):
            problem = "is a folder that clinqa made, and holds no reports"
            sources.append(_Source(FilePlan(path, "folder", problem=problem, named=True)))
            continue
        found = list_folder(path, options.out)
        ignored += found.ignored
        skipped += [
            (f"{path.name}: {len(names):,} not read ({why})", names)
            for why, names in sorted(found.skipped.items())
        ]
        sources += [_table(each, options) for each in found.tables]
        if found.texts:
            sources.append(_folder(path, found.texts))
        elif not found.tables:
            others = "".join(f"; {len(n):,} not read: {why}" for why, n in found.skipped.items())
            problem = f"holds no file clinqa reads ({_FORMATS}){others}"
            sources.append(_Source(FilePlan(path, "folder", problem=problem, named=True)))
    warnings = tuple(f"{what}: {some(names)}" for what, names in skipped)
    count = sum(len(names) for _, names in skipped)
    return sources, InputPlan(tuple(source.plan for source in sources), ignored, count, warnings)


def some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _text(path: Path) -> _Source:
    """One .txt file that was named."""
    source = _folder(path, [path])
    try:
        with ByteStream(path) as stream:
            problem = stream.broken or ("is empty" if stream.empty else "")
    except BrokenFile as broken:
        problem = str(broken)
    return replace(source, plan=replace(source.plan, problem=problem))


def _folder(root: Path, texts: Sequence[Path]) -> _Source:
    size, there = 0, 0
    for path in texts:
        try:
            size += path.stat().st_size
            there += 1
        except OSError:
            continue  # reading it gives the reject
    plan = FilePlan(
        root,
        "txt",
        _TEXTS.name,
        FOLDER_PART,
        bytes=size,
        files=len(texts),
        problem="" if there else "does not exist",
    )
    return _Source(plan, texts=tuple(texts))


def _table(path: Path, options: ReadOptions) -> _Source:
    kind = format_of(path) or ""
    try:
        if not kind and path.exists():
            raise BrokenFile(f"not a format clinqa reads ({_FORMATS})")
        layout = detect(_names(path, kind), options)
        size = os.stat(path).st_size
    except (BrokenFile, SourceError, OSError) as error:
        why = error.strerror or "cannot be read" if isinstance(error, OSError) else str(error)
        return _Source(FilePlan(path, kind or "unknown", problem=why))
    plan = FilePlan(
        path,
        kind,
        layout.name,
        text_col=layout.column("text"),
        subject_col=layout.column("subject"),
        study_col=layout.column("study"),
        bytes=size,
    )
    return _Source(plan, layout)


def _names(path: Path, kind: str) -> tuple[str, ...]:
    if kind == "parquet":
        return read_names(path)
    with ByteStream(path) as stream:
        return read_keys(stream) if kind == "jsonl" else read_header(stream).names
