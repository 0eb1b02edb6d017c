"""The facet `judges`: a run's answers beside the references, as rows of numbers by item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Bools, Floats, Int8s, Ints
from clinqa.core.errors import ConfigError
from clinqa.core.finished import Finished
from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.predictions import FinishedRun

__all__ = [
    "ByOrder",
    "JudgeOptions",
    "JudgedAnswers",
    "JudgedRun",
    "Judges",
    "OpenJudge",
    "SplitItems",
    "averaged",
    "codes_of",
    "judged_run",
    "of_split",
]


class JudgeOptions(Protocol):
    """What a judge may be told; a kind takes what it has a use for."""

    @property
    def pack_dir(self) -> Path | None: ...
    @property
    def annotated(self) -> Path | None: ...
    @property
    def seed(self) -> int: ...
    @property
    def dry_run(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class SplitItems:
    """The items of a split, a row each, sorted by id.

    `clusters` gives, by what is drawn again, the number of each item's cluster; the first is the
    one that runs are compared by.
    """

    table: pa.Table
    clusters: Mapping[str, Ints]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def column(self, name: str) -> list[Any]:
        """A column as Python values."""
        values: list[Any] = self.table[name].to_pylist()
        return values

    @property
    def cluster(self) -> Ints:
        """The cluster of each item by which runs are compared."""
        return next(iter(self.clusters.values()))

    def many(self, name: str | None = None) -> int:
        """How many clusters they are of."""
        codes = self.cluster if name is None else self.clusters[name]
        return int(codes.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """Every answer of a run judged alone: a row of numbers each, sorted by item and repeat.

    `item` is the row of the items. `statistics` holds only those columns of the kind's layout that
    `columns` numbers; the others are 0 throughout. `of_kind` is how they were judged.
    """

    item: Ints
    repeat: Ints
    columns: Ints
    statistics: Floats
    of_kind: Any = None

    def column(self, place: int) -> Floats:
        """One column of the layout, by answer."""
        found = np.flatnonzero(self.columns == place)
        made: Floats = self.statistics[:, found[0]] if len(found) else np.zeros(len(self.item))
        return made


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run read in one way, or a vote of runs: by item, the mean of each number over its repeats.

    `items` are the rows of the items that it was asked. `statistics` holds only those of `layout`
    that `columns` numbers; the others are 0. `codes`, of kinds with discrete answers: by repeat the
    code of the answer to each item of the split, `NO_ANSWER` or `NOT_ASKED` (`facets.codes`).
    `totals` are, where the kind keeps them, the sums of each repeat over all items. `of_kind` is
    what only the kind's own measures look at.
    """

    id: str
    name: str
    model: str
    shots: int
    items: Ints
    layout: Sequence[str]
    columns: Ints
    statistics: Floats
    statuses: Mapping[str, int]
    repeats: int = 1
    unknown: int = 0  # predictions of items that the split does not hold
    run: FinishedRun | None = None
    way: str = ""  # how it was read, where a kind reads in several
    how: str = ""  # how its answers came about
    codes: Int8s | None = None
    totals: Floats | None = None
    members: tuple[str, ...] = ()  # of a vote
    of_kind: Any = None

    @property
    def answers(self) -> int:
        """How many answers to items of the split."""
        return sum(self.statuses.values())

    @property
    def key(self) -> str:
        """What it is known by on any dataset: model, shots, adapters, how it was asked."""
        adapters = ",".join(map(str, self.run.adapters)) if self.run else ""
        return f"{self.model}|{self.shots}|{adapters}|{self.how}"

    def wide(self, rows: Floats) -> Floats:
        """Rows of `statistics`, or sums of them, with all columns of the layout."""
        made = np.zeros((*rows.shape[:-1], len(self.layout)))
        made[..., self.columns] = rows
        return made

    def held(self, rows: Ints, columns: Ints) -> Floats:
        """Those columns of the layout of some of its rows."""
        made = np.zeros((len(rows), len(columns)))
        _, own, theirs = np.intersect1d(self.columns, columns, return_indices=True)
        for place, at in zip(own, theirs, strict=True):
            made[:, at] = self.statistics[rows, place]
        return made

    def total(self, mask: Bools | None = None) -> Floats:
        """The sums over its items, or those of a mask of them."""
        rows = self.statistics if mask is None else self.statistics[mask]
        return self.wide(rows.sum(axis=0))

    def column(self, name: str) -> Floats:
        """One column, by item."""
        found = np.flatnonzero(self.columns == self.layout.index(name))
        made: Floats = self.statistics[:, found[0]] if len(found) else np.zeros(len(self.items))
        return made

    def summed(self, rows: Ints, cluster: Ints) -> Floats:
        """The sums of each cluster over some of its rows. Items come in the order of their ids, so
        that even the last digit hangs on nothing else."""
        order = np.argsort(cluster, kind="stable")
        first = np.flatnonzero(np.diff(cluster[order], prepend=-1))
        return self.wide(np.add.reduceat(self.statistics[rows[order]], first, axis=0))


