"""The tables of figures: the study's Table 3, levels, errors, parts of the items, people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from clinqa.core.figures import Figure
from clinqa.core.wording import (
    MISSING,
    count,
    decimals,
    interval,
    percent,
    percent_interval,
)
from clinqa.kinds.facets.about_runs import number, size, spread_words
from clinqa.kinds.facets.figure_tables import (
    MODEL_SHOTS,
    figure_cell,
    grid_of_runs,
    marked_rows,
    metric_columns,
)
from clinqa.kinds.facets.pages import Grid, GridCell, GridColumn, GridRow, bracketed
from clinqa.kinds.facets.shows import GROUPS, Evaluation, MetricName, ShownRun
from clinqa.kinds.long_form.claims import primary_metric
from clinqa.kinds.long_form.levels import level_words
from clinqa.kinds.long_form.metric_names import (
    ANSWERED,
    ANY_DANGER,
    DANGEROUS,
    ERROR_KINDS,
    NO_ANSWER,
    RESULT_METRICS,
)
from clinqa.kinds.long_form.people_tables import told_cell
from clinqa.kinds.long_form.worst_answers import name_of

__all__ = [
    "by_subset",
    "dangerous",
    "error_kinds",
    "levels_overall",
    "no_answer",
    "other_bleus",
    "results",
    "scale",
    "seen_unseen",
    "statuses",
]

_LEVELS = ("0", "-1", "1", "2", "3", "-2", "-3", "-50")  # as every figure of ours


def results(evaluation: Evaluation) -> Grid:
    """Models and shots against metrics (EchoQA, Table 3), with intervals."""
    columns, footnotes = metric_columns(evaluation, RESULT_METRICS)
    rows = [
        replace(row, cells=(*row.cells, GridCell(spread_words(run)),
                            _size_cell(_items_of(evaluation, run))))
        for run, row in zip(evaluation.runs, marked_rows(evaluation, columns), strict=True)
    ]  # fmt: skip
    last = (
        GridColumn("repeats", "Repeats", "how often each question was asked, and what varied", "",
                   False),
        GridColumn("items", "Items", "questions asked", sizes=True),
    )  # fmt: skip
    overall = [
        figure
        for (_, metric, subset), found in evaluation.figures.items()
        if not subset and metric in RESULT_METRICS
        for figure in found
    ]
    clusters = {figure.clusters for figure in overall}
    patients = f", {min(clusters):,} patients" if len(clusters) == 1 else ""
    unequal = (
        "The runs did not all answer the same questions: rows with other numbers of items are"
        " compared by the paired tests, which keep to common items, and not by these figures."
    )
    return Grid(
        "results",
        f"Text overlap and clinical level{patients}; from 0 to 1, higher is better",
        MODEL_SHOTS,
        (*(column for column, _, _ in columns), *last),
        tuple(rows),
        (unequal,) if len({figure.n for figure in overall}) > 1 else (),
        footnotes,
    )


def _size_cell(n: int | None) -> GridCell:
    return GridCell(count(n), n=n)


def _items_of(evaluation: Evaluation, run: ShownRun) -> int | None:
    stated = run.about.get("items")
    if isinstance(stated, int):
        return stated
    found = (evaluation.figure(run.id, metric) for metric in RESULT_METRICS)
    return max((figure.n for figure in found if figure is not None), default=None)


def dangerous(evaluation: Evaluation) -> Grid | None:
    """The errors that could harm, with counts: the rate of all items and of answered ones, beside
    the share that was answered; then each kind, of the answered items where it can happen."""
    kinds = [kind for kind in DANGEROUS if _happens(evaluation, kind.key)]
    if not kinds:
        return None
    first = [kind for kind in kinds if kind in ANY_DANGER]
    if first and evaluation.any_figure(ANSWERED.key):
        kinds = [*first, ANSWERED, *kinds[len(first) :]]
    caption = (
        "Dangerous errors: count of the items where each can happen, share and its interval; lower "
        "is better only among runs that answered alike"
    )
    return grid_of_runs(
        evaluation, "dangerous", caption, _kind_columns(kinds),
        lambda run: [_count_cell(evaluation, run, kind.key) for kind in kinds],
    )  # fmt: skip


def _happens(evaluation: Evaluation, metric: str) -> bool:
    """Is there an item of any run where it could happen?"""
    found = (evaluation.figure(run.id, metric) for run in evaluation.runs)
    return any(figure is not None and figure.value is not None for figure in found)


def error_kinds(evaluation: Evaluation) -> Grid | None:
    """What kind of error each run makes, as shares of all items."""
    kinds = [kind for kind in ERROR_KINDS if evaluation.any_figure(kind.key)]
    if not kinds:
        return None
    left_out = any(no_answer(evaluation, run) for run in evaluation.runs)

    def cells(run: ShownRun) -> Iterable[GridCell]:
        yield from (_share_cell(evaluation, run, kind.key) for kind in kinds)
        if left_out:
            rest = no_answer(evaluation, run)
            yield GridCell(percent(rest), value=rest)

    columns = _kind_columns(kinds)
    if left_out:
        columns.append(GridColumn(NO_ANSWER.key, NO_ANSWER.name, NO_ANSWER.meaning))
    caption = "Kinds of error as read from the answers, share of all items"
    return grid_of_runs(evaluation, "errors", caption, columns, cells)


def _kind_columns(kinds: Iterable[MetricName]) -> list[GridColumn]:
    return [
        GridColumn(kind.key.removeprefix("error_").removeprefix("dangerous_"), kind.name,
                   kind.meaning, figures=True)
        for kind in kinds
    ]  # fmt: skip


def no_answer(evaluation: Evaluation, run: ShownRun) -> float:
    """The share of items whose answer is no answer: what the kinds leave of the whole."""
    found = [evaluation.figure(run.id, kind.key) for kind in ERROR_KINDS]
    left = 1.0 - sum(figure.value or 0.0 for figure in found if figure is not None)
    return left if left > 1e-9 else 0.0


def statuses(evaluation: Evaluation) -> Grid | None:
    """What became of each question: answered, empty, cut off, refused, failed."""
    found = {metric for _, metric, subset in evaluation.figures if not subset}
    keys = [key for key in found if key.startswith("status_")]
    if not keys:
        return None
    keys.sort(key=lambda key: (key != "status_answered", key))
    titles = [key.removeprefix("status_").replace("_", " ") for key in keys]
    return grid_of_runs(
        evaluation,
        "statuses",
        "What became of the questions; every one is counted, and only figures of answered items "
        "leave any out",
        [GridColumn(key, title, figures=True) for key, title in zip(keys, titles, strict=True)],
        lambda run: [_count_cell(evaluation, run, key) for key in keys],
        meanings=False,
    )


def _share_cell(evaluation: Evaluation, run: ShownRun, metric: str) -> GridCell:
    figure = evaluation.figure(run.id, metric)
    if figure is None or figure.value is None:
        return GridCell(MISSING, reason=evaluation.reason(run.id, metric))
    bounds = percent_interval(figure.low, figure.high)
    return replace(bracketed(figure), text=percent(figure.value), interval=bounds)


def _count_cell(evaluation: Evaluation, run: ShownRun, metric: str) -> GridCell:
    figure = evaluation.figure(run.id, metric)
    if figure is not None and (figure.value is None or not figure.n):
        return GridCell(MISSING, reason="no answered item where it could happen")
    cell = _share_cell(evaluation, run, metric)
    if figure is None or figure.value is None:
        return cell
    text = f"{count(figure.value * figure.n)} of {count(figure.n)}"
    return replace(cell, text=text, spread=cell.text)


def by_subset(evaluation: Evaluation, key: str, metric: str = "level_accuracy") -> Grid | None:
    """One metric for each run by abnormality or by the reference's level; cells are shaded."""
    values = [subset[key] for subset in evaluation.subsets(metric, key) if len(subset) == 1]
    if not values:
        return None
    by_level = key == "level"
    names = {v: _level_name(v) if by_level else name_of(evaluation, v) for v in values}
    rows = []
    for value in sorted(values, key=_level_order if by_level else names.__getitem__):
        found = [evaluation.figure(run.id, metric, **{key: value}) for run in evaluation.runs]
        sizes = [figure.n for figure in found if figure is not None]
        one = sizes[0] if len(set(sizes)) == 1 else None
        cells = (GridCell(_range(sizes), n=one), *(_shaded(figure) for figure in found))
        rows.append(GridRow(names[value], cells))
    columns = [GridColumn("items", "Items", "with this value, in each run", sizes=True)]
    columns += [
        GridColumn(run.label.replace(", ", "_").replace(" ", "_"), run.label, GROUPS[run.group],
                   figures=True)
        for run in evaluation.runs
    ]  # fmt: skip
    of = "level of the reference" if by_level else "abnormality"
    return Grid(
        f"by-{key}",
        f"{evaluation.metric_name(metric)} by {of}; the stronger the colour, the higher",
        "Reference level" if by_level else "Abnormality",
        tuple(columns),
        tuple(rows),
    )


