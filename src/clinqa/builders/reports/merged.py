"""Batches built here or by several processes, as one stream with one numbering of statements.

The next item is made while the one before is being used.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from clinqa.builders.reports.batches import BatchBuilder, Built, Recipe
from clinqa.core.arrays import Int32s
from clinqa.core.errors import ClinqaError
from clinqa.core.processes import children_ignore_interrupts, end_with_parent
from clinqa.reading.pieces import Statements
from clinqa.reading.readings import NewReadings, Readings
from clinqa.sources.reports import ReportBatch

__all__ = ["BuiltBatches", "ahead"]

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
