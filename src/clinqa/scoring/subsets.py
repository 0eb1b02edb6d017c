"""The subsets of items that figures are given for: all, and by one property at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.scoring.inputs import Items

__all__ = ["Subset", "subsets_of"]


@dataclass(frozen=True, slots=True)
class Subset:
    """Some items. `name` is empty for all; `type` is the question type where there is one only.

    `graded` is False where all references are of one level, so that figures over classes would
    say nothing.
    """

    name: dict[str, str]
    mask: npt.NDArray[np.bool_]
    type: str | None
    graded: bool


def subsets_of(items: Items) -> Iterator[Subset]:
    """All items; by abnormality, level, question type; by whether the statement that decides the
    reference also decides an item of train (a model may have memorised it)."""
    types = np.array(items.column("question_type"))
    yield Subset({}, np.ones(len(items), bool), _only(types), True)
    levels = np.array(
        ["unmentioned" if level is None else str(level) for level in items.column("level")]
    )
    seen = np.array(["seen" if seen else "unseen" for seen in items.column("statement_seen")])
    properties = {
        "abnormality": (np.array(items.column("category")), np.ones(len(items), bool)),
        "level": (levels, np.ones(len(items), bool)),
        "question_type": (types, np.ones(len(items), bool)),
        # what no statement decides is neither seen nor unseen
        "seen": (seen, levels != "unmentioned"),
    }
    for key, (values, among) in properties.items():
        for value in sorted(set(values[among].tolist())):
            mask = (values == value) & among
            yield Subset({key: value}, mask, _only(types[mask]), key != "level")


def _only(types: npt.NDArray[np.str_]) -> str | None:
    found = set(types.tolist())
    return found.pop() if len(found) == 1 else None