def _level_order(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else len(_LEVELS)


def _level_name(level: str) -> str:
    try:
        return level_words(int(level))
    except ValueError:
        return level


def _range(sizes: Sequence[int]) -> str:
    if not sizes:
        return MISSING
    low, high = count(min(sizes)), count(max(sizes))
    return low if low == high else f"{low}–{high}"


def _shaded(figure: Figure | None) -> GridCell:
    if figure is None or figure.value is None:
        return GridCell(MISSING, reason="no items of this kind in the run")
    return replace(
        bracketed(figure),
        text=decimals(figure.value, 2),
        interval=interval(figure.low, figure.high, lambda value: decimals(value, 2)),
        heat=max(0, min(9, int(figure.value * 10))),
    )


def levels_overall(evaluation: Evaluation) -> Grid | None:
    """Accuracy, macro-F1 and kappa over the levels, each beside the answers it is of."""
    keys = (
        "level_accuracy", "level_accuracy_corrected", "error_right", "level_macro_f1",
        "level_weighted_kappa",
    )  # fmt: skip
    grid = _of_metrics(evaluation, "levels", "How well the level is hit, over all questions "
                       "(κ: −1 to 1)", keys)  # fmt: skip
    return grid if len(grid.columns) > 1 else None


def other_bleus(evaluation: Evaluation) -> Grid | None:
    """BLEU as it is computed here and there: papers seldom say which they mean."""
    keys = ("bleu", "bleu_sentence", "bleu_unsmoothed")
    if sum(evaluation.any_figure(key) for key in keys) < 2:
        return None
    return _of_metrics(evaluation, "bleu", "BLEU computed in several ways", keys)


def _of_metrics(evaluation: Evaluation, key: str, caption: str, metrics: Sequence[str]) -> Grid:
    columns, footnotes = metric_columns(evaluation, metrics)

    def cells(run: ShownRun) -> Iterable[GridCell]:
        for _, metric, signature in columns:
            figure = evaluation.figure(run.id, metric, signature)
            yield figure_cell(evaluation, run, metric, figure)

    grid = grid_of_runs(evaluation, key, caption, [column for column, _, _ in columns], cells)
    return replace(grid, footnotes=footnotes)


def seen_unseen(evaluation: Evaluation) -> Grid | None:
    """The same metrics on items whose deciding statement stands in train too, and on others."""
    wanted = ("token_f1", "rougeL", "level_accuracy")
    parts = [
        (metric, part)
        for metric in wanted
        if evaluation.subsets(metric, "seen")
        for part in ("seen", "unseen")
    ]
    if not parts:
        return None

    def cells(run: ShownRun) -> Iterable[GridCell]:
        for metric, part in parts:
            figure = evaluation.figure(run.id, metric, seen=part)
            yield figure_cell(evaluation, run, metric, figure)

    def size(metric: str, part: str) -> str:
        """Of how many items, where it is as many for all; else each figure says it."""
        found = (evaluation.figure(run.id, metric, seen=part) for run in evaluation.runs)
        sizes = {figure.n for figure in found if figure is not None}
        return f"{count(min(sizes))} items" if len(sizes) == 1 else ""

    columns = [
        GridColumn(
            f"{metric}_{part}",
            f"{evaluation.metric_name(metric)}, {part}",
            size(metric, part),
            figures=True,
        )
        for metric, part in parts
    ]
    caption = "Statements seen in train against unseen ones"
    return grid_of_runs(evaluation, "seen", caption, columns, cells)


def scale(evaluation: Evaluation) -> Grid | None:
    """What size does within a family: its runs of known sizes, the smallest first."""
    metric = primary_metric(evaluation)
    sizes: dict[str, set[float]] = {}
    for run in evaluation.runs:
        known, family = number(run.about.get("parameters")), str(run.about.get("family") or "")
        if family and known:
            sizes.setdefault(family, set()).add(known)
    rows = []
    for run in evaluation.runs:  # they stand by family and size
        family = str(run.about.get("family") or "")
        figure = evaluation.figure(run.id, metric)
        if len(sizes.get(family, ())) > 1 and figure is not None:
            told = size(run.about.get("parameters"))
            first = GridCell(told) if told else told_cell(None)
            cells = (first, told_cell(figure.value, figure.low, figure.high))
            rows.append(GridRow(run.label, cells, family))
    columns = (
        GridColumn("parameters", "Parameters"),
        GridColumn(metric, evaluation.metric_name(metric), figures=True),
    )
    return (
        Grid("scale", "Size within a family", MODEL_SHOTS, columns, tuple(rows)) if rows else None
    )
