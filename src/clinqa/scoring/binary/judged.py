"""A run's answers beside the labels: a code an item, and a row of counts an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.statuses import STATUSES
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.inputs import Run

__all__ = [
    "COLUMNS",
    "NOT_ASKED",
    "Judged",
    "common_repeats",
    "counts_of",
    "how_of",
    "judge",
    "repeats_of",
    "right_of",
]

Floats = npt.NDArray[np.float64]
Answers = npt.NDArray[np.int8]

NOT_ASKED = -2
_MOST_REPEATS = 60
#: Of an item: which cell it falls into (an unanswered one in a cell of its own), what its pair is
#: (on the first statement of a pair that was asked whole), and the status of its answer.
COLUMNS = (
    *("true_right", "true_wrong", "true_silent", "false_right", "false_wrong", "false_silent"),
    *("pairs", "pair_both", "pair_one", "pair_none"),
    *STATUSES,
)
_PLACE = {name: place for place, name in enumerate(COLUMNS)}
_CODES = {"true": 1, "false": 0}

ITEMS = pa.schema(
    [
        ("run", pa.string()),
        ("model", pa.string()),
        ("item_id", pa.string()),
        ("repeat", pa.int32()),
        ("pair_id", pa.string()),
        ("source_id", pa.string()),
        ("category", pa.string()),
        ("label", pa.bool_()),
        ("answer", pa.string()),
        ("answer_status", pa.string()),
        ("right", pa.bool_()),
    ]
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A run, or a vote of runs, over all statements.

    `answers` has a row a repeat: 1 True, 0 False, -1 none, -2 not asked. `rows` are counts by item,
    the mean over its repeats; zero where the item was not asked.
    """

    id: str
    name: str
    model: str
    shots: int
    how: str
    answers: Answers
    rows: Floats
    statuses: Mapping[str, int]
    unknown: int = 0
    run: Run | None = None
    members: tuple[str, ...] = ()

    @property
    def repeats(self) -> int:
        """How often it was asked."""
        return len(self.answers)

    @property
    def asked(self) -> npt.NDArray[np.bool_]:
        """Which statements it was asked."""
        return np.asarray((self.answers != NOT_ASKED).any(axis=0))

    @property
    def right(self) -> Floats:
        """Of each statement the share of repeats in which it was judged right."""
        made: Floats = self.rows[:, _PLACE["true_right"]] + self.rows[:, _PLACE["false_right"]]
        return made

    def said(self, repeats: int) -> Answers:
        """Its answers in so many repeats, its own in turn; where it was not asked a statement in
        one of them, what it said when it was first asked."""
        first = self.answers[(self.answers != NOT_ASKED).argmax(axis=0), range(len(self.rows))]
        whole = np.where(self.answers == NOT_ASKED, first, self.answers)
        made: Answers = whole[np.arange(repeats) % self.repeats]
        return made


def common_repeats(judged: Sequence[Judged]) -> int:
    """In how many repeats each of them has given each of its answers equally often; of odd
    numbers together, as many as the most patient was asked."""
    times = [one.repeats for one in judged]
    together = lcm(*times)
    return together if together <= _MOST_REPEATS else max(times)


def judge(run: Run, statements: Statements) -> tuple[Judged, pa.Table]:
    """The run's answers as codes and counts, and its rows of items.parquet."""
    table = run.predictions()
    place = {name: row for row, name in enumerate(statements.ids)}
    found = np.array([place.get(name, -1) for name in table["item_id"].to_pylist()], np.int64)
    unknown = int((found < 0).sum())
    if unknown == len(found):
        raise ConfigError(f"{run.folder}: answers no item of split {run.split}")
    table, found = table.filter(pa.array(found >= 0)), found[found >= 0]
    repeat = table["repeat"].to_numpy().astype(np.int64)
    if len(np.unique(np.stack([found, repeat], axis=1), axis=0)) < len(found):
        raise ConfigError(
            f"{run.folder}: answers an item twice in one repeat; is it of several models?"
        )
    answers, statuses = _answers(run, table)
    parts = repeats_of(found, repeat, answers, statuses, statements)
    rows = np.sum([counts for _, counts in parts], axis=0)
    times = np.sum([own != NOT_ASKED for own, _ in parts], axis=0)
    rows /= np.maximum(times, 1)[:, None]
    made = Judged(
        id=run.id,
        name=run.name,
        model=run.model,
        shots=run.shots,
        how=how_of(run),
        answers=np.stack([own for own, _ in parts]),
        rows=rows,
        statuses=Counter(statuses),
        unknown=unknown,
        run=run,
    )
    return made, _rows(run, statements, found, repeat, answers, statuses)


