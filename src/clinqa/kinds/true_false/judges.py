"""A run's answers beside the labels of statements: right, wrong or none, and what pairs are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Ints, Strings
from clinqa.core.errors import ConfigError
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.codes import NOT_ASKED, AnswerCodes
from clinqa.kinds.facets.judges import (
    JudgedAnswers,
    JudgedRun,
    Judges,
    OpenJudge,
    SplitItems,
    codes_of,
    of_split,
)
from clinqa.kinds.true_false.codes import CODE_OF, CODES, gold_of, how_of

__all__ = ["JUDGES", "PAIR", "SOURCE"]

PAIR, SOURCE = "pair", "source"

#: items.parquet: a row an item, run and repeat; no text.
ROWS = pa.schema(
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


def load_statements(table: pa.Table, folder: Path) -> SplitItems:
    """The statements, by pair and by source; one that belongs to none is one of its own."""
    if table["label"].null_count:
        raise ConfigError(
            f"{folder}: a statement without a label; run `clinqa verify` on the folder"
        )
    ids, columns = table["id"].to_pylist(), table.to_pydict()
    pairs = [pair or own for pair, own in zip(columns["pair_id"], ids, strict=True)]
    sources = [one or own for one, own in zip(columns["source_id"], pairs, strict=True)]
    made = pa.table(
        {
            "id": ids,
            "label": table["label"],
            "pair_id": pairs,
            "source_id": sources,
            "category": [one or "" for one in columns["category"]],
        }
    )
    return SplitItems(made, {PAIR: codes_of(pairs), SOURCE: codes_of(sources)})


class StatementJudge(OpenJudge):
    """Judges answers that predict has read as true or false; it needs nothing else."""

    def runs(self, run: FinishedRun, items: SplitItems) -> Iterator[tuple[JudgedRun, pa.Table]]:
        """The run's answers as codes and counts, and its rows of items.parquet."""
        table, found, unknown = _answers(run, items)
        codes, statuses = laid_out(table, found, len(items))
        yield (
            CODES.judged(
                codes, statuses, items, id=run.id, name=run.name, how=how_of(run), run=run,
                unknown=unknown,
            ),
            _rows(run, items, table, found),
        )  # fmt: skip

    def answers(self, run: FinishedRun, items: SplitItems) -> JudgedAnswers:
        """Every answer judged alone."""
        table, found, _ = _answers(run, items)
        judged = CODES.judge(*laid_out(table, found, len(items)), items)
        return replace(judged, of_kind=how_of(run))


def laid_out(table: pa.Table, found: Ints, items: int) -> tuple[AnswerCodes, Strings]:
    """The code and the status of every answer by repeat and item, for columns `answer`,
    `answer_status` and `repeat`; `found` says to which item each row is."""
    numbers, at = np.unique(table["repeat"].to_numpy(), return_inverse=True)
    codes = np.full((len(numbers), items), NOT_ASKED, np.int8)
    codes[at, found] = [CODE_OF.get(answer or "", -1) for answer in table["answer"].to_pylist()]
    statuses = np.full((len(numbers), items), "", f"U{max(map(len, STATUSES))}")
    statuses[at, found] = table["answer_status"].to_pylist()
    return codes, statuses


def _answers(run: FinishedRun, items: SplitItems) -> tuple[pa.Table, Ints, int]:
    """Answers and statuses as predict read them; ConfigError where they are none of its own."""
    table, found, unknown = of_split(run, run.predictions(), items)
    told = zip(table["answer"].to_pylist(), table["answer_status"].to_pylist(), strict=True)
    if any(
        status not in STATUSES or (status == "answered") != (answer in CODE_OF)
        for answer, status in told
    ):
        raise ConfigError(
            f"{run.folder}: holds answers that are neither true nor false; was it asked by an "
            "older version? Run its predict again"
        )
    return table, found, unknown


def _rows(run: FinishedRun, items: SplitItems, table: pa.Table, found: Ints) -> pa.Table:
    own = items.table.take(pa.array(found))
    said = np.array([CODE_OF.get(answer or "", -1) for answer in table["answer"].to_pylist()])
    gold = gold_of(items)[found]
    columns = {
        **{name: own[name] for name in ("pair_id", "source_id", "category", "label")},
        "run": [run.id] * len(found),
        "model": [run.model] * len(found),
        "item_id": own["id"],
        "repeat": table["repeat"],
        "answer": table["answer"],
        "answer_status": table["answer_status"],
        "right": (said >= 0) & ((said == 1) == gold),
    }
    return pa.table({name: columns[name] for name in ROWS.names}).cast(ROWS)


JUDGES = Judges(
    columns=("label", "pair_id"), load=load_statements, open=lambda *_: StatementJudge()
)
