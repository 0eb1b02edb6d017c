"""The page of an evaluation: its sections put together (see html.py for what pages share)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from markupsafe import Markup

from clinqa.core.figures import Figure
from clinqa.present.report import about, results, subsets
from clinqa.present.report.charts import Bar, Dot, dot_panel, stacked_panel
from clinqa.present.report.claims import primary_metric, summary
from clinqa.present.report.examples import worst
from clinqa.present.report.fairness.charts import drawn
from clinqa.present.report.fairness.read import Audit
from clinqa.present.report.fairness.says import sentences
from clinqa.present.report.fairness.tables import audit_tables
from clinqa.present.report.html import environment, inlined_json, page_of
from clinqa.present.report.marks import Verdicts
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.tables import Table
from clinqa.present.report.words import ERROR_KINDS, GRAVEST, METRICS, NO_ANSWER, Named, metric_name

__all__ = ["all_tables", "fairness_section", "render"]

PANELS = 6
_ROOM = 28  # letters of a name in a chart
_SYMBOLS = "†‡§¶‖#"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A table with a symbol for each reason why a figure is missing."""

    table: Table
    symbols: Mapping[str, str]


def all_tables(evaluation: Evaluation) -> dict[str, Table]:
    """Every table of the page by its id, in the page's order."""
    verdicts = Verdicts(evaluation.tests)
    made = (
        about.run_table(evaluation),
        results.results(evaluation, verdicts),
        subsets.levels_overall(evaluation),
        subsets.other_bleus(evaluation),
        about.human_sample(evaluation),
        about.scale(evaluation),
        results.dangerous(evaluation),
        results.error_kinds(evaluation),
        subsets.by_subset(evaluation, "abnormality"),
        subsets.by_subset(evaluation, "level"),
        subsets.seen_unseen(evaluation),
        results.statuses(evaluation),
        subsets.tests(evaluation),
        subsets.tests(evaluation, declared=False),
        about.costs(evaluation),
    )
    tables = {table.id: table for table in made if table is not None}
    if evaluation.audit is not None:
        tables |= audit_tables(evaluation.audit, audit_labels(evaluation))
    return tables


def audit_labels(evaluation: Evaluation) -> dict[str, str]:
    """What the audit's runs are called: as everywhere on the page, where it holds them."""
    assert evaluation.audit is not None
    return evaluation.audit.labels() | {run.id: run.label for run in evaluation.runs}


def render(
    evaluation: Evaluation,
    *,
    title: str = "",
    examples: bool = True,
    page: str = "report.html",
) -> str:
    """The whole page as one string of HTML."""
    verdicts = Verdicts(evaluation.tests)
    tables = all_tables(evaluation)
    shown_examples = worst(evaluation) if examples else []
    return page_of(
        "report.html.j2",
        evaluation.data_class,
        title=title or "Evaluation of clinical question answering",
        with_examples=bool(shown_examples),
        examples_wanted=examples,
        when=max((m.finished for m in evaluation.manifests), default=""),
        summary=summary(evaluation, verdicts),
        warnings=evaluation.warnings,
        dataset=about.dataset_facts(evaluation),
        scoring=about.scoring_facts(evaluation),
        versions=about.versions(evaluation),
        tables=_shown(tables),
        charts=_charts(evaluation),
        panels_note=_panels_note(evaluation),
        meanings=_meanings(tables["results"]),
        error_kinds=_kinds_drawn(evaluation),
        groups=list(
            dict.fromkeys((_look(run), results.group_name(run)) for run in evaluation.runs)
        ),
        any_marks={cell.mark for row in tables["results"].rows for cell in row.cells} - {""},
        primary=metric_name(primary_metric(evaluation)),
        examples=shown_examples,
        commands=about.commands(evaluation, page),
        human=evaluation.meta.get("human"),
        seen_table="seen" in tables,
        fairness=evaluation.audit and _fairness_of(evaluation),
        figures=inlined_json(_figures(evaluation)),
    )


def fairness_section(audit: Audit, labels: Mapping[str, str], looks: Mapping[str, str]) -> Markup:
    """The section on fairness for a page of another kind; `labels` and `looks` are those of its
    runs there."""
    known = {**audit.labels(), **labels}
    tables = _shown(audit_tables(audit, known))
    template = environment().get_template("fairness.html.j2")
    # the template has escaped everything
    return Markup(template.render(fairness=_fairness(audit, known, looks), tables=tables))  # noqa: S704


def _fairness_of(evaluation: Evaluation) -> dict[str, Any]:
    assert evaluation.audit is not None
    looks = {run.id: _look(run) for run in evaluation.runs}
    return _fairness(evaluation.audit, audit_labels(evaluation), looks)


def _fairness(audit: Audit, labels: Mapping[str, str], looks: Mapping[str, str]) -> dict[str, Any]:
    """What the section on fairness shows."""
    names = {str(run["run"]): str(run["name"]) for run in audit.meta["runs"]}
    # a chart has little room: a name that would be cut there is the run's folder instead
    short = {run: text if len(text) <= _ROOM else names[run] for run, text in labels.items()
             if run in names}  # fmt: skip
    return {
        "charts": drawn(audit, short, looks),
        "said": {metric: sentences(audit, metric, labels) for metric in audit.metrics},
        "settings": audit.meta["settings"],
        "who": audit.who,
        "warnings": audit.meta.get("warnings") or [],
    }


