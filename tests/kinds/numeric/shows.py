"""The page: who is best, a table and a chart of each figure, the tests, how it was made."""

from __future__ import annotations

from clinqa.kinds.facets.about_runs import how_computed
from clinqa.kinds.facets.charts import Dots, Plate
from clinqa.kinds.facets.figure_tables import (
    MODEL_SHOTS,
    best_sentences,
    declared_section,
    dot_of,
    marked_rows,
    metric_columns,
)
from clinqa.kinds.facets.pages import Grid, PageSection, Panels, ShownPage, in_short
from clinqa.kinds.facets.shows import Evaluation, MetricName, PageAsked, Shows

NAMES = (
    MetricName("within", "Within tolerance", "share of numbers that are near enough"),
    MetricName("distance", "Distance", "mean distance of the answers from their numbers"),
)


def _page(evaluation: Evaluation, asked: PageAsked) -> ShownPage:
    metric = str(evaluation.meta["family"]["metric"])
    figures = [evaluation.figure(run.id, metric) for run in evaluation.runs]
    name = evaluation.metric_name(metric).lower()
    said = best_sentences(name, evaluation, figures)
    charts = [_dots(evaluation, one) for one in NAMES]
    made = (
        in_short(said, warnings=evaluation.warnings),
        PageSection("results", "Results", [_table(evaluation), Panels(charts)]),
        declared_section(evaluation, "numbers", "patients"),
        asked.audit,
        how_computed(evaluation, asked.file, "drawn by {}", lambda run: f"{run['items']} numbers"),
    )
    return ShownPage(
        asked.title or "Numbers",
        evaluation.manifests[0].finished,
        [section for section in made if section is not None],
        {"results": Plate(charts)},
        evaluation.data(),
    )


def _table(evaluation: Evaluation) -> Grid:
    columns, notes = metric_columns(evaluation, [name.key for name in NAMES])
    heads, rows = tuple(one for one, _, _ in columns), tuple(marked_rows(evaluation, columns))
    caption = "Each run, with 95 % intervals"
    return Grid("figures", caption, MODEL_SHOTS, heads, rows, footnotes=notes, meanings=True)


def _dots(evaluation: Evaluation, name: MetricName) -> Dots:
    found = [(run, evaluation.figure(run.id, name.key)) for run in evaluation.runs]
    top = max([1.0, *(one.high or one.value or 0.0 for _, one in found if one)])
    dots = [dot_of(run.numbered, figure, run.look) for run, figure in found]
    return Dots(f"chart-{name.key}", name.name, dots, top=top)


SHOWS = Shows(_page, NAMES, needs=("family.metric",))
