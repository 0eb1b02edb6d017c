"""The texts of a dataset's items, part by part, in which terms are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset
from clinqa.kinds.facets.columns import Columns

__all__ = ["ANSWER", "CONTEXT", "QUESTION", "TermItem", "read_items"]

QUESTION, CONTEXT, ANSWER = "question", "context", "answer"
_COLUMNS = ("id", "group", "category", "question", "context", "answer")


@dataclass(frozen=True, slots=True)
class TermItem:
    """An item as far as terms go: `parts` are (name, text).

    What it offers beside the answer is named as its kind says: `option 0` on. The right one of
    several options is the part `answer`: it is what a model should say.
    """

    id: str
    group: str
    split: str
    specialty: str
    parts: tuple[tuple[str, str], ...]


def read_items(
    dataset: Dataset, split: str, *, options_too: bool = True, limit: int | None = None
) -> Iterator[TermItem]:
    """The items of a split, in the order of its files."""
    left = limit
    kind: Columns = dataset.kind.facet("columns")
    wanted = (*_COLUMNS, *(kind.read_for_others if options_too else ()))
    others = kind.others if options_too else lambda row: ()
    try:
        for path in dataset.files(split):
            there = set(pq.read_schema(path).names)
            columns = [name for name in wanted if name in there]
            for batch in pq.ParquetFile(path).iter_batches(columns=columns):
                for row in batch.to_pylist():
                    if left == 0:
                        return
                    left = None if left is None else left - 1
                    yield _item(row, split, others(row))
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ConfigError(
            f"{dataset.folder}: split {split} cannot be read ({type(error).__name__}); run "
            "`clinqa verify` on the folder"
        ) from error


def _item(row: dict[str, object], split: str, others: Sequence[tuple[str, str]]) -> TermItem:
    parts = [(name, _text(row.get(name))) for name in (QUESTION, CONTEXT, ANSWER)]
    return TermItem(
        id=_text(row["id"]),
        group=_text(row["group"]),
        split=split,
        specialty=_text(row.get("category")),
        parts=tuple((name, text) for name, text in (*parts, *others) if text.strip()),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
