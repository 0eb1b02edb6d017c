"""A run's answers, each scored alone: a row an answer, and a row of statistics an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.score.clinical import (
    DANGERS,
    KINDS,
    NO_ANSWER,
    ClinicalScorer,
    Verdict,
    at_risk,
    class_of,
)
from clinqa.score.inputs import Items, Run
from clinqa.score.read import Asked, answer_text
from clinqa.score.text import STATISTICS, TextMetrics

__all__ = ["CLASSES", "COLUMNS", "SCORED", "STATUSES", "ScoredRun", "score_run"]

Floats = npt.NDArray[np.float64]

STATUSES = ("answered", "ambiguous", "refused", "empty", "truncated", "unreadable", "error")

#: What may be the class of a reference; an answer may be none of them ("nothing", "conflict").
CLASSES = (
    *("-3", "-2", "-1", "0", "1", "2", "3", "unmentioned"),
    *("adequate", "inadequate", "present", "absent"),
)
_LEVEL_CLASSES = 8
_OTHER = len(CLASSES)

#: The columns of an item's statistics: those of the text metrics, then ours. `is:` and `at:` of a
#: danger are how often it happened and could have; `c:` are the cells of the table of reference
#: class (row) by read class (column, the last for anything else).
COLUMNS = (
    *STATISTICS,
    *(f"kind:{kind}" for kind in KINDS),
    "level_right",
    *(f"is:{name}" for name in DANGERS),
    *(f"at:{name}" for name in DANGERS),
    "is:any",
    "is:abstained",
    "at:abstained",
    *(f"status:{status}" for status in STATUSES),
    *(f"c:{row}:{column}" for row in range(_OTHER) for column in range(_OTHER + 1)),
)
_PLACE = {name: place for place, name in enumerate(COLUMNS)}

#: `items.parquet`: a row an item, run and repeat.
SCORED = pa.schema(
    [
        ("run", pa.string()),
        ("model", pa.string()),
        ("shots", pa.int32()),
        ("repeat", pa.int32()),
        ("item_id", pa.string()),
        ("group", pa.string()),
        ("source_id", pa.string()),
        ("category", pa.string()),
        ("question_type", pa.string()),
        ("seen", pa.bool_()),  # does the deciding statement also decide an item of train?
        ("question", pa.string()),
        ("reference", pa.string()),
        ("source", pa.string()),  # the words of the report that decided the reference
        ("answer", pa.string()),
        ("answer_status", pa.string()),
        ("level", pa.int8()),
        ("read_level", pa.int8()),
        ("class", pa.string()),
        ("read_class", pa.string()),
        ("level_right", pa.bool_()),
        ("error_kind", pa.string()),  # "right" is one; what is no answer says nothing: "irrelevant"
        ("dangerous", pa.string()),  # the gravest of `dangers`, or nothing
        ("dangers", pa.list_(pa.string())),
        ("input_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("seconds", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run scored: by item `statistics`, the mean over its repeats; by repeat the sums over all
    items, for the spread between repeats; and how many answers were of each status."""

    run: Run
    items: npt.NDArray[np.int64]  # rows of Items that it answered
    statistics: Floats
    repeats: Floats
    signatures: Mapping[str, str]
    short_references: float
    statuses: Mapping[str, int]
    unknown: int  # predictions of items that the split does not hold


def score_run(run: Run, items: Items, scorer: ClinicalScorer) -> tuple[ScoredRun, pa.Table]:
    """Score every answer of a run and average its repeats within each item; and the rows of
    `items.parquet`."""
    predictions = run.predictions()
    place = {name: row for row, name in enumerate(items.column("id"))}
    found = np.array([place.get(name, -1) for name in predictions["item_id"].to_pylist()], np.int64)
    unknown = int((found < 0).sum())
    if unknown == len(found):
        raise ConfigError(f"{run.folder}: answers no item of split {run.split}")
    predictions, found = predictions.filter(pa.array(found >= 0)), found[found >= 0]
    repeat = predictions["repeat"].to_numpy().astype(np.int64)
    if len(np.unique(np.stack([found, repeat], axis=1), axis=0)) < len(found):
        raise ConfigError(
            f"{run.folder}: answers an item twice in one repeat; is it of several models?"
        )
    answers, statuses = _answers(predictions)
    references = items.table["answer"].take(pa.array(found)).to_pylist()
    text = TextMetrics(references, [answer or "" for answer in answers])
    statistics, verdicts = _judged(items, found, answers, statuses, scorer)
    statistics[:, : len(STATISTICS)] = text.statistics
    rows = _rows(run, items, predictions, found, answers, statuses, verdicts, text)
    # rows come sorted by item, so that those of one item lie together
    first = np.flatnonzero(np.diff(found, prepend=-1))
    counts = np.diff(np.append(first, len(found)))
    means = np.add.reduceat(statistics, first, axis=0) / counts[:, None]
    totals = np.stack([statistics[repeat == number].sum(axis=0) for number in np.unique(repeat)])
    counted = Counter(statuses)
    scored = ScoredRun(
        run,
        found[first],
        means,
        totals,
        text.signatures,
        text.short_references,
        {status: counted[status] for status in STATUSES if counted[status]},
        unknown,
    )
    return scored, rows


