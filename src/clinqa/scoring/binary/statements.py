"""The statements of a split: what is true of them, and what they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.core.errors import ConfigError
from clinqa.core.records import Kind
from clinqa.dataset.reader import Dataset
from clinqa.scoring.inputs import check_items

__all__ = ["Statements", "kind_of_split", "load_statements"]

Codes = npt.NDArray[np.int64]
_COLUMNS = ("id", "kind", "group", "category", "source_id", "label", "pair_id")


@dataclass(frozen=True, slots=True)
class Statements:
    """A row a statement, sorted by id. `pair` and `source` number what it belongs to."""

    ids: Sequence[str]
    gold: npt.NDArray[np.bool_]
    pair: Codes
    source: Codes
    category: npt.NDArray[np.str_]
    pair_ids: Sequence[str]
    source_ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def pairs(self) -> int:
        """How many pairs they are of."""
        return len(np.unique(self.pair))

    @property
    def sources(self) -> int:
        """How many documents or bank items they are of."""
        return len(np.unique(self.source))

    @property
    def paired(self) -> bool:
        """Is any pair held by two of them?"""
        return self.pairs < len(self)


def kind_of_split(dataset: Dataset, split: str) -> str:
    """The kind of the items of a split; empty where it is mixed or holds none."""
    kinds = set(dataset.items(split, ["kind"])["kind"].unique().to_pylist())
    return str(kinds.pop()) if len(kinds) == 1 else ""


def load_statements(dataset: Dataset, split: str, limit: int | None = None) -> Statements:
    """The statements, sorted by id; the first of them under a limit."""
    table = dataset.items(split, list(_COLUMNS)).sort_by("id").slice(0, limit)
    if set(table["kind"].unique().to_pylist()) != {Kind.TRUE_FALSE.value}:
        raise ConfigError(f"{dataset.folder}: split {split} holds other items than true_false")
    check_items(dataset, split)
    if table["label"].null_count:
        raise ConfigError(
            f"{dataset.folder}: a statement without a label; run `clinqa verify` on the folder"
        )
    ids = table["id"].to_pylist()
    # one that belongs to no pair is a cluster of its own
    pairs = [pair or own for pair, own in zip(table["pair_id"].to_pylist(), ids, strict=True)]
    sources = [one or own for one, own in zip(table["source_id"].to_pylist(), pairs, strict=True)]
    return Statements(
        ids,
        np.asarray(table["label"].to_numpy(zero_copy_only=False), dtype=np.bool_),
        np.unique(np.array(pairs), return_inverse=True)[1].astype(np.int64),
        np.unique(np.array(sources), return_inverse=True)[1].astype(np.int64),
        np.array([one or "" for one in table["category"].to_pylist()], dtype=np.str_),
        pairs,
        sources,
    )
