"""The page of a kind that has no facet `shows`: its figures over all items, and the tests."""

from __future__ import annotations

from clinqa.kinds.facets.about_runs import about_facts, commands, costs, run_table
from clinqa.kinds.facets.charts import Dots, Plate
from clinqa.kinds.facets.figure_tables import (
    MODEL_SHOTS,
    best_sentences,
    dot_of,
    marked_rows,
    metric_columns,
    paired_tests,
)
from clinqa.kinds.facets.pages import Grid, PageSection, Panels, ShownPage, in_short
from clinqa.kinds.facets.shows import Evaluation, PageAsked, Shows

__all__ = ["PLAIN"]


def _page(evaluation: Evaluation, asked: PageAsked) -> ShownPage:
    overall = {metric for _, metric, subset in evaluation.figures if not subset}
    declared = str((evaluation.meta.get("family") or {}).get("metric") or "")
    primary = declared if declared in overall else min(overall, default="")
    charts = [
        _dots(evaluation, metric)
        for metric in sorted(overall, key=lambda metric: (metric != primary, metric))
        if len(evaluation.signatures(metric)) == 1
    ]
    first = (evaluation.figure(run.id, primary) for run in evaluation.runs)
    said = best_sentences(evaluation.metric_name(primary), evaluation, first)
    made = (
        in_short(said, warnings=evaluation.warnings),
        PageSection(
            "about", "What was evaluated", [about_facts(evaluation), run_table(evaluation)]
        ),
        PageSection("results", "Results", [_figures(evaluation, sorted(overall)), Panels(charts)]),
        _tabled("tests", "Paired tests", paired_tests(evaluation)),
        asked.audit,
        _tabled("costs", "Speed and tokens", costs(evaluation)),
        PageSection("reproduce", "How to do it again", commands(evaluation, asked.file)),
    )
    return ShownPage(
        asked.title or "Evaluation",
        max((manifest.finished for manifest in evaluation.manifests), default=""),
        [section for section in made if section is not None],
        {"results": Plate(charts)} if charts else {},
        evaluation.data(),
        own_tables=True,
    )


def _tabled(key: str, title: str, grid: Grid | None) -> PageSection | None:
    return PageSection(key, title, [grid]) if grid is not None else None


def _figures(evaluation: Evaluation, metrics: list[str]) -> Grid:
    columns, footnotes = metric_columns(evaluation, metrics)
    heads = tuple(column for column, _, _ in columns)
    rows = tuple(marked_rows(evaluation, columns))
    caption = "Figures over all items; in brackets the 95 % interval"
    return Grid("results", caption, MODEL_SHOTS, heads, rows, footnotes=footnotes)


def _dots(evaluation: Evaluation, metric: str) -> Dots:
    figures = ((run, evaluation.figure(run.id, metric)) for run in evaluation.runs)
    dots = [dot_of(run.numbered, figure, run.look) for run, figure in figures]
    known = [v for dot in dots for v in (dot.value, dot.low, dot.high) if v is not None]
    ends = min([0.0, *known]), max([1.0, *known])
    return Dots(f"chart-{metric.replace('_', '-')}", evaluation.metric_name(metric), dots, *ends)


PLAIN = Shows(_page)
