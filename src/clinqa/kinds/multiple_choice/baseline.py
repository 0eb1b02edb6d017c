"""Prior: the letter that is right most often in train, as the bank has it; retrieval: the option
that shares most with the question where there is no context; longest: the longest option."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from clinqa.kinds.facets.baseline import Baseline
from clinqa.kinds.multiple_choice.choices import LETTERS

__all__ = ["BASELINE", "longest"]


def _letters(table: pa.Table) -> pa.Table:
    """The letter of the right option, as the bank has it, as the answer."""
    at = table["answer_index"]
    places = pc.if_else(pc.less(at, len(LETTERS)), at, None)
    letters = pc.take(pa.array([*LETTERS], pa.string()), places)
    return table.select(["category"]).append_column("answer", letters)


def longest(options: Sequence[str]) -> str:
    """The longest option; of equal ones the text that sorts first, wherever they stand."""
    return min(options, key=lambda option: (-len(option), option))


BASELINE = Baseline(
    columns=("category", "answer_index"),
    counted=_letters,
    passage=lambda context, own: context or "\n\n".join(own),
    others={"longest": longest},
)
