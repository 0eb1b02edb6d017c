"""A run's prompts and answers: which item, in which order of its options, and what came back.

What an answer picks, read in three ways: each option by its place in the bank, or none.

first_token   the letter with the highest log-probability as the first word; equal ones are none
string        what the text commits to, by rules (letters): letter, or an option's text
matcher       what a small trained classifier finds in the text (matching/)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Bools, Ints
from clinqa.core.errors import ConfigError
from clinqa.core.finished import Finished
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.kinds.facets.judges import SplitItems, codes_of, of_split
from clinqa.kinds.multiple_choice.choices import CHOICES, CHOICES_FILE, LETTERS

__all__ = [
    "READERS",
    "Match",
    "Picks",
    "Prompted",
    "by_order",
    "design_of",
    "load_questions",
    "picks_of",
    "prompted_by",
    "rows_of",
    "shuffled",
]

_PLACE = ("item_id", "repeat", "variant")
_BY_PLACE = [(name, "ascending") for name in _PLACE]


@dataclass(frozen=True, slots=True)
class Prompted:
    """Prompts in the order of item, repeat and variant; a row each.

    `item` is the question's row. `order` tells which of the bank's options stood in each place;
    `weighed` the log-probability of each place's letter, where the run has them.
    """

    run: FinishedRun
    item: Ints
    repeat: Ints
    variant: Ints
    order: Sequence[tuple[int, ...]]
    positional: Bools
    weighed: Sequence[Sequence[float] | None]
    output: Sequence[str]
    answer: Sequence[str | None]
    status: Sequence[str]
    unknown: int

    def __len__(self) -> int:
        return len(self.item)

    @property
    def statuses(self) -> Mapping[str, int]:
        """How many answers are of each status, as predict read them."""
        return Counter(self.status)


def load_questions(table: pa.Table, folder: Path) -> SplitItems:
    """The questions, each drawn again with its near-duplicates."""
    options, gold = table["options"].to_pylist(), table["answer_index"].to_pylist()
    if any(
        at is None or not 0 <= at < len(own or ()) for at, own in zip(gold, options, strict=True)
    ):
        raise ConfigError(
            f"{folder}: an item whose answer is none of its options; run `clinqa verify` on the "
            "folder"
        )
    ids, groups = table["id"].to_pylist(), table["group"].to_pylist()
    category = [one or "" for one in table["category"].to_pylist()]
    made = pa.table(
        {"id": ids, "options": options, "answer_index": pa.array(gold, pa.int64()),
         "category": category}
    )  # fmt: skip
    own = [one or name for one, name in zip(groups, ids, strict=True)]
    return SplitItems(made, {"cluster": codes_of(own)})


def _told(run: FinishedRun) -> Mapping[str, Any]:
    return run.manifest.configuration.get("choices") or {}


def shuffled(run: FinishedRun) -> bool:
    """Were the options shown in several orders?"""
    return bool(_told(run).get("orders"))


def design_of(run: FinishedRun) -> str:
    """How the options of a run were ordered, for signatures."""
    told = _told(run)
    return f"{told['orders']} {told.get('design')} orders" if shuffled(run) else "the bank's order"


def prompted_by(run: FinishedRun, items: SplitItems) -> Prompted:
    """The prompts of a run; ConfigError where its files do not belong together."""
    predictions = run.predictions(also=("variant",)).sort_by(_BY_PLACE)
    orders = run.beside(CHOICES_FILE, CHOICES).sort_by(_BY_PLACE)
    answers, found, unknown = of_split(run, predictions, items, ("repeat", "variant"))
    if predictions.num_rows != orders.num_rows or not all(
        predictions[name].equals(orders[name]) for name in _PLACE
    ):
        raise ConfigError(
            f"{run.folder}: predictions and {CHOICES_FILE} tell of other prompts; run predict again"
        )
    if unknown:
        orders = orders.filter(pc.is_in(orders["item_id"], items.table["id"]))
    shown = [tuple(own) for own in orders["order"].to_pylist()]
    sizes = [len(own) for own in items.column("options")]
    for row, own in zip(found.tolist(), shown, strict=True):
        if sorted(own) != list(range(sizes[row])):
            raise ConfigError(
                f"{run.folder / CHOICES_FILE}: an order that is none of its item's options; "
                "run predict again"
            )
    statuses = answers["answer_status"].to_pylist()
    if set(statuses) - set(STATUSES):
        raise ConfigError(f"{run.folder}: holds unknown statuses; run its predict again")
    return Prompted(
        run=run,
        item=found,
        repeat=answers["repeat"].to_numpy().astype(np.int64),
        variant=answers["variant"].to_numpy().astype(np.int64),
        order=shown,
        positional=orders["positional"].to_numpy(zero_copy_only=False).astype(np.bool_),
        weighed=orders["log_probabilities"].to_pylist(),
        output=[text or "" for text in answers["output"].to_pylist()],
        answer=answers["answer"].to_pylist(),
        status=statuses,
        unknown=unknown,
    )


def by_order(
    run: Finished, items: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, int, bool | None]]:
    """Item, number of the order, and whether the letter stands for the right option."""
    columns = ("item_id", "variant", "answer", "answer_status")
    said = run.parquet(PREDICTIONS_FILE, columns).to_pylist()
    shown = run.parquet(CHOICES_FILE, ("item_id", "variant", "order")).to_pylist()
    orders = {(row["item_id"], row["variant"]): row["order"] for row in shown}
    for row in said:
        key = row["item_id"], row["variant"]
        gold = items[row["item_id"]]["answer_index"]
        yield (*key, _right(row["answer"], row["answer_status"], orders[key], gold))


def _right(answer: str | None, status: str, order: Sequence[int], gold: int) -> bool | None:
    """Does the letter stand for the right option? What cannot be read is wrong, not missing."""
    if status == "error":
        return None
    if not answer:
        return False
    place = ord(answer[0].upper()) - ord("A")
    return 0 <= place < len(order) and order[place] == gold


READERS = ("string", "first_token", "matcher")
Match = Callable[[str, Sequence[str]], int | None]
"""From an output and the options as they stood to the place of the one it picks."""

#: items.parquet: a row for each prompt and reader.
ROWS = pa.schema(
    [
        ("run", pa.string()),
        ("model", pa.string()),
        ("item_id", pa.string()),
        ("group", pa.int64()),
        ("category", pa.string()),
        ("repeat", pa.int32()),
        ("order", pa.int32()),  # the number of the order; `options` tells it
        ("options", pa.list_(pa.int32())),  # of the place: which of the bank's options stood there
        ("positional", pa.bool_()),
        ("reader", pa.string()),
        ("picked", pa.string()),  # letter as it stood; null: no answer
        ("picked_index", pa.int32()),  # which of the bank's options that is
        ("gold", pa.string()),  # the right letter in this order
        ("gold_index", pa.int32()),
        ("right", pa.bool_()),
        ("answer_status", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Picks:
    """A run read in one way. `place` is where the picked option stood, -1 where there is none;
    `gold` where the right one stood."""

    asked: Prompted
    reader: str
    place: Ints
    picked: Ints
    gold: Ints
    right: Bools
    status: Sequence[str]


def picks_of(asked: Prompted, items: SplitItems, match: Match | None) -> Iterator[Picks]:
    """Every way in which this run can be read."""
    writes = not asked.run.constrained
    if writes:
        places = [LETTERS.find(answer) if answer else -1 for answer in asked.answer]
        yield _picks(asked, items, "string", places, asked.status)
    if all(own is not None for own in asked.weighed) or not writes:
        places = [_highest(own) for own in asked.weighed]
        status = [
            "error" if whole == "error" else "answered" if place >= 0 else "ambiguous"
            for place, whole in zip(places, asked.status, strict=True)
        ]
        yield _picks(asked, items, "first_token", places, status)
    if writes and match is not None:
        yield _picks(asked, items, "matcher", *_matched(asked, items, match))


def _matched(asked: Prompted, items: SplitItems, match: Match) -> tuple[list[int], list[str]]:
    places, status = [], []
    texts = items.column("options")
    for row, order, output, read in zip(
        asked.item.tolist(), asked.order, asked.output, asked.status, strict=True
    ):
        if read in ("error", "refused") and not output.strip():
            places.append(-1)
            status.append(read)
            continue
        found = match(output, [texts[row][at] for at in order])
        places.append(-1 if found is None else found)
        none = "empty" if not output.strip() else "unreadable"
        status.append(none if found is None else "answered")
    return places, status


def _picks(
    asked: Prompted, items: SplitItems, reader: str, places: Sequence[int], status: Sequence[str]
) -> Picks:
    place, texts = np.array(places, np.int64), items.column("options")
    told = zip(places, asked.order, strict=True)
    picked = np.array([own[at] if 0 <= at < len(own) else -1 for at, own in told], np.int64)
    place[picked < 0] = -1
    rows = asked.item.tolist()
    gold = items.table["answer_index"].to_numpy()[asked.item].tolist()
    # a bank may give one text to two options: then either of them is the right one
    right = [
        at >= 0 and texts[row][at] == texts[row][own]
        for at, row, own in zip(picked.tolist(), rows, gold, strict=True)
    ]
    stood = [order.index(own) for order, own in zip(asked.order, gold, strict=True)]
    return Picks(
        asked, reader, place, picked, np.array(stood, np.int64), np.array(right, np.bool_), status
    )


def _highest(weighed: Sequence[float] | None) -> int:
    """The place of the highest; none where two are equal."""
    if not weighed:
        return -1
    best = max(weighed)
    return weighed.index(best) if list(weighed).count(best) == 1 else -1


def rows_of(picks: Picks, items: SplitItems) -> pa.Table:
    """Its rows of items.parquet."""
    asked = picks.asked
    own = items.table.take(pa.array(asked.item))
    count = len(asked)
    columns = {
        "run": [asked.run.id] * count,
        "model": [asked.run.model] * count,
        "item_id": own["id"],
        "group": items.cluster[asked.item],
        "category": own["category"],
        "repeat": asked.repeat,
        "order": asked.variant,
        "options": [list(order) for order in asked.order],
        "positional": asked.positional,
        "reader": [picks.reader] * count,
        "picked": [LETTERS[at] if at >= 0 else None for at in picks.place.tolist()],
        "picked_index": [at if at >= 0 else None for at in picks.picked.tolist()],
        "gold": [LETTERS[at] for at in picks.gold.tolist()],
        "gold_index": own["answer_index"],
        "right": picks.right,
        "answer_status": list(picks.status),
    }
    return pa.table({name: columns[name] for name in ROWS.names}).cast(ROWS)