def _shown(tables: Mapping[str, Table]) -> dict[str, _Shown]:
    return {key: _Shown(table, _symbols(table)) for key, table in tables.items()}


def _figures(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "figures": [f.as_json() for found in evaluation.figures.values() for f in found],
        "tests": [test.as_json() for test in evaluation.tests],
        "gaps": [asdict(gap) for gap in evaluation.audit.gaps] if evaluation.audit else [],
    }


def _symbols(table: Table) -> dict[str, str]:
    reasons = dict.fromkeys(cell.reason for row in table.rows for cell in row.cells if cell.reason)
    return {
        reason: _SYMBOLS[n] if n < len(_SYMBOLS) else f"*{n}" for n, reason in enumerate(reasons)
    }


def _meanings(table: Table) -> list[tuple[str, str]]:
    keys = [column.title for column in table.columns]
    return [(metric.name, metric.meaning) for metric in METRICS if metric.name in keys]


def _look(run: Run) -> str:
    return f"g-{run.group or 'none'}"


def _charts(evaluation: Evaluation) -> dict[str, list[Markup]]:
    charts: dict[str, list[Markup]] = {
        name: [] for name in ("results", "dangerous", "errors", "abnormality", "level")
    }
    for metric in dict.fromkeys((primary_metric(evaluation), "level_accuracy")):
        if len(evaluation.signatures(metric)) == 1:
            charts["results"].append(_run_dots(evaluation, metric, metric_name(metric)))
    bars = _error_bars(evaluation)
    if bars:
        charts["errors"].append(stacked_panel("chart-errors", "Kinds of error, % of items", bars))
    for kind in GRAVEST:
        if any(f.value is not None for f in _of_runs(evaluation, kind.key)):
            charts["dangerous"].append(_run_dots(evaluation, kind.key, f"{_danger(kind)}, share"))
    for key in ("abnormality", "level"):
        charts[key] = _subset_panels(evaluation, key)
    return charts


def _danger(kind: Named) -> str:
    return "any dangerous error" if kind.key.endswith("_any") else kind.name


def _run_dots(evaluation: Evaluation, metric: str, title: str) -> Markup:
    dots = []
    for run in evaluation.runs:
        figure = evaluation.figure(run.id, metric)
        value, low, high = (figure.value, figure.low, figure.high) if figure else (None, None, None)
        dots.append(Dot(run.label, value, low, high, _look(run), hollow=run.shots == 0))
    return dot_panel(f"chart-{metric.replace('_', '-')}", title, dots)


def _of_runs(evaluation: Evaluation, metric: str) -> list[Figure]:
    found = (evaluation.figure(run.id, metric) for run in evaluation.runs)
    return [figure for figure in found if figure is not None]


def _kinds_drawn(evaluation: Evaluation) -> list[tuple[str, Named]]:
    kinds = [(f"e{number}", kind) for number, kind in enumerate(ERROR_KINDS)]
    if any(results.no_answer(evaluation, run) for run in evaluation.runs):
        kinds.append((f"e{len(kinds)}", NO_ANSWER))
    return kinds


def _error_bars(evaluation: Evaluation) -> list[Bar]:
    bars = []
    for run in evaluation.runs:
        parts = []
        for number, kind in enumerate(ERROR_KINDS):
            figure = evaluation.figure(run.id, kind.key)
            if figure is not None and figure.value is not None:
                parts.append((kind.name, figure.value, f"e{number}"))
        if parts:
            rest = results.no_answer(evaluation, run)
            if rest:
                parts.append((NO_ANSWER.name, rest, f"e{len(ERROR_KINDS)}"))
            bars.append(Bar(run.label, tuple(parts)))
    return bars


def _panel_runs(evaluation: Evaluation) -> list[Run]:
    """The runs that get a panel of their own: all, or the highest by level accuracy."""

    def height(run: Run) -> float:
        figure = evaluation.figure(run.id, "level_accuracy")
        return -(figure.value or 0.0) if figure is not None else 1.0

    chosen = sorted(evaluation.runs, key=height)[:PANELS]
    return [run for run in evaluation.runs if run in chosen]


def _panels_note(evaluation: Evaluation) -> str:
    if len(evaluation.runs) <= PANELS:
        return ""
    return f"Drawn: the {PANELS} runs of the highest level accuracy. The table holds all."


def _subset_panels(evaluation: Evaluation, key: str) -> list[Markup]:
    table = subsets.by_subset(evaluation, key)
    if table is None:
        return []
    panels = []
    for number, run in enumerate(evaluation.runs):
        if run not in _panel_runs(evaluation):
            continue
        cells = [(row.head, row.cells[number + 1]) for row in table.rows]  # the first is the count
        dots = [Dot(head, c.value, c.low, c.high, _look(run), run.shots == 0) for head, c in cells]
        panels.append(dot_panel(f"chart-{key}-{number}", run.label, dots, label_width=212))
    return panels
