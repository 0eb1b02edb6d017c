"""The items of a split as they are asked: in a stream, the same ones for every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.models.protocol import TrainAnswer

__all__ = [
    "Item",
    "ItemSource",
    "TrainAnswers",
    "TrainTexts",
    "content_order",
    "kind_of_items",
]

_COLUMNS = ("id", "group", "question", "context", "category", "question_type")
_ONLY_LONG_FORM = "question_type"
_ASKED = (Kind.LONG_FORM.value, Kind.TRUE_FALSE.value)
_SLICE = 1024


@dataclass(frozen=True, slots=True)
class Item:
    """What of an item decides how it is asked; the reference answer is not among it."""

    id: str
    group: str
    question: str
    context: str
    category: str
    question_type: str


class ItemSource:
    """The items of one split, or of a sample of it, a batch at a time.

    With a limit, the N items lowest by a hash of their id: by chance, the same for every model,
    seed and number of shots (runs can be paired), and N is part of any larger N.
    """

    def __init__(self, dataset: Dataset, split: str, limit: int | None) -> None:
        self._dataset, self._split = dataset, split
        self.in_split = sum(table.num_rows for table in self._read(["id"]))
        self._last: np.uint64 | None = None  # the highest hash that is asked
        if limit is not None and limit < self.in_split:
            hashes = np.concatenate([_by_chance(table) for table in self._read(["id"])])
            self._last = np.partition(hashes, limit - 1)[limit - 1]
            self.total = int((hashes <= self._last).sum())
        else:
            self.total = self.in_split

    def __iter__(self) -> Iterator[Item]:
        for table in map(_completed, self._read(_present(self._dataset, self._split, _COLUMNS))):
            if self._last is not None:
                table = table.filter(pa.array(_by_chance(table) <= self._last))
            for start in range(0, table.num_rows, _SLICE):  # a row group of contexts is large
                part = table.slice(start, _SLICE)
                yield from map(Item, *(_texts(part[name]) for name in _COLUMNS))

    def _read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        try:
            yield from self._dataset.batches(self._split, columns)
        except (KeyError, OSError, pa.ArrowException) as error:
            raise ConfigError(
                f"{self._dataset.folder}: split {self._split} cannot be read or lacks a column "
                f"({type(error).__name__}); run `clinqa verify` on the folder"
            ) from error


class TrainAnswers:
    """How often each answer was given in train; counted when it is iterated, not before."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[TrainAnswer]:
        keys = ["category", "question_type", "answer"]
        parts = []
        read = _present(self._dataset, "train", keys)
        for table in map(_completed, self._dataset.batches("train", read)):
            parts.append(table.group_by(keys).aggregate([([], "count_all")]))
        if not parts:
            return
        merged = pa.concat_tables(parts).group_by(keys).aggregate([("count_all", "sum")])
        for row in merged.to_pylist():
            category, question_type, answer = (row[key] or "" for key in keys)
            yield TrainAnswer(category, question_type, answer, row["count_all_sum"])


class TrainTexts:
    """Question and answer of every item of train; read when it is iterated, not before."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for table in self._dataset.batches("train", ["question", "answer"]):
            yield from zip(_texts(table["question"]), _texts(table["answer"]), strict=True)


def kind_of_items(dataset: Dataset, split: str) -> str:
    """The kind of the items of a split; ConfigError where they are mixed or cannot be asked."""
    kinds: set[str] = set()
    try:
        for table in dataset.batches(split, ["kind"]):
            kinds |= set(table["kind"].unique().to_pylist())
    except (KeyError, OSError, pa.ArrowException) as error:
        raise ConfigError(
            f"{dataset.folder}: split {split} cannot be read ({type(error).__name__}); run "
            "`clinqa verify` on the folder"
        ) from error
    if len(kinds) > 1 or kinds - set(_ASKED):
        raise ConfigError(
            f"{dataset.folder}: holds items of kind {', '.join(sorted(kinds))}; predict asks "
            f"{' or '.join(_ASKED)}, one kind a dataset"
        )
    return kinds.pop() if kinds else _ASKED[0]


def _present(dataset: Dataset, split: str, columns: Sequence[str]) -> list[str]:
    """The columns without those that items of this kind do not have."""
    files = dataset.files(split)
    lacking = bool(files) and all(
        _ONLY_LONG_FORM not in pq.read_schema(path).names and "label" in pq.read_schema(path).names
        for path in files
        if path.is_file()
    )
    return [name for name in columns if not (lacking and name == _ONLY_LONG_FORM)]


def _completed(table: pa.Table) -> pa.Table:
    if _ONLY_LONG_FORM in table.column_names:
        return table
    return table.append_column(_ONLY_LONG_FORM, pa.nulls(table.num_rows, pa.string()))


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
