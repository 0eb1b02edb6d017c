"""The multiple-choice items of a split: options, the right one, what they are drawn again by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.core.errors import ConfigError
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.scoring.inputs import check_items

__all__ = ["Questions", "load_questions"]

_COLUMNS = ("id", "kind", "group", "question", "category", "options", "answer_index")


@dataclass(frozen=True, slots=True)
class Questions:
    """A row a question, sorted by id. `cluster` numbers it with its near-duplicates."""

    ids: Sequence[str]
    texts: Sequence[str]
    options: Sequence[tuple[str, ...]]
    gold: npt.NDArray[np.int64]
    category: npt.NDArray[np.str_]
    cluster: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def clusters(self) -> int:
        """How many clusters they are of."""
        return len(np.unique(self.cluster))


def load_questions(dataset: Dataset, split: str, limit: int | None = None) -> Questions:
    """The questions, sorted by id; the first of them under a limit."""
    table = dataset.items(split, list(_COLUMNS)).sort_by("id").slice(0, limit)
    if set(table["kind"].unique().to_pylist()) != {Kind.MULTIPLE_CHOICE.value}:
        raise ConfigError(f"{dataset.folder}: split {split} holds other items than multiple_choice")
    check_items(dataset, split)
    options = [tuple(own or ()) for own in table["options"].to_pylist()]
    gold = table["answer_index"].to_pylist()
    if any(at is None or not 0 <= at < len(own) for at, own in zip(gold, options, strict=True)):
        raise ConfigError(
            f"{dataset.folder}: an item whose answer is none of its options; run `clinqa verify` "
            "on the folder"
        )
    ids = table["id"].to_pylist()
    groups = [one or own for one, own in zip(table["group"].to_pylist(), ids, strict=True)]
    return Questions(
        ids,
        [one or "" for one in table["question"].to_pylist()],
        options,
        np.array(gold, np.int64),
        np.array([one or "" for one in table["category"].to_pylist()], dtype=np.str_),
        np.unique(np.array(groups), return_inverse=True)[1].astype(np.int64),
    )
