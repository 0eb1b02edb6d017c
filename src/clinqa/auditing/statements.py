"""Statements that are true or false: whose they are, and how runs judged them, as `Means`.

A statement belongs to the document (or the question of a bank) it was taken from: that is what has
attributes, is drawn again and permuted. The dataset's `group` is a cluster of like texts; nobody
keeps a table of those. Counts, measures and signatures are those of `score`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.auditing.answers import Means, lay_out, means_of
from clinqa.auditing.scoring import check_scores
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.progress import Progress
from clinqa.core.statuses import STATUSES
from clinqa.scoring.binary.figures import ANSWERED, BY_SOURCE, Measure, measures, signature_of
from clinqa.scoring.binary.judged import NOT_ASKED, how_of, judge, repeats_of
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.folder import ITEMS_FILE
from clinqa.scoring.inputs import Items, Run

__all__ = ["STRATA", "items_of", "judged_means", "measures_named"]

STRATA = "topic × label"
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
#: Means over statements. What is a mean over pairs, or over what a run said, is none.
_MEANS = ("accuracy", "sensitivity", "specificity", *(f"status_{status}" for status in STATUSES))
_COLUMNS = ("run", "item_id", "repeat", "answer", "answer_status")


def items_of(statements: Statements) -> Items:
    """The statements as items: their group is their document, their level the label."""
    table = pa.table(
        {
            "id": list(statements.ids),
            "group": list(statements.source_ids),
            "category": statements.category.tolist(),
            "level": ["true" if label else "false" for label in statements.gold],
        }
    )
    return Items(table, statements.source, statements.sources)


def measures_named(names: Sequence[str]) -> list[Measure]:
    """The measures of `score`; ConfigError for one that groups of statements can't share in."""
    known = {m.name: m for m in measures() if m.name in _MEANS and m.convention != ANSWERED}
    for name in names:
        if name not in known:
            raise ConfigError(
                f"--metric {name!r}: no mean over statements, so groups have no share in it; of "
                f"true_false items there are {', '.join(known)}"
            )
    return [known[name] for name in names]


def judged_means(
    runs: Sequence[Run],
    statements: Statements,
    metrics: Sequence[str],
    scores: Path | None,
    dataset: str,
    progress: Progress,
) -> list[Means]:
    """Every metric of every run: judged by `score`, or as `clinqa score` has written it."""
    how = {how_of(run) for run in runs}
    if len(how) > 1:
        raise ConfigError(
            "some runs were read from what they wrote and some weighed True against False: their "
            "figures are not compared; audit them one kind at a time"
        )
    table = _rows(scores, runs, dataset) if scores is not None else None
    chosen = measures_named(metrics)
    parts: list[list[tuple[list[Floats], list[Floats]]]] = [[] for _ in chosen]
    for number, run in enumerate(runs):
        progress("scoring", number, len(runs))
        if table is None:
            rows = judge(run, statements)[1]
        else:
            rows = table.filter(pc.equal(table["run"], run.id))
        for place, sides in enumerate(_sides(rows, statements, chosen)):
            parts[place].append(sides)
    progress("scoring", len(runs), len(runs))
    return [
        lay_out(own, measure.name, signature_of(measure, BY_SOURCE, next(iter(how))))
        for own, measure in zip(parts, chosen, strict=True)
    ]


def _sides(
    rows: pa.Table, statements: Statements, chosen: Sequence[Measure]
) -> list[tuple[list[Floats], list[Floats]]]:
    """Above and below the line of each measure, by statement: the mean over repeats, then each."""
    place = {name: row for row, name in enumerate(statements.ids)}
    found = np.array([place.get(name, -1) for name in rows["item_id"].to_pylist()], np.int64)
    rows, found = rows.filter(pa.array(found >= 0)), found[found >= 0]
    repeats = repeats_of(
        found,
        rows["repeat"].to_numpy().astype(np.int64),
        rows["answer"].to_pylist(),
        rows["answer_status"].to_pylist(),
        statements,
    )
    asked = [np.flatnonzero(codes != NOT_ASKED) for codes, _ in repeats]
    item: Ints = np.concatenate(asked)
    number = np.repeat(np.arange(len(asked)), [len(own) for own in asked])
    counts = np.concatenate([rows[own] for own, (_, rows) in zip(asked, repeats, strict=True)])
    made = []
    for measure in chosen:
        # of one statement a measure is 0, 1, or nothing where it is not of those it is over
        below = measure.count(counts)
        above = np.where(below > 0, measure.of(counts), 0.0)
        made.append(means_of(item, number, above, below, len(statements)))
    return made


def _rows(scores: Path, runs: Sequence[Run], dataset: str) -> pa.Table:
    check_scores(scores, runs, dataset)
    path = scores / ITEMS_FILE
    try:
        return pq.read_table(path, columns=list(_COLUMNS))
    except (OSError, pa.ArrowException) as error:
        raise CheckFailed(f"{path}: cannot be read as Parquet; score again") from error
