"""The facet `exports`: an item as other tools take it. `dataset.export` writes their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Exports"]

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Exports:
    """How an item of a kind stands in chats, tasks of lm-eval and samples of Inspect.

    Functions are given an item's own `columns` and what all have: id, category, source_id.
    """

    about: str
    """What the items are, as a title says it."""
    columns: Sequence[str]
    asked: Callable[[Item], str]
    """The item as a model is asked it."""
    answer: Callable[[Item], str]
    """What the model should say."""
    told: Sequence[str]
    """Columns of its own that every format tells beside an item."""
    document: Callable[[Item], Mapping[str, Any]]
    """What the prompt of `task` is filled with, and the target."""
    task: Mapping[str, Any]
    """Of a task of lm-eval: how documents are asked and measured."""
    scorer: tuple[str, str]
    """The scorer of Inspect and its arguments, as code."""
    together: str = "id"
    """The column whose items are exported all or none, under a limit."""
