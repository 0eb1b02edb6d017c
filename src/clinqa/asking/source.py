"""The items of a split as they are asked: in a stream, the same ones for every model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.asks import Asks, Question
from clinqa.kinds.facets.baseline import Baseline
from clinqa.kinds.registry import ItemKind, kind_named
from clinqa.models.protocol import TrainAnswer

__all__ = [
    "ItemSource",
    "content_order",
    "kind_of_items",
    "train_answers",
    "train_texts",
]

_TEXTS = ("id", "group", "question", "context", "category")
_SLICE = 1024


class ItemSource:
    """The items of one split, or of a sample of it, a batch at a time.

    With a limit, the N items lowest by a hash of their id: by chance, the same for every model,
    seed and number of shots (runs can be paired), and N is part of any larger N.
    """

    def __init__(
        self,
        dataset: Dataset,
        asks: Asks,
        split: str,
        limit: int | None,
        categories: Sequence[str] = (),
    ) -> None:
        self._dataset, self._asks, self._split = dataset, asks, split
        self._categories = pa.array(list(categories), pa.string()) if categories else None
        self.in_split = _count(dataset.batches(split, ["id"]))
        wanted = _count(self._of_category(["id"]))
        #: Items of other categories than those that were asked for.
        self.elsewhere = self.in_split - wanted
        askable = wanted if asks.cannot is None else _count(self._read(["id"]))
        #: Items that the kind says cannot be asked.
        self.unaskable = wanted - askable
        self._last: np.uint64 | None = None  # the highest hash that is asked
        self.total = askable
        if limit is not None and limit < askable:
            hashes = np.concatenate([_by_chance(table) for table in self._read(["id"])])
            self._last = np.partition(hashes, limit - 1)[limit - 1]
            self.total = int((hashes <= self._last).sum())

    def __iter__(self) -> Iterator[Question]:
        for table in self._read(_TEXTS):
            if self._last is not None:
                table = table.filter(pa.array(_by_chance(table) <= self._last))
            for start in range(0, table.num_rows, _SLICE):  # a row group of contexts is large
                part = table.slice(start, _SLICE)
                texts = (_texts(part[name]) for name in _TEXTS)
                yield from map(Question, *texts, self._asks.own(part))

    def _of_category(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        if self._categories is None:
            yield from self._dataset.batches(self._split, columns)
            return
        for table in self._dataset.batches(self._split, {*columns, "category"}):
            yield table.filter(pc.is_in(table["category"], value_set=self._categories))

    def _read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """What can be asked."""
        cannot = self._asks.cannot
        for table in self._of_category([*columns, *self._asks.columns]):
            yield table if cannot is None else table.filter(cannot.fits(table))


def train_answers(dataset: Dataset, baseline: Baseline) -> Iterator[TrainAnswer]:
    """How often each answer was given in train; counted when it is iterated, not before."""
    parts, keys = [], []
    for table in dataset.batches("train", baseline.columns):
        told = baseline.counted(table.select(baseline.columns))
        keys = told.column_names
        parts.append(told.group_by(keys).aggregate([([], "count_all")]))
    if not parts:
        return
    merged = pa.concat_tables(parts).group_by(keys).aggregate([("count_all", "sum")])
    for row in merged.to_pylist():
        *stratum, answer = (row[key] or "" for key in keys)
        yield TrainAnswer(tuple(stratum), answer, row["count_all_sum"])


def train_texts(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Question and answer of every item of train; read when it is iterated, not before."""
    for table in dataset.batches("train", ["question", "answer"]):
        yield from zip(_texts(table["question"]), _texts(table["answer"]), strict=True)


def kind_of_items(dataset: Dataset, splits: Sequence[str], *facets: str) -> ItemKind:
    """The kind of all items of these splits; ConfigError where there are none, where they are mixed
    or where the kind lacks one of these facets."""
    found: set[str] = set()
    for split in splits:
        if dataset.files(split):
            told = dataset.items(split, ["kind"])["kind"]
            found |= set(map(str, told.unique().to_pylist()))
    if not found:
        raise ConfigError(f"{dataset.folder}: the split {' or '.join(splits)} holds no items")
    if len(found) > 1:
        raise ConfigError(
            f"{dataset.folder}: holds items of kind {', '.join(sorted(found))}; one kind at a time "
            "is asked, scored or trained on"
        )
    kind = kind_named(found.pop())
    kind.must_have(*facets)
    return kind


def content_order(ids: pa.ChunkedArray, purpose: str) -> np.ndarray:
    """A 64-bit number by chance for each item id, from the id and the purpose alone."""
    names = ids.to_pylist()
    salt = stable_hash(purpose)
    try:
        plain = np.frombuffer(bytes.fromhex("".join(names)), dtype=">u8").astype(np.uint64)
        if plain.size != len(names):
            raise ValueError
    except ValueError:  # ids of another tool
        plain = np.fromiter(map(stable_hash, names), dtype=np.uint64, count=len(names))
    # splitmix64: ids are hashes already, the salt makes each purpose an order of its own
    mixed = plain ^ np.uint64(salt)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _by_chance(table: pa.Table) -> np.ndarray:
    return content_order(table["id"], "limit")


def _texts(column: pa.ChunkedArray) -> list[str]:
    return [value or "" for value in column.to_pylist()]


def _count(tables: Iterable[pa.Table]) -> int:
    return sum(table.num_rows for table in tables)
