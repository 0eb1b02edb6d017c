"""The texts of a dataset's items, part by part, in which terms are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

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
    kind: Columns = dataset.kind.facet("columns")
    wanted = (*_COLUMNS, *(kind.read_for_others if options_too else ()))
    others = kind.others if options_too else lambda row: ()
    rows = (row for table in dataset.batches(split, wanted) for row in table.to_pylist())
    for row in islice(rows, limit):
        yield _item(row, split, others(row))


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
