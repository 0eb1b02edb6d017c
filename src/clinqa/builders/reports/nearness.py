"""What train says of the statements that decide items: whether one stands there, how near one is.

Statements are known by the keys of their folded texts (`kinds.long_form.statements`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Float32s, UInt64s
from clinqa.kinds.long_form.statements import nearest

__all__ = ["DistinctKeys", "Nearness", "nearness"]


class DistinctKeys:
    """Distinct keys, gathered piece by piece."""

    def __init__(self) -> None:
        self._found: list[UInt64s] = []

    def add(self, keys: UInt64s) -> None:
        """Some more."""
        self._found.append(np.unique(keys))
        if len(self._found) > 32:
            self._found = [self.distinct()]

    def distinct(self) -> UInt64s:
        """All of them, in order."""
        return np.unique(np.concatenate([np.empty(0, np.uint64), *self._found]))


@dataclass(frozen=True, slots=True)
class Nearness:
    """Templates of train, and of all templates how near their nearest there is; both in order of
    their keys."""

    train: UInt64s
    keys: UInt64s
    values: Float32s

    def of(self, keys: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
        """Whether each is in train and how near it comes; null where there is no key."""
        none = keys.is_null().to_numpy()
        distinct, inverse = np.unique(keys.fill_null(0).to_numpy(), return_inverse=True)
        seen = np.isin(distinct, self.train)
        known = np.isin(distinct, self.keys)
        near = np.zeros(len(distinct), np.float32)
        near[known] = self.values[np.searchsorted(self.keys, distinct[known])]
        unknown = none | ~known[inverse]
        return (
            pa.array(seen[inverse], pa.bool_(), mask=none),
            pa.array(near[inverse], pa.float32(), mask=unknown),
        )


def nearness(templates: Mapping[int, str], train: UInt64s, others: UInt64s) -> Nearness:
    """How near the nearest template of train is to each of the others."""
    known = [templates[key] for key in train.tolist() if key in templates]
    asked = [key for key in others.tolist() if key in templates]
    found = nearest([templates[key] for key in asked], known)
    keys = np.concatenate([train, np.array(asked, np.uint64)])
    values = np.concatenate([np.ones(len(train)), np.array(found)]).astype(np.float32)
    order = np.argsort(keys)
    return Nearness(train, keys[order], values[order])
