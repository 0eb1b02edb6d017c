"""The tables of figures: the study's Table 3, dangerous errors, kinds of error, subsets, tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase

from clinqa.core.figures import Figure
from clinqa.present.report.marks import Verdicts
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.tables import Cell, Column, Row, Table
from clinqa.present.report.words import (
    DANGEROUS,
    ERROR_KINDS,
    GROUPS,
    METRICS,
    MISSING,
    NO_ANSWER,
    RESULT_METRICS,
    Named,
    count,
    decimals,
    interval,
    metric_name,
    percent,
    percent_interval,
)

__all__ = [
    "any_figure",
    "dangerous",
    "error_kinds",
    "figure_cell",
    "group_name",
    "metric_columns",
    "no_answer",
    "results",
    "spread_words",
    "statuses",
]

_GROUP_NAMES = dict(GROUPS)
_MEANINGS = {metric.key: metric.meaning for metric in METRICS}


def group_name(run: Run) -> str:
    """The heading a run stands under."""
    return _GROUP_NAMES.get(run.group, _GROUP_NAMES[""])


def results(evaluation: Evaluation, verdicts: Verdicts) -> Table:
    """Models and shots against metrics (EchoQA, Table 3), with intervals.

    A column holds figures of one signature only; a metric computed in two ways has two columns.
    """
    columns, footnotes = metric_columns(evaluation, RESULT_METRICS)
    marks = {
        (column.key, run): mark
        for column, metric, signature in columns
        for group in _groups(evaluation.runs)
        for run, mark in verdicts.marks(_of_group(evaluation, group, metric, signature)).items()
    }
    rows = []
    for run in evaluation.runs:
        cells = []
        for column, metric, signature in columns:
            figure = evaluation.figure(run.id, metric, signature)
            mark = marks.get((column.key, run.id), "")
            cells.append(figure_cell(evaluation, run, metric, figure, mark))
        cells += [Cell(spread_words(run)), Cell(count(_items_of(evaluation, run)))]
        rows.append(Row(run.label, tuple(cells), group_name(run)))
    last = (
        Column(
            "repeats", "Repeats", "how often each question was asked, and what varied", "", False
        ),
        Column("items", "Items", "questions answered"),
    )
    return Table(
        "results",
        _results_caption(evaluation),
        "Model, shots",
        (*(column for column, _, _ in columns), *last),
        tuple(rows),
        notes=_results_notes(evaluation),
        footnotes=tuple(footnotes),
    )


def spread_words(run: Run) -> str:
    """How often a run was repeated and what varied; one deterministic pass has no spread.

    >>> spread_words(Run("r", "m", 0, "m", deterministic=True))
    '1, deterministic'
    """
    if run.deterministic:
        return "1, deterministic" if run.repeats == 1 else f"{run.repeats}, deterministic"
    if run.repeats == 1:
        return "1"
    varied = {"training-seed": "training seed"}.get(run.varied, run.varied)
    return f"{run.repeats}, {varied} varied" if varied else str(run.repeats)


def _results_caption(evaluation: Evaluation) -> str:
    clusters = {figure.clusters for figure in _overall(evaluation)}
    patients = f", {min(clusters):,} patients" if len(clusters) == 1 else ""
    return f"Text overlap and clinical level{patients}; from 0 to 1, higher is better"


def _results_notes(evaluation: Evaluation) -> tuple[str, ...]:
    sizes = {figure.n for figure in _overall(evaluation)}
    if len(sizes) < 2:
        return ()
    return (
        "The runs did not all answer the same questions: rows with other numbers of items are"
        " compared by the paired tests, which keep to common items, and not by these figures.",
    )


def _overall(evaluation: Evaluation) -> list[Figure]:
    return [
        figure
        for (_, metric, subset), found in evaluation.figures.items()
        if not subset and metric in RESULT_METRICS
        for figure in found
    ]


def metric_columns(
    evaluation: Evaluation, metrics: Sequence[str]
) -> tuple[list[tuple[Column, str, str]], list[tuple[str, str]]]:
    columns: list[tuple[Column, str, str]] = []
    footnotes: list[tuple[str, str]] = []
    for metric in metrics:
        signatures = evaluation.signatures(metric)
        for number, signature in enumerate(signatures):
            letter = _letter(len(footnotes))
            footnotes.append((letter, f"{metric_name(metric)}: {signature or 'no signature'}"))
            key = metric if len(signatures) == 1 else f"{metric}_{number + 1}"
            column = Column(
                key, metric_name(metric), _MEANINGS.get(metric, ""), letter, figures=True
            )
            columns.append((column, metric, signature))
    return columns, footnotes


def _letter(number: int) -> str:
    letter = ascii_lowercase[number % 26]
    return letter if number < 26 else letter * (number // 26 + 1)


def _groups(runs: Iterable[Run]) -> list[str]:
    return list(dict.fromkeys(run.group for run in runs))


def _of_group(evaluation: Evaluation, group: str, metric: str, signature: str) -> list[Figure]:
    found = (
        evaluation.figure(r.id, metric, signature) for r in evaluation.runs if r.group == group
    )
    return [figure for figure in found if figure is not None]


def _items_of(evaluation: Evaluation, run: Run) -> int | None:
    stated = run.about.get("items")
    if isinstance(stated, int):
        return stated
    sizes = [
        figure.n
        for metric in RESULT_METRICS
        if (figure := evaluation.figure(run.id, metric)) is not None
    ]
    return max(sizes, default=None)


def figure_cell(
    evaluation: Evaluation, run: Run, metric: str, figure: Figure | None, mark: str = ""
) -> Cell:
    if figure is None:
        other = bool(evaluation.figure(run.id, metric))
        why = "computed in another way: see the other column" if other else ""
        return Cell(MISSING, reason=why or evaluation.reason(run.id, metric))
    if figure.value is None:
        return Cell(MISSING, reason=evaluation.reason(run.id, metric))
    spread = evaluation.spread(run.id, metric) or {}
    size = spread.get("value")
    return Cell(
        decimals(figure.value),
        interval(figure.low, figure.high),
        f"± {decimals(float(size))} {spread.get('kind', '')}".rstrip() if size is not None else "",
        mark,
        value=figure.value,
        low=figure.low,
        high=figure.high,
    )


def dangerous(evaluation: Evaluation) -> Table | None:
    """The errors that could harm, with counts: how many of the items where each can happen."""
    kinds = [kind for kind in DANGEROUS if any_figure(evaluation, kind.key)]
    if not kinds:
        return None
    rows = [
        Row(
            run.label,
            tuple(_count_cell(evaluation, run, kind.key) for kind in kinds),
            group_name(run),
        )
        for run in evaluation.runs
    ]
    return Table(
        "dangerous",
        "Dangerous errors: count of the items at risk, share and its interval; lower is better",
        "Model, shots",
        tuple(_kind_column(kind) for kind in kinds),
        tuple(rows),
    )


def error_kinds(evaluation: Evaluation) -> Table | None:
    """What kind of error each run makes, as shares of all items."""
    kinds = [kind for kind in ERROR_KINDS if any_figure(evaluation, kind.key)]
    if not kinds:
        return None
    left_out = any(no_answer(evaluation, run) for run in evaluation.runs)
    rest_column = Column(NO_ANSWER.key, NO_ANSWER.name, NO_ANSWER.meaning)
    rows = []
    for run in evaluation.runs:
        cells = [_share_cell(evaluation, run, kind.key) for kind in kinds]
        if left_out:
            rest = no_answer(evaluation, run)
            cells.append(Cell(percent(rest), value=rest))
        rows.append(Row(run.label, tuple(cells), group_name(run)))
    return Table(
        "errors",
        "Kinds of error as read from the answers, share of all items",
        "Model, shots",
        (*(_kind_column(kind) for kind in kinds), *([rest_column] if left_out else [])),
        tuple(rows),
    )


def _kind_column(kind: Named) -> Column:
    return Column(
        kind.key.removeprefix("error_").removeprefix("dangerous_"),
        kind.name,
        kind.meaning,
        figures=True,
    )


def no_answer(evaluation: Evaluation, run: Run) -> float:
    """The share of items whose answer is no answer: what the kinds leave of the whole."""
    found = [evaluation.figure(run.id, kind.key) for kind in ERROR_KINDS]
    left = 1.0 - sum(figure.value or 0.0 for figure in found if figure is not None)
    return left if left > 1e-9 else 0.0


def statuses(evaluation: Evaluation) -> Table | None:
    """What became of each question: answered, empty, cut off, refused, failed."""
    keys = sorted({m for _, m, subset in evaluation.figures if not subset and _is_status(m)})
    if not keys:
        return None
    keys.sort(key=lambda key: key != "status_answered")
    rows = [
        Row(run.label, tuple(_count_cell(evaluation, run, key) for key in keys), group_name(run))
        for run in evaluation.runs
    ]
    return Table(
        "statuses",
        "What became of the questions; every one is counted, and none is left out of the scores",
        "Model, shots",
        tuple(Column(k, k.removeprefix("status_").replace("_", " "), figures=True) for k in keys),
        tuple(rows),
    )


def _is_status(metric: str) -> bool:
    return metric.startswith("status_")


def any_figure(evaluation: Evaluation, metric: str) -> bool:
    return any(evaluation.figure(run.id, metric) for run in evaluation.runs)


def _share_cell(evaluation: Evaluation, run: Run, metric: str) -> Cell:
    figure = evaluation.figure(run.id, metric)
    if figure is None or figure.value is None:
        return Cell(MISSING, reason=evaluation.reason(run.id, metric))
    return Cell(
        percent(figure.value),
        percent_interval(figure.low, figure.high),
        value=figure.value,
        low=figure.low,
        high=figure.high,
    )


def _count_cell(evaluation: Evaluation, run: Run, metric: str) -> Cell:
    figure = evaluation.figure(run.id, metric)
    if figure is None:
        return Cell(MISSING, reason=evaluation.reason(run.id, metric))
    if figure.value is None or not figure.n:
        return Cell(MISSING, reason="no item where it could happen")
    return Cell(
        f"{count(figure.value * figure.n)} of {count(figure.n)}",
        percent_interval(figure.low, figure.high),
        percent(figure.value),
        value=figure.value,
        low=figure.low,
        high=figure.high,
    )
