"""The charts of figures: results, dangerous errors, kinds of error, parts of the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinqa.kinds.facets.charts import Bar, Dot, Dots, HeatMap, Plate, StackedBars
from clinqa.kinds.facets.figure_tables import dot_of
from clinqa.kinds.facets.pages import Grid, Swatch
from clinqa.kinds.facets.shows import Evaluation, MetricName, ShownRun
from clinqa.kinds.long_form.claims import primary_metric
from clinqa.kinds.long_form.metric_names import (
    ANSWERED,
    ANY_DANGER,
    DANGEROUS,
    ERROR_KINDS,
    GRAVEST,
    NO_ANSWER,
    RESULT_METRICS,
)
from clinqa.kinds.long_form.result_tables import by_subset, no_answer

__all__ = ["PANELS", "danger_dots", "error_bars", "error_swatches", "plates", "result_dots",
           "subset_dots"]  # fmt: skip

PANELS = 6


def plates(evaluation: Evaluation) -> dict[str, Plate]:
    """The pictures for a paper."""
    primary = primary_metric(evaluation)
    # figures made in two ways never share an axis
    one_way = [metric for metric in RESULT_METRICS if len(evaluation.signatures(metric)) == 1]
    metrics = {
        metric: evaluation.metric_name(metric) + (" (primary)" if metric == primary else "")
        for metric in one_way
    }
    dangers = {
        kind.key: f"{kind.name}, share" if kind is ANSWERED else kind.name
        for kind in _valued(evaluation, [*ANY_DANGER, ANSWERED, *DANGEROUS[len(ANY_DANGER) :]])
    }
    made = {
        name: Plate([_dots(evaluation, key, title) for key, title in named.items()], 3)
        for name, named in (("results", metrics), ("dangerous", dangers))
        if named
    }
    bars = error_bars(evaluation)
    made |= {"errors": Plate(bars)} if bars else {}
    for key in ("abnormality", "level"):
        grid = by_subset(evaluation, key)
        if grid is not None:
            made[f"by-{key}"] = Plate([_heat_map(grid)], note=_NOTE)
    return made


_NOTE = "level accuracy; numbers of items and intervals stand in the table"


def _heat_map(grid: Grid) -> HeatMap:
    values = [[cell.value for cell in row.cells[1:]] for row in grid.rows]
    heads, titles = [row.head for row in grid.rows], [c.title for c in grid.columns[1:]]
    return HeatMap(f"chart-{grid.id}", "", heads, titles, values, grid.caption)


def _valued(evaluation: Evaluation, kinds: Iterable[MetricName]) -> list[MetricName]:
    return [
        kind
        for kind in kinds
        if any(
            figure is not None and figure.value is not None
            for figure in (evaluation.figure(run.id, kind.key) for run in evaluation.runs)
        )
    ]


def _dots(evaluation: Evaluation, metric: str, title: str) -> Dots:
    dots = [
        dot_of(run.label, evaluation.figure(run.id, metric), run.look, run.shots == 0)
        for run in evaluation.runs
    ]
    return Dots(f"chart-{metric.replace('_', '-')}", title, dots)


def result_dots(evaluation: Evaluation) -> list[Dots]:
    """The primary metric and the level, where each was computed in one way."""
    return [
        _dots(evaluation, metric, evaluation.metric_name(metric))
        for metric in dict.fromkeys((primary_metric(evaluation), "level_accuracy"))
        if len(evaluation.signatures(metric)) == 1
    ]


def danger_dots(evaluation: Evaluation) -> list[Dots]:
    """The rate of all items and of answered ones, the share that was answered, and the gravest."""
    names = {kind.key: f"dangerous errors: {kind.name}" for kind in ANY_DANGER}
    first, rest = GRAVEST[: len(ANY_DANGER)], GRAVEST[len(ANY_DANGER) :]
    return [
        _dots(evaluation, kind.key, f"{names.get(kind.key, kind.name)}, share")
        for kind in _valued(evaluation, [*first, ANSWERED, *rest])
    ]


def error_swatches(evaluation: Evaluation) -> list[Swatch]:
    """The colours of the kinds of error."""
    kinds = list(ERROR_KINDS)
    if any(no_answer(evaluation, run) for run in evaluation.runs):
        kinds.append(NO_ANSWER)
    return [Swatch(kind.name, "part", f"e{at}") for at, kind in enumerate(kinds)]


def error_bars(evaluation: Evaluation) -> list[StackedBars]:
    """What kinds of error each run makes."""
    bars = []
    for run in evaluation.runs:
        found = [evaluation.figure(run.id, kind.key) for kind in ERROR_KINDS]
        parts = [
            (kind.name, figure.value, f"e{at}")
            for at, (kind, figure) in enumerate(zip(ERROR_KINDS, found, strict=True))
            if figure is not None and figure.value is not None
        ]
        rest = no_answer(evaluation, run)
        if parts and rest:
            parts.append((NO_ANSWER.name, rest, f"e{len(ERROR_KINDS)}"))
        bars += [Bar(run.label, tuple(parts))] if parts else []
    return [StackedBars("chart-errors", "Kinds of error, % of items", bars)] if bars else []


def subset_dots(evaluation: Evaluation, grid: Grid) -> list[Dots]:
    """A panel a run: its cells of a table whose first column is a count."""
    return [
        Dots(f"chart-{grid.id.removeprefix('by-')}-{at}", run.label, _cells(run, at, grid),
             room=212)
        for at, run in enumerate(evaluation.runs)
        if run in _drawn(evaluation)
    ]  # fmt: skip


def _cells(run: ShownRun, at: int, grid: Grid) -> Sequence[Dot]:
    cells = [(row.head, row.cells[at + 1]) for row in grid.rows]
    return [Dot(head, c.value, c.low, c.high, run.look, run.shots == 0) for head, c in cells]


def _drawn(evaluation: Evaluation) -> list[ShownRun]:
    """The runs that get a panel of their own: all, or the highest by level accuracy."""

    def height(run: ShownRun) -> float:
        figure = evaluation.figure(run.id, "level_accuracy")
        return -(figure.value or 0.0) if figure is not None else 1.0

    return sorted(evaluation.runs, key=height)[:PANELS]