def repeats_of(
    found: npt.NDArray[np.int64],
    repeat: npt.NDArray[np.int64],
    answers: Sequence[str | None],
    statuses: Sequence[str],
    statements: Statements,
) -> list[tuple[Answers, Floats]]:
    """Of each repeat the code of each statement and its row of counts. `found` and `repeat` say
    which statement each answer is to, and in which repeat it was given."""
    codes = np.array([_CODES.get(answer or "", -1) for answer in answers], np.int8)
    words = np.array(statuses, dtype=object)
    parts = []
    for number in np.unique(repeat):
        at = repeat == number
        own = np.full(len(statements), NOT_ASKED, np.int8)
        own[found[at]] = codes[at]
        said = np.full(len(statements), "", dtype=object)
        said[found[at]] = words[at]
        parts.append((own, counts_of(own, said.tolist(), statements)))
    return parts


def how_of(run: Run) -> str:
    """How answers came about; part of every signature."""
    if run.configuration.get("constrained"):
        return "the likelier of True and False"
    return "read from the text"


def counts_of(codes: Answers, statuses: Sequence[str], statements: Statements) -> Floats:
    """The row of counts of each statement."""
    made = np.zeros((len(statements), len(COLUMNS)))
    gold, asked = statements.gold, codes != NOT_ASKED
    right = right_of(codes, statements)
    for truth, name in ((True, "true"), (False, "false")):
        own = asked & (gold == truth)
        made[own & right, _PLACE[f"{name}_right"]] = 1
        made[own & ~right & (codes >= 0), _PLACE[f"{name}_wrong"]] = 1
        made[own & (codes == -1), _PLACE[f"{name}_silent"]] = 1
    for row, status in enumerate(statuses):
        if status:
            made[row, _PLACE[status]] = 1
    _count_pairs(made, right, asked, statements)
    return made


def right_of(codes: Answers, statements: Statements) -> npt.NDArray[np.bool_]:
    """Which statements were judged right; no answer is not right."""
    return np.asarray((codes >= 0) & ((codes == 1) == statements.gold))


def _count_pairs(
    made: Floats,
    right: npt.NDArray[np.bool_],
    asked: npt.NDArray[np.bool_],
    statements: Statements,
) -> None:
    """Of each pair that was asked whole: both right, one, or none."""
    order = np.argsort(statements.pair, kind="stable")
    first = np.flatnonzero(np.diff(statements.pair[order], prepend=-1))
    size = np.diff(np.append(first, len(order)))
    whole = np.add.reduceat(asked[order].astype(np.int64), first) == 2
    hits = np.add.reduceat(right[order].astype(np.int64), first)
    chosen = whole & (size == 2)
    heads = order[first]
    made[heads[chosen], _PLACE["pairs"]] = 1
    for number, name in ((2, "pair_both"), (1, "pair_one"), (0, "pair_none")):
        made[heads[chosen & (hits == number)], _PLACE[name]] = 1


def _answers(run: Run, table: pa.Table) -> tuple[list[str | None], list[str]]:
    """Answers and statuses as predict read them; ConfigError where they are none of its own."""
    answers: list[str | None] = table["answer"].to_pylist()
    statuses: list[str] = table["answer_status"].to_pylist()
    for answer, status in zip(answers, statuses, strict=True):
        if status not in STATUSES or (status == "answered") != (answer in _CODES):
            raise ConfigError(
                f"{run.folder}: holds answers that are neither true nor false; was it asked by an "
                "older version? Run its predict again"
            )
    return answers, statuses


def _rows(
    run: Run,
    statements: Statements,
    found: npt.NDArray[np.int64],
    repeat: npt.NDArray[np.int64],
    answers: Sequence[str | None],
    statuses: Sequence[str],
) -> pa.Table:
    places = found.tolist()
    gold = statements.gold[found]
    said = np.array([_CODES.get(answer or "", -1) for answer in answers])
    columns = {
        "run": [run.id] * len(places),
        "model": [run.model] * len(places),
        "item_id": [statements.ids[at] for at in places],
        "repeat": repeat.astype(np.int32),
        "pair_id": [statements.pair_ids[at] for at in places],
        "source_id": [statements.source_ids[at] for at in places],
        "category": statements.category[found].tolist(),
        "label": gold,
        "answer": answers,
        "answer_status": statuses,
        "right": (said >= 0) & ((said == 1) == gold),
    }
    return pa.table(columns, schema=ITEMS)
