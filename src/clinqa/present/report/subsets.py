"""The tables of parts of the items, of the levels over all, and of the paired tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from clinqa.core.figures import Figure
from clinqa.kinds.long_form.levels import level_words
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.results import any_figure, figure_cell, group_name, metric_columns
from clinqa.present.report.tables import Cell, Column, Row, Table
from clinqa.present.report.words import MISSING, count, decimals, metric_name, p_value

__all__ = ["by_subset", "levels_overall", "other_bleus", "seen_unseen", "tests"]

_SUBSET_TITLES = {"abnormality": "Abnormality", "level": "Reference level"}


def by_subset(evaluation: Evaluation, key: str, metric: str = "level_accuracy") -> Table | None:
    """One metric for each run by abnormality or by the reference's level; cells are shaded."""
    values = evaluation.subsets(key)
    values = [
        v for v in values if any(_sub(evaluation, r, metric, key, v) for r in evaluation.runs)
    ]
    if not values:
        return None
    namer: Callable[[str], str] = _level_name if key == "level" else evaluation.name
    rows = []
    for value in sorted(values, key=namer) if key != "level" else values:
        found = [_sub(evaluation, run, metric, key, value) for run in evaluation.runs]
        sizes = [figure.n for figure in found if figure is not None]
        cells = [Cell(_range(sizes)), *(_shaded(figure) for figure in found)]
        rows.append(Row(namer(value), tuple(cells)))
    columns = [Column("items", "Items", "with this value, in each run")]
    columns += [
        Column(_key(run), run.label, group_name(run), figures=True) for run in evaluation.runs
    ]
    of = "abnormality" if key == "abnormality" else "level of the reference"
    return Table(
        f"by-{key}",
        f"{metric_name(metric)} by {of}; the stronger the colour, the higher",
        _SUBSET_TITLES.get(key, key),
        tuple(columns),
        tuple(rows),
    )


def _range(sizes: Sequence[int]) -> str:
    if not sizes:
        return MISSING
    low, high = min(sizes), max(sizes)
    return count(low) if low == high else f"{count(low)}–{count(high)}"


def _key(run: Run) -> str:
    return run.label.replace(", ", "_").replace(" ", "_")


def _level_name(level: str) -> str:
    try:
        return level_words(int(level))
    except ValueError:
        return level


def _sub(evaluation: Evaluation, run: Run, metric: str, key: str, value: str) -> Figure | None:
    return evaluation.figure(run.id, metric, **{key: value})


def _shaded(figure: Figure | None) -> Cell:
    if figure is None or figure.value is None:
        return Cell(MISSING, reason="no items of this kind in the run")
    return Cell(
        decimals(figure.value, 2),
        f"[{decimals(figure.low, 2)}, {decimals(figure.high, 2)}]"
        if figure.low is not None
        else "",
        heat=max(0, min(9, int(figure.value * 10))),
        value=figure.value,
        low=figure.low,
        high=figure.high,
    )


def levels_overall(evaluation: Evaluation) -> Table | None:
    """Accuracy, macro-F1 and kappa over the levels."""
    keys = (
        "level_accuracy",
        "level_accuracy_corrected",
        "error_right",
        "level_macro_f1",
        "level_weighted_kappa",
    )
    columns, footnotes = metric_columns(
        evaluation, [key for key in keys if any_figure(evaluation, key)]
    )
    if len(columns) < 2:
        return None
    return Table(
        "levels",
        "How well the level is hit, over all questions (κ: −1 to 1)",
        "Model, shots",
        tuple(column for column, _, _ in columns),
        _with_sizes(evaluation, columns, _metric_rows(evaluation, columns)),
        footnotes=tuple(footnotes),
    )


def _with_sizes(
    evaluation: Evaluation, columns: Sequence[tuple[Column, str, str]], rows: Sequence[Row]
) -> tuple[Row, ...]:
    """Every figure beside the number of answers it is of: kappa is of those with both levels."""
    made = []
    for run, row in zip(evaluation.runs, rows, strict=True):
        cells = []
        for (_, metric, signature), cell in zip(columns, row.cells, strict=True):
            figure = evaluation.figure(run.id, metric, signature)
            if figure is not None and figure.value is not None:
                cell = replace(cell, spread=f"{cell.spread} n {count(figure.n)}".lstrip())
            cells.append(cell)
        made.append(replace(row, cells=tuple(cells)))
    return tuple(made)