class OpenJudge(ABC):
    """A judge with what it needs: a pack of words, a trained reader.

    `configuration` and `decides` are what the manifest tells of it and what decides its rows
    untold; `inputs` the files it was made from; `files` what it leaves beside the scores;
    `about` its own part of the meta of scores.json; `plan` what a dry run would do with it.
    """

    configuration: Mapping[str, Any] = {}
    decides: Mapping[str, Any] = {}
    inputs: Sequence[FileRecord] = ()
    files: Mapping[str, bytes] = {}
    about: Mapping[str, Any] = {}
    plan: Sequence[str] = ()

    @abstractmethod
    def runs(self, run: FinishedRun, items: SplitItems) -> Iterator[tuple[JudgedRun, pa.Table]]:
        """The run judged, once for each way it can be read, and its rows of items.parquet."""

    def answers(self, run: FinishedRun, items: SplitItems) -> JudgedAnswers:
        """Every answer judged alone; a kind with the facet `audited` gives it."""
        raise ConfigError("answers of this kind of item are not judged one by one")


ByOrder = Callable[
    [Finished, Mapping[str, Mapping[str, Any]]], Iterator[tuple[str, int, bool | None]]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """How a kind judges: which columns of the items it needs beside those of every kind, how it
    makes `SplitItems` of the table (told the folder, for errors), how it opens.

    `open` is given the dataset's folder and manifest, the runs and what was told. `by_order`, of
    kinds with the ability `orders`, gives of a run and the items by id: an item's id, the
    number of the order it was asked in, and whether the answer was right (None: there is none).
    """

    columns: Sequence[str]
    load: Callable[[pa.Table, Path], SplitItems]
    open: Callable[[Path, Manifest, Sequence[FinishedRun], JudgeOptions], OpenJudge]
    libraries: Sequence[str] = field(default=())
    by_order: ByOrder | None = None


def codes_of(names: Sequence[str]) -> Ints:
    """A number for each different name, in the order of the names."""
    return np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)


def of_split(
    run: FinishedRun, predictions: pa.Table, items: SplitItems, once_in: Sequence[str] = ("repeat",)
) -> tuple[pa.Table, Ints, int]:
    """The predictions of items of the split, the row of each one's item, and how many are of none.

    ConfigError where there are none, or where an item is answered twice in one repeat.
    """
    place = {name: row for row, name in enumerate(items.column("id"))}
    found = np.array([place.get(name, -1) for name in predictions["item_id"].to_pylist()], np.int64)
    unknown = int((found < 0).sum())
    if unknown == len(found):
        raise ConfigError(
            f"{run.folder}: answers none of the {len(items):,} items of split {run.split} that are "
            "looked at (all, or the first of them under --limit)"
        )
    kept = predictions.filter(pa.array(found >= 0))
    found = found[found >= 0]
    asked = [found, *(kept[name].to_numpy().astype(np.int64) for name in once_in)]
    if len(np.unique(np.stack(asked, axis=1), axis=0)) < len(found):
        where = "order" if len(once_in) > 1 else "repeat"
        raise ConfigError(
            f"{run.folder}: answers an item twice in one {where}; is it of several models?"
        )
    return kept, found, unknown


def judged_run(
    run: FinishedRun,
    answers: JudgedAnswers,
    layout: Sequence[str],
    statuses: Sequence[str],
    unknown: int = 0,
    **more: Any,
) -> JudgedRun:
    """The run of these answers, averaged over its repeats; `more` are further fields."""
    items, statistics = averaged(answers)
    return JudgedRun(
        id=run.id,
        name=run.name,
        model=run.model,
        shots=run.shots,
        items=items,
        layout=layout,
        columns=answers.columns,
        statistics=statistics,
        statuses=Counter(statuses),
        repeats=len(np.unique(answers.repeat)),
        unknown=unknown,
        run=run,
        **more,
    )


def averaged(answers: JudgedAnswers) -> tuple[Ints, Floats]:
    """The items that were asked, and the mean of their rows over repeats."""
    found, statistics = answers.item, answers.statistics
    # rows come sorted by item, so that those of one item lie together
    first = np.flatnonzero(np.diff(found, prepend=-1))
    if len(first) < len(found):
        counts = np.diff(np.append(first, len(found)))
        statistics = np.add.reduceat(statistics, first, axis=0) / counts[:, None]
    return found[first], statistics
