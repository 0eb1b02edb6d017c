"""How a question with options is asked: with letters, in one or several orders of its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clinqa.kinds.facets.asks import Asks, Beside, Cannot, Forms, Question, Shots, Weighs
from clinqa.kinds.multiple_choice.choices import (
    CHOICES,
    CHOICES_FILE,
    LAYOUT,
    LETTERS,
    OptionOrders,
    solved,
    with_options,
)

__all__ = ["ASKS"]


def _options(table: pa.Table) -> Iterable[tuple[str, ...]]:
    return (tuple(text or "" for text in own or ()) for own in table["options"].to_pylist())


def _fits(table: pa.Table) -> Any:
    """Which items have two options and no more than there are letters."""
    count = pc.fill_null(pc.list_value_length(table["options"]), 0)
    return pc.and_(pc.greater_equal(count, 2), pc.less_equal(count, len(LETTERS)))


def _orders(items: Iterable[Question], orders: int | None, design: str, seed: int) -> Forms:
    return OptionOrders.of(((item.id, item.own) for item in items), orders, design, seed)


def _told(orders: int | None, design: str, weighed: bool) -> dict[str, Any]:
    """What decides how options are asked."""
    return {
        "choices": {
            "orders": orders,
            "design": "bank" if orders is None else design,
            "layout": LAYOUT,
            "first_token": weighed,
        }
    }


def _candidates(table: pa.Table) -> pa.Table:
    """Shots alternate between letters: those of the right options as they would be shown."""
    table = table.filter(pc.and_(_fits(table), pc.is_valid(table["answer_index"])))
    rows = (table[name].to_pylist() for name in ("id", "options", "answer_index"))
    letters = [solved(name, "", own, at)[1][0] for name, own, at in zip(*rows, strict=True)]
    level = pa.nulls(table.num_rows, pa.int8())  # of another kind: a hash over three draws shots
    table = table.append_column("letter", pa.array(letters, pa.string()))
    names = ["id", "group", "letter", "level", "category"]
    return table.append_column("level", level).select(names)


def _solved(row: Mapping[str, Any]) -> tuple[str, str]:
    return solved(row["id"], row["question"], row["options"], row["answer_index"])


ASKS = Asks(
    shots=Shots(("category", "options", "answer_index"), _candidates, _solved),
    columns=("options",),
    own=_options,
    show=with_options,
    cannot=Cannot(
        "options",
        f"have fewer than two options or more than {len(LETTERS)}, and are not asked",
        _fits,
    ),
    forms=_orders,
    told=_told,
    beside=Beside(CHOICES_FILE, CHOICES, "log_probabilities"),
    weighs=Weighs(lambda own: LETTERS[: len(own)], "Letters"),
)