def other_bleus(evaluation: Evaluation) -> Table | None:
    """BLEU as it is computed here and there: papers seldom say which they mean."""
    keys = [
        key for key in ("bleu", "bleu_sentence", "bleu_unsmoothed") if any_figure(evaluation, key)
    ]
    if len(keys) < 2:
        return None
    columns, footnotes = metric_columns(evaluation, keys)
    return Table(
        "bleu",
        "BLEU computed in several ways",
        "Model, shots",
        tuple(column for column, _, _ in columns),
        _metric_rows(evaluation, columns),
        footnotes=tuple(footnotes),
    )


def _metric_rows(
    evaluation: Evaluation, columns: Sequence[tuple[Column, str, str]]
) -> tuple[Row, ...]:
    return tuple(
        Row(
            run.label,
            tuple(
                figure_cell(evaluation, run, metric, evaluation.figure(run.id, metric, signature))
                for _, metric, signature in columns
            ),
            group_name(run),
        )
        for run in evaluation.runs
    )


def seen_unseen(evaluation: Evaluation) -> Table | None:
    """The same metrics on items whose deciding statement stands in train too, and on others."""
    metrics = [m for m in ("token_f1", "rougeL", "level_accuracy") if _split_by_seen(evaluation, m)]
    if not metrics:
        return None
    columns = [
        Column(f"{metric}_{part}", f"{metric_name(metric)}, {part}", "", figures=True)
        for metric in metrics
        for part in ("seen", "unseen")
    ]
    rows = []
    for run in evaluation.runs:
        cells = []
        for metric in metrics:
            for part in ("seen", "unseen"):
                figure = evaluation.figure(run.id, metric, seen=part)
                cell = figure_cell(evaluation, run, metric, figure)
                n = "" if figure is None else f"n = {count(figure.n)}"
                cells.append(
                    Cell(cell.text, cell.interval, n, "", cell.reason, None,
                         cell.value, cell.low, cell.high)
                )  # fmt: skip
        rows.append(Row(run.label, tuple(cells), group_name(run)))
    return Table(
        "seen",
        "Statements seen in train against unseen ones",
        "Model, shots",
        tuple(columns),
        tuple(rows),
    )


def _split_by_seen(evaluation: Evaluation, metric: str) -> bool:
    return any(
        evaluation.figure(run.id, metric, seen=part)
        for run in evaluation.runs
        for part in ("seen", "unseen")
    )


def tests(evaluation: Evaluation, *, declared: bool = True) -> Table | None:
    """The paired tests: the difference, its interval, p before and after Holm.

    Those of the declared family, or those outside it: not adjusted, they decide nothing.
    """
    labels = {run.id: run.label for run in evaluation.runs}
    known = [
        test
        for test in evaluation.tests
        if test.a in labels and test.b in labels and (test.p_holm is not None) == declared
    ]
    if not known:
        return None
    known.sort(key=lambda t: (t.metric, t.p_holm or 0.0, t.p, labels[t.a], labels[t.b]))
    rows = []
    for test in known:
        decided = test.p_holm is not None and test.p_holm < 0.05
        verdict = "not corrected: exploratory" if test.p_holm is None else "not distinguishable"
        if decided:
            verdict = f"{labels[test.a if test.difference > 0 else test.b]} higher"
        bounds = f"[{_signed(test.low)}, {_signed(test.high)}]"
        cells = (
            Cell(metric_name(test.metric)),
            Cell(_signed(test.difference), bounds, "", "", "", None,
                 test.difference, test.low, test.high),
            Cell(count(test.n) if test.n else MISSING, reason="" if test.n else "not recorded"),
            Cell(p_value(test.p), value=test.p),
            Cell(p_value(test.p_holm), value=test.p_holm, reason="" if test.p_holm is not None
                 else "outside the declared family"),
            Cell(verdict),
        )  # fmt: skip
        rows.append(Row(f"{labels[test.a]} − {labels[test.b]}", cells))
    return Table(
        "tests" if declared else "tests-exploratory",
        "Declared family: paired tests between runs on the same items"
        if declared
        else "Outside the family: paired tests that decide nothing",
        "First − second",
        (
            Column("metric", "Metric", numeric=False),
            Column("difference", "Difference", "first minus second, 95 % interval", figures=True),
            Column("items", "Items"),
            Column("p", "p", "of one comparison on its own"),
            Column("p_holm", "p, Holm", "adjusted over the declared family"),
            Column("verdict", "Verdict", "at 0.05 after Holm", numeric=False),
        ),
        tuple(rows),
    )


def _signed(value: float) -> str:
    """A difference with its sign.

    >>> _signed(0.1), _signed(-0.1), _signed(0.0)
    ('+0.100', '−0.100', '0.000')
    """
    text = decimals(value)
    return f"+{text}" if value > 0 and text != "0.000" else text
