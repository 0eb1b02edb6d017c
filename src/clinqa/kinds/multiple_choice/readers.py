"""What an answer picks, read in three ways: each option by its place in the bank, or none.

first_token   the letter with the highest log-probability as the first word; equal ones are none
string        what the text commits to, by rules (letters): letter, or an option's text
matcher       what a small trained classifier finds in the text (matching/)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clinqa.core.arrays import Bools, Ints
from clinqa.kinds.facets.judges import SplitItems
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.kinds.multiple_choice.prompted import Prompted

__all__ = ["READERS", "Match", "Picks", "picks_of", "rows_of"]

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
