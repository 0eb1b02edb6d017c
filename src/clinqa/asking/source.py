"""The items of a split as they are asked: in a stream, the same ones for every model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.core.ids import stable_hash
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.models.protocol import TrainAnswer

__all__ = [
    "Item",
    "ItemSource",
    "TrainAnswers",
    "TrainTexts",
    "content_order",
    "kind_of_items",
]

_COLUMNS = ("id", "group", "question", "context", "category", "question_type", "options")
_ONLY_LONG_FORM, _ONLY_CHOICES = "question_type", "options"
_OTHER_KINDS = ("label", _ONLY_CHOICES)  # columns of kinds without question_type
_ASKED = (Kind.LONG_FORM.value, Kind.TRUE_FALSE.value, Kind.MULTIPLE_CHOICE.value)
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
    options: tuple[str, ...] = ()


class ItemSource:
    """The items of one split, or of a sample of it, a batch at a time.

    With a limit, the N items lowest by a hash of their id: by chance, the same for every model,
    seed and number of shots (runs can be paired), and N is part of any larger N.
    """

    def __init__(
        self, dataset: Dataset, split: str, limit: int | None, categories: Sequence[str] = ()
    ) -> None:
        self._dataset, self._split, self._categories = dataset, split, tuple(categories)
        self._choices = _ONLY_CHOICES in _present(dataset, split, [_ONLY_CHOICES])
        self.in_split = self._rows(every=True)
        #: Items of other categories than those that were asked for.
        self.elsewhere = self.in_split - self._rows(every=False) if categories else 0
        askable = sum(table.num_rows for table in self._read(["id"])) if self._choices else None
        wanted = self.in_split - self.elsewhere
        #: Items of multiple choice with fewer than two options or more than there are letters.
        self.unaskable = 0 if askable is None else wanted - askable
        self._last: np.uint64 | None = None  # the highest hash that is asked
        if limit is not None and limit < wanted - self.unaskable:
            hashes = np.concatenate([_by_chance(table) for table in self._read(["id"])])
            self._last = np.partition(hashes, limit - 1)[limit - 1]
            self.total = int((hashes <= self._last).sum())
        else:
            self.total = wanted - self.unaskable

    def __iter__(self) -> Iterator[Item]:
        for table in map(_completed, self._read(_present(self._dataset, self._split, _COLUMNS))):
            if self._last is not None:
                table = table.filter(pa.array(_by_chance(table) <= self._last))
            for start in range(0, table.num_rows, _SLICE):  # a row group of contexts is large
                part = table.slice(start, _SLICE)
                yield from map(Item, *(_texts(part[name]) for name in _COLUMNS[:-1]), _lists(part))

    def _rows(self, *, every: bool) -> int:
        """Items of the split, or those of the categories."""
        if every:
            return sum(table.num_rows for table in self._tables(["id"]))
        return sum(self._of_category(table).num_rows for table in self._tables(["id", "category"]))

    def _of_category(self, table: pa.Table) -> pa.Table:
        wanted = pa.array(self._categories, pa.string())
        return table.filter(pc.is_in(table["category"], value_set=wanted))

    def _read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """What can be asked."""
        more = {_ONLY_CHOICES} if self._choices else set()
        more |= {"category"} if self._categories else set()
        for table in self._tables([*columns, *sorted(more - set(columns))]):
            if self._categories:
                table = self._of_category(table)
            if self._choices:
                count = pc.fill_null(pc.list_value_length(table[_ONLY_CHOICES]), 0)
                fits = pc.and_(pc.greater_equal(count, 2), pc.less_equal(count, len(LETTERS)))
                table = table.filter(fits)
            yield table

    def _tables(self, columns: Sequence[str]) -> Iterator[pa.Table]:
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
        read = _present(self._dataset, "train", [*keys, _ONLY_CHOICES])
        if _ONLY_CHOICES in read:  # what recurs in multiple choice is the place of the answer
            read[read.index("answer")] = "answer_index"
            read.remove(_ONLY_CHOICES)
        for table in map(_lettered, map(_completed, self._dataset.batches("train", read))):
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
            f"{', '.join(_ASKED[:-1])} or {_ASKED[-1]}, one kind a dataset"
        )
    return kinds.pop() if kinds else _ASKED[0]


def _present(dataset: Dataset, split: str, columns: Sequence[str]) -> list[str]:
    """The columns without those that items of this kind do not have."""
    files = [path for path in dataset.files(split) if path.is_file()]
    names = set(pq.read_schema(files[0]).names) if files else set()
    other = not names.isdisjoint(_OTHER_KINDS)
    absent = {_ONLY_LONG_FORM: other and _ONLY_LONG_FORM not in names,
              _ONLY_CHOICES: _ONLY_CHOICES not in names}  # fmt: skip
    return [name for name in columns if not absent.get(name)]


def _completed(table: pa.Table) -> pa.Table:
    if _ONLY_LONG_FORM in table.column_names:
        return table
    return table.append_column(_ONLY_LONG_FORM, pa.nulls(table.num_rows, pa.string()))


def _lettered(table: pa.Table) -> pa.Table:
    """The letter of the right option, as the bank has it, as the answer."""
    if "answer_index" not in table.column_names:
        return table
    letters = pa.array([*LETTERS], pa.string())
    places = pc.if_else(pc.less(table["answer_index"], len(LETTERS)), table["answer_index"], None)
    return table.append_column("answer", pc.take(letters, places))


def _lists(table: pa.Table) -> list[tuple[str, ...]]:
    """The options of each item; none where its kind has none."""
    if _ONLY_CHOICES not in table.column_names:
        return [()] * table.num_rows
    return [tuple(text or "" for text in own or ()) for own in table[_ONLY_CHOICES].to_pylist()]


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
