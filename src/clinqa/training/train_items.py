"""The items of a dataset as training reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.asking.source import content_order, tables_of
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.facets.trains import Lesson, Trains
from clinqa.kinds.registry import ItemKind, kind_named

__all__ = ["Text", "TrainItem", "kind_of_dataset", "read_items"]

_COLUMNS = ("id", "group", "question", "context", "answer")


@dataclass(frozen=True, slots=True)
class TrainItem:
    """What training reads of an item: its texts, and what is learnt of it."""

    id: str
    group: str
    question: str
    context: str
    lesson: Lesson

    @property
    def context_key(self) -> str:
        """The same for items of one context; without one, an item stands alone."""
        if not self.context:
            return self.id
        return hashlib.sha256(self.context.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Text:
    """One item as an encoder reads it."""

    item_id: str
    tokens: list[int]
    types: list[int]
    weight: float
    label: int


def kind_of_dataset(dataset: Dataset) -> ItemKind:
    """The kind of all its items; ConfigError where they are mixed or there are none."""
    kinds: set[str] = set()
    for split in SPLITS:
        for table in tables_of(dataset, split, ["kind"]):
            kinds |= set(table["kind"].unique().to_pylist())
    if len(kinds) != 1:
        found = ", ".join(sorted(map(str, kinds))) or "no items at all"
        raise ConfigError(f"{dataset.folder}: training takes items of one kind; found {found}")
    return kind_named(str(kinds.pop()))


def read_items(
    dataset: Dataset,
    split: str,
    trains: Trains,
    *,
    limit: int | None = None,
    purpose: str = "limit",
    categories: Sequence[str] = (),
) -> list[TrainItem]:
    """The items of a split; with a limit those lowest by a hash of their id, as in predict."""
    names = {*_COLUMNS, *trains.columns, *(["category"] if categories else [])}
    tables = list(tables_of(dataset, split, names))
    if categories:
        wanted = pa.array(list(categories), pa.string())
        tables = [table.filter(pc.is_in(table["category"], value_set=wanted)) for table in tables]
    if limit is not None and sum(table.num_rows for table in tables) > limit:
        hashes = np.concatenate([content_order(table["id"], purpose) for table in tables])
        last = np.partition(hashes, limit - 1)[limit - 1]
        tables = [
            table.filter(pa.array(content_order(table["id"], purpose) <= last)) for table in tables
        ]
    return [_item(dataset, trains, row) for table in tables for row in table.to_pylist()]


def _item(dataset: Dataset, trains: Trains, row: Mapping[str, Any]) -> TrainItem:
    lesson = trains.lesson(row)
    if not isinstance(lesson, Lesson):
        raise ConfigError(f"{dataset.folder}: item {row['id']} {lesson}")
    if not lesson.answer.strip():
        raise ConfigError(f"{dataset.folder}: item {row['id']} has no answer to learn")
    question, context = row["question"] or "", row["context"] or ""
    return TrainItem(row["id"], row["group"], question, context, lesson)
