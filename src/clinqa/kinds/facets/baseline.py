"""What models without weights answer: the lower bounds that every table should have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Baseline"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The facet. `own` is everywhere the kind's part of an item as it was shown (`Asks.own`).

    columns  what `baseline:prior` reads of train
    counted  of a table with these, what is counted: the columns that tell questions apart, what may
             be let go first first, and `answer`
    stratum  the same of an item that is asked, from category and `own`
    passage  what `baseline:retrieval` takes a sentence of, from context and `own`; None where no
             sentence answers such an item
    others   further baselines by name, from `own`
    words    the two answers that `baseline:bag-of-words` tells apart by the question's words
    """

    columns: tuple[str, ...] = ("category", "answer")
    counted: Callable[[pa.Table], pa.Table] = lambda table: table
    stratum: Callable[[str, Any], tuple[str, ...]] = lambda category, own: (category,)
    passage: Callable[[str, Any], str] | None = lambda context, own: context
    others: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    words: tuple[str, str] | None = None
