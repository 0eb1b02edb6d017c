"""What an answer picks, read in three ways: each option by its place in the bank, or none.

first_token   the letter with the highest log-probability as the first word; equal ones are none
string        what the text commits to, by rules (predict/answers): letter, or an option's text
matcher       what a small trained classifier finds in the text (matching/)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.scoring.choice.asked import Asked
from clinqa.scoring.choice.questions import Questions

__all__ = ["ITEMS", "READERS", "Match", "Reading", "readings_of", "rows_of"]

READERS = ("string", "first_token", "matcher")
Match = Callable[[str, Sequence[str]], int | None]
"""From an output and the options as they stood to the place of the one it picks."""

#: items.parquet: a row for each prompt and reader.
ITEMS = pa.schema(
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
class Reading:
    """A run read in one way. `place` is where the picked option stood, -1 where there is none."""

    asked: Asked
    reader: str
    place: npt.NDArray[np.int64]
    picked: npt.NDArray[np.int64]
    right: npt.NDArray[np.bool_]
    status: Sequence[str]


def readings_of(asked: Asked, questions: Questions, match: Match | None) -> list[Reading]:
    """Every way in which this run can be read."""
    made = []
    if asked.writes:
        places = [_letter(answer) for answer in asked.answer]
        made.append(_reading(asked, questions, "string", places, asked.status))
    if all(own is not None for own in asked.weighed) or not asked.writes:
        places = [_highest(own) for own in asked.weighed]
        status = ["answered" if place >= 0 else "ambiguous" for place in places]
        status = [
            "error" if whole == "error" else one
            for one, whole in zip(status, asked.status, strict=True)
        ]
        made.append(_reading(asked, questions, "first_token", places, status))
    if asked.writes and match is not None:
        made.append(_matched(asked, questions, match))
    return made


def _matched(asked: Asked, questions: Questions, match: Match) -> Reading:
    places, status = [], []
    for row, order, output, read in zip(
        asked.item.tolist(), asked.order, asked.output, asked.status, strict=True
    ):
        if read in ("error", "refused") and not output.strip():
            places.append(-1)
            status.append(read)
            continue
        options = questions.options[row]
        found = match(output, [options[at] for at in order])
        places.append(-1 if found is None else found)
        none = "empty" if not output.strip() else "unreadable"
        status.append(none if found is None else "answered")
    return _reading(asked, questions, "matcher", places, status)


def _reading(
    asked: Asked,
    questions: Questions,
    reader: str,
    places: Sequence[int],
    status: Sequence[str],
) -> Reading:
    place = np.array(places, np.int64)
    told = zip(places, asked.order, strict=True)
    picked = np.array([own[at] if 0 <= at < len(own) else -1 for at, own in told], np.int64)
    place[picked < 0] = -1
    # a bank may give one text to two options: then either of them is the right one
    right = np.array([
        at >= 0 and questions.options[row][at] == questions.options[row][gold]
        for at, row, gold in zip(
            picked.tolist(), asked.item.tolist(), questions.gold[asked.item].tolist(), strict=True
        )
    ], np.bool_)  # fmt: skip
    return Reading(asked, reader, place, picked, right, status)


def _letter(answer: str | None) -> int:
    return LETTERS.find(answer) if answer else -1


def _highest(weighed: Sequence[float] | None) -> int:
    """The place of the highest; none where two are equal."""
    if not weighed:
        return -1
    best = max(weighed)
    return weighed.index(best) if list(weighed).count(best) == 1 else -1


def rows_of(reading: Reading, questions: Questions) -> pa.Table:
    """Its rows of items.parquet."""
    asked = reading.asked
    rows = asked.item.tolist()
    gold = questions.gold[asked.item].tolist()
    count = len(rows)
    columns = {
        "run": [asked.run.id] * count,
        "model": [asked.run.model] * count,
        "item_id": [questions.ids[row] for row in rows],
        "group": questions.cluster[asked.item],
        "category": questions.category[asked.item].tolist(),
        "repeat": asked.repeat.astype(np.int32),
        "order": asked.variant.astype(np.int32),
        "options": [list(own) for own in asked.order],
        "positional": asked.positional,
        "reader": [reading.reader] * count,
        "picked": [LETTERS[at] if at >= 0 else None for at in reading.place.tolist()],
        "picked_index": [at if at >= 0 else None for at in reading.picked.tolist()],
        "gold": [LETTERS[own.index(at)] for own, at in zip(asked.order, gold, strict=True)],
        "gold_index": np.array(gold, np.int32),
        "right": reading.right,
        "answer_status": list(reading.status),
    }
    return pa.table(columns, schema=ITEMS)
