"""One batch of notes to the tables of a dataset: divide, scan, read what is new, resolve, ask.

Batches built here or by several processes, as one stream with one numbering of statements.

The next item is made while the one before is being used.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from clinqa.builders.reports.batch_items import ItemMaker, ItemOptions
from clinqa.builders.reports.labelled import Labelled, labels_table
from clinqa.builders.reports.writer import BatchTables
from clinqa.core.arrays import Int32s
from clinqa.core.errors import ClinqaError
from clinqa.core.processes import children_ignore_interrupts, end_with_parent
from clinqa.core.records import Level, Reason, Reject
from clinqa.kinds.long_form.questions import questionnaire
from clinqa.packs.loader import Pack, builtin_pack, load_pack
from clinqa.privacy.screen import Screen
from clinqa.reading.attribute import Attributor, resolution_table
from clinqa.reading.labeller import LONGEST, Labeller
from clinqa.reading.pieces import Pieces, Statements
from clinqa.reading.readings import NewReadings, Readings
from clinqa.reading.scan import ScanEngine, Scanner
from clinqa.reading.sections import Role, SectionTable
from clinqa.reading.studies import Studies, studies_of
from clinqa.sources.reports import ReportBatch

__all__ = ["BatchBuilder", "Built", "BuiltBatches", "Recipe", "ahead"]

STAGE = "label"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How batches are built: small enough to be sent to another process."""

    pack: str = "echo"
    pack_dir: Path | None = None
    profile: str = "default"
    engine: ScanEngine = "auto"
    size_hint: int | None = None
    items: ItemOptions = field(default_factory=ItemOptions)

    def load(self) -> Pack:
        """The pack."""
        return builtin_pack(self.pack) if self.pack_dir is None else load_pack(self.pack_dir)


@dataclass(frozen=True, slots=True)
class Built:
    """One batch's tables, and what was counted on the way."""

    tables: BatchTables
    identifiers: Counter[str]
    without_block: int
    notes: int
    too_long: int  # statements that were not read, each as often as it occurs


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch divided into studies and statements."""

    batch: ReportBatch
    studies: Studies
    pieces: Pieces


class BatchBuilder:
    """Builds batches one after the other; statements met before are not read again."""

    def __init__(self, recipe: Recipe) -> None:
        pack = recipe.load()
        labeller = Labeller(pack, recipe.profile)
        self._labeller = labeller
        self._blocks = pack.spec.blocks
        self._scanner = Scanner(SectionTable(pack), recipe.engine, size_hint=recipe.size_hint)
        self.readings = Readings(tuple(pack.abnormalities), self._scanner.statements)
        self._attributor = Attributor(
            resolution_table(pack, recipe.profile),
            self.readings,
            [role for role in Role if labeller.counts(role)],
        )
        self._items = ItemMaker(pack, questionnaire(pack), recipe.items)
        self._screen = Screen()

    def build(self, batch: ReportBatch) -> Built:
        """The tables of a batch. Statements are numbered as in `readings`."""
        return self.finish(self.begin(batch))

    def begin(self, batch: ReportBatch) -> Begun:
        """The half of the work that is compiled code: another thread may do it, one batch after
        the other, while `finish` is busy with the batch before."""
        studies = studies_of(batch.studies, self._blocks)
        bounds = None if studies.bounds is None else (studies.bounds[:, 0], studies.bounds[:, 1])
        pieces = self._scanner.scan(studies.texts, bounds)
        return Begun(batch, studies, pieces)

    def finish(self, begun: Begun) -> Built:
        """The tables of a batch whose statements are found. Batches come in the order begun."""
        batch, studies, pieces = begun.batch, begun.studies, begun.pieces
        self.readings.read_new(self._labeller)
        labels = self._attributor.labels(pieces, len(studies))
        labelled = Labelled(studies, pieces, labels, self.readings)
        occurrences = {"study": pa.array(pieces.study), "statement": pa.array(pieces.statement)}
        identifiers = Counter(self._screen.count(pa.array(labelled.kept_texts, pa.large_string())))
        tables = BatchTables(
            studies.table(),
            self._items.table(labelled),
            labels_table(labelled),
            pa.table(occurrences),
            [*batch.rejects, *_rejects(labelled)],
            labelled.decided.templates,
        )
        # counted here and not by who reads: two processes may both have met a statement
        lengths = self.readings.statements["length"][pieces.statement]
        too_long = int((lengths > LONGEST).sum())
        return Built(tables, identifiers, studies.without_block, len(batch.studies), too_long)


def _rejects(batch: Labelled) -> list[Reject]:
    """Studies without a label, and labels that contradict themselves."""
    labels, studies = batch.labels, batch.studies
    silent = np.bincount(labels.study, minlength=len(studies)) == 0
    conflicts = np.flatnonzero((labels.phase == 0) & (labels.level == Level.CONFLICT))
    places = [(int(study), Reason.NO_FINDINGS, "") for study in np.flatnonzero(silent)]
    names = batch.readings.abnormalities
    for label in conflicts.tolist():
        detail = names[labels.abnormality[label]]
        places.append((int(labels.study[label]), Reason.CONFLICTING_LEVELS, detail))
    return [
        Reject(
            STAGE,
            reason,
            studies.ids[study].as_py(),
            part=studies.parts[study].as_py(),
            row=studies.rows[study].as_py(),
            detail=detail,
        )
        for study, reason, detail in places
    ]


T = TypeVar("T")


_END: Any = object()
"""What stands after the last item."""


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items in the same order, each made by a thread while its forerunner is in use.

    Worth it where making one is mostly work of compiled code, which runs beside Python. What
    making an item raises is raised here, in its place.

    >>> list(ahead(iter([3, 1, 2])))
    [3, 1, 2]
    """
    source = iter(items)
    with ThreadPoolExecutor(1, "clinqa-ahead") as pool:
        coming = pool.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, source, _END)
            yield item


