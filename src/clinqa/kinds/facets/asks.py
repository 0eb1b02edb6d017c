"""How items of a kind are asked: what is read of them, how a question is shown, what is weighed.

The wording is `wording.yaml` in the kind's folder: `id`, `fence`, `system`, `user` and
`user_without_context`, texts with the holes {fence}, {context} and {question}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

import pyarrow as pa

__all__ = ["DESIGNS", "MOST_ORDERS", "WORDING", "Asks", "Beside", "Cannot", "Forms", "Question",
           "Shots", "Weighs"]  # fmt: skip

WORDING = "wording.yaml"
DESIGNS = ("random", "cyclic")
"""How orders are drawn, of kinds that have the ability `orders`: no two alike, or one drawn order
and its rotations."""
MOST_ORDERS = 1_000
"""Ten options have 3,628,800 orders; nobody asks for them, and drawing them would not end."""


@dataclass(frozen=True, slots=True)
class Question:
    """What of an item decides how it is asked; the reference answer is not among it.

    `own` is what its kind keeps of it (`Asks.own`): the options, say.
    """

    id: str
    group: str
    question: str
    context: str
    category: str
    own: Any = None


class Forms(Protocol):
    """The forms in which each item of a run is asked; an item's variants are numbered from 0."""

    @property
    def total(self) -> int:
        """Prompts of one repeat."""

    @property
    def says(self) -> str:
        """What they are, in words after the number of all of them: "orders of options in all"."""

    @property
    def notes(self) -> Sequence[str]:
        """What people should know of them, a line each."""

    def variants(self, item_id: str) -> int:
        """In how many forms an item is asked."""

    def shown(self, item_id: str, variant: int) -> Any:
        """The kind's part of the item in that form."""

    def row(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The row of the kind's own file for one answer of the journal."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """Items that are not asked: the reason they are counted under, and what is said of them.

    `fits` gives a mask over the rows of a table: those that can be asked.
    """

    reason: str
    says: str
    fits: Callable[[pa.Table], Any]


@dataclass(frozen=True, slots=True)
class Beside:
    """A file of the kind's own beside the predictions, a row for each prompt.

    It has item_id, repeat and variant; `weighed` is its column of log-probabilities.
    """

    name: str
    schema: pa.Schema
    weighed: str


@dataclass(frozen=True, slots=True)
class Weighs:
    """The answers that are weighed against each other, from the kind's part of the item as shown,
    and what they are called at the beginning of a sentence."""

    words: Callable[[Any], Sequence[str]]
    says: str


@dataclass(frozen=True, slots=True)
class Shots:
    """Solved items of train.

    `candidates` leaves, of a table with id, group, answer and `columns`, the rows that can be shown
    and, after id and group, the columns in which shots are to differ. `solved` gives question and
    answer of a row that has question and context too.
    """

    columns: tuple[str, ...]
    candidates: Callable[[pa.Table], pa.Table]
    solved: Callable[[Mapping[str, Any]], tuple[str, str]] = lambda row: (
        row["question"],
        row["answer"].strip(),
    )


@dataclass(frozen=True, slots=True)
class Asks:
    """The facet.

    columns   the kind's own columns that are read when an item is asked
    own       of a table with these, the kind's part of each row
    show      the question as it stands in the prompt, from the question and the kind's part
    cannot    what is not asked, and why
    forms     the forms of all items of a run, from (items, orders, design, seed); orders is None
              where none were asked for. An item has one form, itself, where the kind has none
    told      what the manifest says of it, from (orders, design, are words weighed beside?)
    """

    shots: Shots
    columns: tuple[str, ...] = ()
    own: Callable[[pa.Table], Iterable[Any]] = lambda table: repeat(None, table.num_rows)
    show: Callable[[str, Any], str] = lambda question, own: question
    cannot: Cannot | None = None
    forms: Callable[[Iterable[Question], int | None, str, int], Forms] | None = None
    told: Callable[[int | None, str, bool], dict[str, Any]] = lambda orders, design, weighed: {}
    beside: Beside | None = None
    weighs: Weighs | None = None
