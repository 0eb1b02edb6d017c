"""Multiple-choice items as they are asked: with letters, and in several orders of their options.

random  each order drawn by (seed, item), no two alike
cyclic  one drawn order and its rotations, so that with as many orders as options each option
        stands once in each place; then another drawn order and its rotations

Without orders an item is asked as its bank has it. An item with an option that speaks of others
("both A and C") is asked once, unshuffled and marked, whatever the orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import pyarrow as pa

from clinqa.core.ids import rng

__all__ = [
    "CHOICES",
    "CHOICES_FILE",
    "LAYOUT",
    "LETTERS",
    "OptionOrders",
    "is_positional",
    "orders_of",
    "solved",
    "speaks_of_others",
    "with_options",
]

_SOME = r"(?:all|none|any|both|either|neither|some|most|each|one|two|three|more\s+than\s+one)"
_PLACE = r"(?:above|below|preceding|previous|foregoing|aforementioned|following)"
_OTHERS = r"(?:options?|choices?|answers?|alternatives?)"
_L = r"\(?[A-H]\)?"  # no I: that is a number in "I only"
_JOIN = r"\s*(?:,|;|&|\+|/|\band\b|\bor\b|\bnor\b)+\s*"
_ANYWHERE = re.compile(
    rf"\b{_SOME}\s+(?:of\s+)?(?:the\s+)?{_PLACE}(?!\s+\d|\s+the\b)\b"
    rf"|\b{_SOME}\s+(?:of\s+)?(?:the\s+)?(?:{_PLACE}\s+|other\s+|listed\s+)?{_OTHERS}\b"
    rf"|\b(?:the\s+)?(?:first|last|other|two|three)\s+{_OTHERS}\b"
    rf"|\b(?:options?|choices?|answers?)\s+(?:{_L}|\d)(?![\w'])"
    rf"|\bsame\s+as\s+(?:the\s+)?(?:{_PLACE}|(?-i:{_L})(?![\w']))",
    re.I,
)
_WHOLE = re.compile(
    rf"\W*(?:(?:all|none|both|neither|either|any)\W*"
    rf"|(?:all|none|both|neither|either|any)\s+(?:of\s+)?(?:these|those|them|the\s+others?)\W*"
    rf"|(?:only|both|either|neither|all)\s+{_L}(?:{_JOIN}{_L})*\W*"
    rf"|both\s+(?-i:[A-H]{{2,4}})\W*"
    rf"|{_L}(?:{_JOIN}{_L})+(?:\W+(?:only|both|alone|together)\b)?\W*"
    rf"|{_L}(?:{_JOIN}{_L})*\W+(?:only|alone)\W*"
    rf"|{_L}(?:{_JOIN}{_L})*\s+(?:is|are)\s+(?:true|false|right|wrong|correct|incorrect)\b.*)",
    re.I | re.S,
)


def speaks_of_others(option: str) -> bool:
    """Does an option mean something only beside the others, or only where they stand?

    >>> [speaks_of_others(o) for o in ("Both A and C", "All of the above", "None", "B only")]
    [True, True, True, True]
    >>> [speaks_of_others(o) for o in ("Both GH and prolactin", "All above 60 years", "AB", "A")]
    [False, False, False, False]
    """
    return _WHOLE.fullmatch(option) is not None or _ANYWHERE.search(option) is not None


def is_positional(options: Sequence[str]) -> bool:
    """Does any option depend on the order of the options?"""
    return any(map(speaks_of_others, options))


LETTERS = "ABCDEFGHIJ"
"""The most options an item can be asked with."""
LAYOUT = "one option a line: letter, bracket, text"

Order = tuple[int, ...]
"""Which of the bank's options stands in each place."""

CHOICES_FILE = "choices.parquet"
#: A row for each prompt of a run: how its options stood, and what the letters weighed.
CHOICES = pa.schema(
    [
        ("item_id", pa.string()),
        ("repeat", pa.int32()),
        ("variant", pa.int32()),
        # of the place: the index of the bank's option that stood there
        ("order", pa.list_(pa.int32())),
        ("positional", pa.bool_()),
        # of the place: log-probability of its letter as the first word; null where not asked
        ("log_probabilities", pa.list_(pa.float64())),
    ]
)