_AHEAD = 2  # batches waiting a process: enough that none idles, few enough for memory


class BuiltBatches:
    """Iterator over built batches in the order they were read; `readings` grows along.

    Which process builds a batch changes nothing in its rows. Numbers of statements differ with
    the processes, and no row of the dataset holds them.
    """

    def __init__(self, batches: Iterator[ReportBatch], recipe: Recipe, workers: int) -> None:
        self._batches, self._recipe, self._workers = batches, recipe, workers
        self.readings: Readings
        self._stream: Iterator[Built]
        if workers == 1:
            self._here = BatchBuilder(recipe)
            self.readings = self._here.readings
            self._stream = map(self._here.finish, ahead(map(self._here.begin, batches)))
        else:
            self.readings = Readings(tuple(recipe.load().abnormalities), Statements())
            self._numbers: dict[tuple[str, str], int] = {}
            self._stream = self._pooled()

    def __iter__(self) -> Iterator[Built]:
        return self._stream

    def _pooled(self) -> Iterator[Built]:
        pool = ProcessPoolExecutor(self._workers, get_context("spawn"), _start, (self._recipe,))
        local: dict[int, Int32s] = {}
        waiting: deque[Future[_Sent]] = deque()
        try:
            for batch in self._batches:
                with children_ignore_interrupts():  # a process may start at any submission
                    waiting.append(pool.submit(_build, batch))
                if len(waiting) > _AHEAD * self._workers:
                    yield self._entered(waiting.popleft().result(), local)
            while waiting:
                yield self._entered(waiting.popleft().result(), local)
        except BrokenProcessPool as error:
            raise ClinqaError(
                "a worker process was ended from outside, perhaps for want of memory; run the "
                "same command again with fewer --workers"
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)

    def _entered(self, sent: _Sent, local: dict[int, Int32s]) -> Built:
        """A worker's batch in our numbers. A worker's batches come in the order it built them."""
        new, known = sent.new, self._numbers
        numbers = np.empty(len(new.texts), np.int32)
        fresh: list[int] = []
        for place, key in enumerate(zip(new.structures, new.texts, strict=True)):
            number = known.get(key)
            if number is None:
                number = known[key] = len(known)
                fresh.append(place)
            numbers[place] = number
        self.readings.enter(new, fresh)
        before = local.get(sent.worker, np.empty(0, np.int32))
        mine = local[sent.worker] = np.concatenate([before, numbers])
        tables = sent.built.tables
        own = tables.occurrences["statement"].to_numpy()
        occurrences = tables.occurrences.set_column(1, "statement", pa.array(mine[own]))
        return replace(sent.built, tables=replace(tables, occurrences=occurrences))


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a worker sends back: a batch, and the statements it met for the first time."""

    worker: int
    built: Built
    new: NewReadings


_builder: BatchBuilder | None = None


_recipe = Recipe()


def _start(recipe: Recipe) -> None:
    global _recipe
    end_with_parent()
    _recipe = recipe


def _build(batch: ReportBatch) -> _Sent:
    global _builder
    if _builder is None:  # here and not at the start, so that its errors reach the parent
        _builder = BatchBuilder(_recipe)
    known = len(_builder.readings)
    built = _builder.build(batch)
    return _Sent(os.getpid(), built, _builder.readings.since(known))