def _answers(predictions: pa.Table) -> tuple[list[str | None], list[str]]:
    """The answers without reasoning, and their statuses; only what is answered has a text."""
    answers: list[str | None] = []
    statuses: list[str] = []
    said = predictions["answer"].to_pylist()
    for answer, status in zip(said, predictions["answer_status"].to_pylist(), strict=True):
        text = answer_text(answer) if answer is not None and status == "answered" else None
        if status == "answered" and text is None:
            status = "unreadable" if answer else "empty"
        answers.append(text)
        statuses.append(status if status in STATUSES else "unreadable")
    return answers, statuses


def _judged(
    items: Items,
    found: npt.NDArray[np.int64],
    answers: list[str | None],
    statuses: list[str],
    scorer: ClinicalScorer,
) -> tuple[Floats, list[Verdict]]:
    made = np.zeros((len(found), len(COLUMNS)))
    verdicts: list[Verdict] = []
    categories, structures = items.column("category"), items.column("structure")
    types, levels = items.column("question_type"), items.column("level")
    references = items.column("answer")
    number = {name: code for code, name in enumerate(CLASSES)}
    for row, (item, answer, status) in enumerate(
        zip(found.tolist(), answers, statuses, strict=True)
    ):
        asked = Asked(categories[item], structures[item], types[item])
        level = levels[item]
        cells = made[row]
        cells[_PLACE[f"status:{status}"]] = 1
        for name in at_risk(level, asked.question_type):
            cells[_PLACE[f"at:{name}"]] = 1
        cells[_PLACE["at:abstained"]] = level is not None
        verdict = NO_ANSWER
        if answer is not None:
            verdict = scorer.judge(asked, level, references[item], answer)
        cells[_PLACE[f"kind:{verdict.kind}"]] = 1
        cells[_PLACE["level_right"]] = verdict.level_right
        for name in verdict.dangers:
            cells[_PLACE[f"is:{name}"]] = 1
        cells[_PLACE["is:any"]] = bool(verdict.dangers)
        cells[_PLACE["is:abstained"]] = level is not None and verdict.read == "unmentioned"
        read = number.get(verdict.read, _OTHER)
        cells[_PLACE[f"c:{number[class_of(level, asked.question_type)]}:{read}"]] = 1
        verdicts.append(verdict)
    return made, verdicts


def _rows(
    run: Run,
    items: Items,
    predictions: pa.Table,
    found: npt.NDArray[np.int64],
    answers: list[str | None],
    statuses: list[str],
    verdicts: list[Verdict],
    text: TextMetrics,
) -> pa.Table:
    """The rows of `items.parquet`: SCORED, and a column for each text metric."""
    size = len(found)
    asked = items.table.take(pa.array(found))
    sources = [" ".join(span["text"] for span in spans or ()) for spans in items.column("spans")]
    types, levels = items.column("question_type"), items.column("level")
    classes = [class_of(level, kind) for level, kind in zip(levels, types, strict=True)]
    columns = {
        "run": [run.id] * size,
        "model": [run.model] * size,
        "shots": [run.shots] * size,
        "repeat": predictions["repeat"],
        "item_id": asked["id"],
        "group": asked["group"],
        "source_id": asked["source_id"],
        "category": asked["category"],
        "question_type": asked["question_type"],
        "seen": asked["statement_seen"],
        "question": asked["question"],
        "reference": asked["answer"],
        "source": pa.array(sources, pa.string()).take(pa.array(found)),
        # what is no answer is shown as it came, or as far as it came
        "answer": [
            answer if answer is not None else output
            for answer, output in zip(answers, predictions["output"].to_pylist(), strict=True)
        ],
        "answer_status": statuses,
        "level": asked["level"],
        "read_level": [verdict.read_level for verdict in verdicts],
        "class": pa.array(classes, pa.string()).take(pa.array(found)),
        "read_class": [verdict.read for verdict in verdicts],
        "level_right": [verdict.level_right for verdict in verdicts],
        "error_kind": [verdict.kind for verdict in verdicts],
        "dangerous": [verdict.gravest for verdict in verdicts],
        "dangers": [list(verdict.dangers) for verdict in verdicts],
        "input_tokens": predictions["input_tokens"],
        "output_tokens": predictions["output_tokens"],
        "seconds": predictions["seconds"],
    }
    table = pa.table({name: columns[name] for name in SCORED.names}).cast(SCORED)
    each = text.per_item()
    for name in text.names[1:]:  # the first is of whole sets only
        table = table.append_column(name, each[name])
    return table