def with_options(question: str, options: Sequence[str]) -> str:
    """The question with its options.

    >>> print(with_options("Which? ", ["this", "that"]))
    Which?
    <BLANKLINE>
    A) this
    B) that
    """
    lines = [
        f"{letter}) {' '.join(option.split())}"
        for letter, option in zip(LETTERS, options, strict=False)
    ]
    return "\n".join([question.strip(), "", *lines])


def orders_of(
    item_id: str, options: Sequence[str], orders: int | None, design: str, seed: int
) -> list[Order]:
    """The orders in which an item is asked: one where it cannot be shuffled.

    >>> orders_of("q1", "wxyz", 4, "cyclic", 0)
    [(1, 2, 0, 3), (2, 0, 3, 1), (0, 3, 1, 2), (3, 1, 2, 0)]
    >>> orders_of("q1", ["x", "y", "Both A and B"], 4, "random", 0)
    [(0, 1, 2)]
    """
    count = len(options)
    own = tuple(range(count))
    if orders is None or is_positional(options):
        return [own]
    draw = rng(seed, f"option orders, {design}", item_id)
    wanted = min(orders, factorial(count))
    found: dict[Order, None] = {}
    while len(found) < wanted:
        base = list(own)
        draw.shuffle(base)
        if design == "random" or tuple(base) in found:
            found.setdefault(tuple(base))
            continue
        for turn in range(count):
            found.setdefault(tuple(base[turn:] + base[:turn]))
    return list(found)[:wanted]


def solved(
    item_id: str, question: str, options: Sequence[str], answer_index: int
) -> tuple[str, str]:
    """Question with options and its right answer, as shots and training show them.

    The options stand in one order that hangs on the item alone, so that no letter is right more
    often than others because a bank likes it.

    >>> solved("q1", "Which?", ["this", "that"], 0)[1]
    'B) this'
    """
    [order] = orders_of(item_id, options, 1, "random", 0)
    letter = LETTERS[order.index(answer_index)]
    shown = with_options(question, [options[place] for place in order])
    return shown, f"{letter}) {' '.join(options[answer_index].split())}"


@dataclass(frozen=True, slots=True)
class OptionOrders:
    """The options and the orders of every item of a run; `kinds.facets.asks.Forms`."""

    options: Mapping[str, tuple[str, ...]]
    orders: Mapping[str, list[Order]]
    drawn: bool = True
    says = "orders of options in all"

    @classmethod
    def of(
        cls,
        items: Iterable[tuple[str, tuple[str, ...]]],
        orders: int | None,
        design: str,
        seed: int,
    ) -> OptionOrders:
        """From (id, options) of each item."""
        options = dict(items)
        drawn = {name: orders_of(name, own, orders, design, seed) for name, own in options.items()}
        return cls(options, drawn, orders is not None)

    @property
    def total(self) -> int:
        """Prompts of one repeat."""
        return sum(map(len, self.orders.values()))

    @property
    def notes(self) -> list[str]:
        """How many items have options that speak of others, where orders were drawn."""
        unshuffled = sum(map(is_positional, self.options.values())) if self.drawn else 0
        return [
            f"{unshuffled:,} of {len(self.options):,} items have options that speak of others: "
            "asked once, unshuffled"
        ][: bool(unshuffled)]

    def variants(self, item_id: str) -> int:
        """In how many orders an item is asked."""
        return len(self.orders[item_id])

    def shown(self, item_id: str, variant: int) -> tuple[str, ...]:
        """The options in the order of a variant."""
        options = self.options[item_id]
        return tuple(options[place] for place in self.orders[item_id][variant])

    def row(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The row of CHOICES of a journal's record."""
        item_id, variant = record["item_id"], record.get("variant", 0)
        return {
            "item_id": item_id,
            "repeat": record["repeat"],
            "variant": variant,
            "order": list(self.orders[item_id][variant]),
            "positional": is_positional(self.options[item_id]),
            "log_probabilities": record.get("weighed"),
        }
