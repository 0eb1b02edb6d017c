"""The items of a dataset as training reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.asking.source import content_order
from clinqa.core.errors import ConfigError
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.multiple_choice.choices import LETTERS, solved

__all__ = ["TrainItem", "kind_of_dataset", "read_items"]

_COLUMNS = ("id", "kind", "group", "question", "context", "answer")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class TrainItem:
    """What training reads of an item; `label` for True/False items alone.

    The answer of multiple choice is a letter and the text of its option; its options stand in one
    order that hangs on the item alone.
    """

    id: str
    group: str
    question: str
    context: str
    answer: str
    label: bool | None = None
    with_options: str = ""  # of multiple choice: the question with its options, as it is asked

    @property
    def asked(self) -> str:
        """The question as the model reads it."""
        return self.with_options or self.question

    @property
    def context_key(self) -> str:
        """The same for items of one context; without one, an item stands alone."""
        if not self.context:
            return self.id
        return hashlib.sha256(self.context.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def kind_of_dataset(dataset: Dataset) -> str:
    """The kind of all its items; ConfigError where they are mixed or there are none."""
    kinds: set[str] = set()
    for split in SPLITS:
        for table in _tables(dataset, split, ("kind",)):
            kinds |= set(table["kind"].unique().to_pylist())
    if len(kinds) != 1:
        found = ", ".join(sorted(map(str, kinds))) or "no items at all"
        raise ConfigError(f"{dataset.folder}: training takes items of one kind; found {found}")
    return str(kinds.pop())


def read_items(
    dataset: Dataset,
    split: str,
    kind: str,
    *,
    limit: int | None = None,
    purpose: str = "limit",
    categories: Sequence[str] = (),
) -> list[TrainItem]:
    """The items of a split; with a limit those lowest by a hash of their id, as in predict."""
    names = _COLUMNS if kind != Kind.MULTIPLE_CHOICE else (*_COLUMNS, "options", "answer_index")
    if categories:
        wanted = pa.array(list(categories), pa.string())
        tables = [
            table.filter(pc.is_in(table["category"], value_set=wanted)).select(names)
            for table in _tables(dataset, split, (*names, "category"))
        ]
    else:
        tables = list(_tables(dataset, split, names))
    if limit is not None and sum(table.num_rows for table in tables) > limit:
        hashes = np.concatenate([content_order(table["id"], purpose) for table in tables])
        last = np.partition(hashes, limit - 1)[limit - 1]
        tables = [
            table.filter(pa.array(content_order(table["id"], purpose) <= last)) for table in tables
        ]
    return [item for table in tables for item in _items(dataset, table, kind)]


def _items(dataset: Dataset, table: pa.Table, kind: str) -> Iterator[TrainItem]:
    columns = [table[name].to_pylist() for name in _COLUMNS]
    if kind == Kind.MULTIPLE_CHOICE:
        yield from _choices(dataset, table)
        return
    for number, _, group, question, context, answer in zip(*columns, strict=True):
        label = None
        if kind == Kind.TRUE_FALSE:
            label = _WORDS.get(str(answer).strip().lower())
            if label is None:
                raise ConfigError(
                    f"{dataset.folder}: item {number} is true_false, but its answer is neither "
                    "True nor False; run `clinqa verify` on the folder"
                )
        if not (answer or "").strip():
            raise ConfigError(f"{dataset.folder}: item {number} has no answer to learn")
        yield TrainItem(number, group, question or "", context or "", answer, label)


def _choices(dataset: Dataset, table: pa.Table) -> Iterator[TrainItem]:
    names = ("id", "group", "question", "context", "options", "answer_index")
    columns = [table[name].to_pylist() for name in names]
    for number, group, question, context, options, at in zip(*columns, strict=True):
        if not 2 <= len(options or ()) <= len(LETTERS) or at is None or not 0 <= at < len(options):
            raise ConfigError(
                f"{dataset.folder}: item {number} has no answer among 2 to {len(LETTERS)} options; "
                "run `clinqa verify` on the folder"
            )
        asked, answer = solved(number, question or "", options, at)
        yield TrainItem(number, group, question or "", context or "", answer, None, asked)


def _tables(dataset: Dataset, split: str, columns: tuple[str, ...]) -> Iterator[pa.Table]:
    try:
        yield from dataset.batches(split, columns)
    except (KeyError, OSError, pa.ArrowException) as error:
        raise ConfigError(
            f"{dataset.folder}: split {split} cannot be read or lacks a column "
            f"({type(error).__name__}); run `clinqa verify` on the folder"
        ) from error
