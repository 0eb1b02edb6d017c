"""A run's answers, each scored alone: a row an answer, and a row of statistics an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinqa.core.errors import ConfigError
from clinqa.core.statuses import STATUSES
from clinqa.kinds.long_form.answer_reader import AskedAbout, answer_text
from clinqa.kinds.long_form.clinical import (
    DANGERS,
    KINDS,
    NO_ANSWER,
    ClinicalScorer,
    Verdict,
    at_risk,
    class_of,
)
from clinqa.kinds.long_form.text import STATISTICS, TextMetrics
from clinqa.scoring.inputs import Items, Run

__all__ = [
    "CLASSES",
    "COLUMNS",
    "SCORED",
    "ScoredAnswers",
    "ScoredRun",
    "score_answers",
    "score_run",
]

Floats = npt.NDArray[np.float64]

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
    """A run scored: by item the mean over its repeats; by repeat the sums over all items, for the
    spread between repeats; and how many answers were of each status.

    `statistics` holds only those of COLUMNS that `columns` numbers: the others are 0 throughout.
    """

    run: Run
    items: npt.NDArray[np.int64]  # rows of Items that it answered
    columns: npt.NDArray[np.int64]
    statistics: Floats
    repeats: Floats
    signatures: Mapping[str, str]
    short_references: float
    statuses: Mapping[str, int]
    unknown: int  # predictions of items that the split does not hold

    def wide(self, rows: Floats) -> Floats:
        """Rows of `statistics`, or sums of them, with all COLUMNS."""
        made = np.zeros((*rows.shape[:-1], len(COLUMNS)))
        made[..., self.columns] = rows
        return made

    def total(self) -> Floats:
        """The sums over all items."""
        return self.wide(self.statistics.sum(axis=0))

    def chosen(self, places: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> Floats:
        """These items' statistics in these of COLUMNS."""
        made = np.zeros((len(places), len(columns)))
        here, ours, theirs = np.intersect1d(self.columns, columns, return_indices=True)
        if len(here):
            made[:, theirs] = self.statistics[places][:, ours]
        return made


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """Every answer of a run scored alone, sorted by item and repeat: a row of statistics each.

    `statistics` holds only those of COLUMNS that `columns` numbers: the others are 0 throughout.
    """

    run: Run
    item: npt.NDArray[np.int64]  # the row of Items
    repeat: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    statistics: Floats
    text: TextMetrics
    predictions: pa.Table
    answers: list[str | None]
    statuses: list[str]
    verdicts: list[Verdict]
    unknown: int  # predictions of items that the split does not hold


def score_answers(run: Run, items: Items, scorer: ClinicalScorer) -> ScoredAnswers:
    """Score every answer of a run by itself."""
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
    columns, judged, verdicts = _judged(items, found, answers, statuses, scorer)
    statistics = np.concatenate([text.statistics, judged], axis=1)
    return ScoredAnswers(
        run, found, repeat, columns, statistics, text, predictions, answers, statuses, verdicts,
        unknown,
    )  # fmt: skip


def score_run(run: Run, items: Items, scorer: ClinicalScorer) -> tuple[ScoredRun, pa.Table]:
    """Score every answer of a run and average its repeats within each item; and the rows of
    `items.parquet`."""
    made = score_answers(run, items, scorer)
    found, repeat, statistics = made.item, made.repeat, made.statistics
    rows = _rows(
        run, items, made.predictions, found, made.answers, made.statuses, made.verdicts, made.text
    )
    # rows come sorted by item, so that those of one item lie together
    first = np.flatnonzero(np.diff(found, prepend=-1))
    totals = [statistics[repeat == number].sum(axis=0) for number in np.unique(repeat)]
    if len(first) < len(found):
        counts = np.diff(np.append(first, len(found)))
        statistics = np.add.reduceat(statistics, first, axis=0) / counts[:, None]
    counted = Counter(made.statuses)
    scored = ScoredRun(
        run=run,
        items=found[first],
        columns=made.columns,
        statistics=statistics,
        repeats=np.stack(totals),
        signatures=made.text.signatures,
        short_references=made.text.short_references,
        statuses={status: counted[status] for status in STATUSES if counted[status]},
        unknown=made.unknown,
    )
    return replace(scored, repeats=scored.wide(scored.repeats)), rows


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
) -> tuple[npt.NDArray[np.int64], Floats, list[Verdict]]:
    """The columns that hold anything, their values by answer, and the verdicts.

    Different rows are few: a level and a kind of question, a status and a verdict make one.
    """
    verdicts: list[Verdict] = []
    known: dict[tuple[int | None, str, str, Verdict], int] = {}
    codes = np.empty(len(found), np.int64)
    categories, structures = items.column("category"), items.column("structure")
    types, levels = items.column("question_type"), items.column("level")
    references, sources = items.column("answer"), _sources(items)
    for row, (item, answer, status) in enumerate(
        zip(found.tolist(), answers, statuses, strict=True)
    ):
        level, kind, verdict = levels[item], types[item], NO_ANSWER
        if answer is not None:
            asked = AskedAbout(categories[item], structures[item], kind)
            verdict = scorer.judge(asked, level, references[item], answer, sources[item])
        verdicts.append(verdict)
        codes[row] = known.setdefault((level, kind, status, verdict), len(known))
    distinct = np.stack([_statistics(*key) for key in known])
    used = np.flatnonzero(distinct.any(axis=0))
    columns = np.append(np.arange(len(STATISTICS)), used)
    return columns, distinct[:, used][codes], verdicts


def _sources(items: Items) -> list[str]:
    """The words of the report that decided each item."""
    return [" ".join(span["text"] for span in spans or ()) for spans in items.column("spans")]


def _statistics(level: int | None, question_type: str, status: str, verdict: Verdict) -> Floats:
    """The columns of one answer; those of the text metrics are left 0."""
    read = CLASSES.index(verdict.read) if verdict.read in CLASSES else _OTHER
    names = [f"kind:{verdict.kind}", f"status:{status}"]
    names += [f"c:{CLASSES.index(class_of(level, question_type))}:{read}"]
    names += [f"at:{name}" for name in at_risk(level, question_type)]
    names += [f"is:{name}" for name in verdict.dangers]
    if verdict.level_right:
        names.append("level_right")
    if verdict.dangers:
        names.append("is:any")
    if level is not None:
        names.append("at:abstained")
        if verdict.read == "unmentioned":
            names.append("is:abstained")
    cells = np.zeros(len(COLUMNS))
    cells[[_PLACE[name] for name in names]] = 1
    return cells


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
    sources = _sources(items)
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
