"""Tables that scores of any kind can have: figures by run, parts of the items, paired tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from string import ascii_lowercase

from clinqa.core.figures import Figure, PairedTest
from clinqa.core.wording import MISSING, count, decimals, interval, p_value, signed
from clinqa.kinds.facets.charts import Dot
from clinqa.kinds.facets.pages import (
    Grid,
    GridCell,
    GridColumn,
    GridRow,
    PageSection,
    Prose,
    bracketed,
    spanned,
)
from clinqa.kinds.facets.shows import GROUPS, Evaluation, ShownRun
from clinqa.stats.verdicts import ALPHA, Told, Verdicts, best_sentence, ranked, verdict_of

__all__ = [
    "MODEL_SHOTS",
    "MetricColumn",
    "best_sentences",
    "declared_section",
    "dot_of",
    "figure_cell",
    "grid_of_runs",
    "marked_rows",
    "metric_columns",
    "paired_tests",
]

MODEL_SHOTS = "Model, shots"
_MOST = 60  # declared tests that a page lists
MetricColumn = tuple[GridColumn, str, str]  # the column, its metric and signature


def metric_columns(
    evaluation: Evaluation, metrics: Iterable[str]
) -> tuple[list[MetricColumn], tuple[tuple[str, str], ...]]:
    """Columns of these metrics, and the signatures their letters stand for.

    A column holds figures of one signature only; a metric computed in two ways has two columns.
    """
    columns: list[MetricColumn] = []
    footnotes: list[tuple[str, str]] = []
    for metric in metrics:
        signatures, name = evaluation.signatures(metric), evaluation.metric_name(metric)
        known = evaluation.names.get(metric)
        for number, signature in enumerate(signatures):
            letter = _letter(len(footnotes))
            footnotes.append((letter, f"{name}: {signature or 'no signature'}"))
            key = metric if len(signatures) == 1 else f"{metric}_{number + 1}"
            column = GridColumn(key, name, known.meaning if known else "", letter, figures=True)
            columns.append((column, metric, signature))
    return columns, tuple(footnotes)


def _letter(number: int) -> str:
    return ascii_lowercase[number % 26] * (number // 26 + 1)


def figure_cell(
    evaluation: Evaluation, run: ShownRun, metric: str, figure: Figure | None, mark: str = ""
) -> GridCell:
    """A figure with its interval and its spread over repeats, or why it is missing."""
    if figure is None and evaluation.figure(run.id, metric):
        return GridCell(MISSING, reason="computed in another way: see the other column")
    if figure is None or figure.value is None:
        return GridCell(MISSING, reason=evaluation.reason(run.id, metric))
    spread = evaluation.entry("spreads", run.id, metric)
    size = spread.get("value")
    words = (
        f"± {decimals(float(size))} {spread.get('kind', '')}".rstrip() if size is not None else ""
    )
    return bracketed(figure, spread=words, mark=mark)


def _alike(figures: Iterable[Figure]) -> dict[tuple[int, str], list[Figure]]:
    """Those with a value, by how many items they are of and how they were made."""
    ways: dict[tuple[int, str], list[Figure]] = {}
    for figure in figures:
        if figure.value is not None:
            ways.setdefault((figure.n, figure.signature), []).append(figure)
    return ways


def _apart(signature: str, among: Iterable[tuple[int, str]]) -> str:
    """The parts of a signature that not all of them have."""
    common = set.intersection(*(set(one.split("|")) for _, one in among))
    return ", ".join(part for part in signature.split("|") if part not in common)


def best_sentences(
    told: str,
    evaluation: Evaluation,
    figures: Iterable[Figure | None],
    alpha: float = ALPHA,
    items: str = "items",
) -> list[str]:
    """Who is best by this metric and whether a test says so, among runs asked equally many items in
    one way; those that were asked others, or otherwise, are not comparable with them."""
    ways = _alike(figure for figure in figures if figure is not None)
    sizes = len({n for n, _ in ways})
    declared = replace(evaluation, tests=evaluation.declared)
    said: list[str] = []
    for (n, how), own in sorted(ways.items(), key=lambda way: (-way[0][0], way[0][1])):
        among = f" over {n:,} {items}" if sizes > 1 else ""
        among += f" ({_apart(how, ways)})" if len(ways) > sizes else ""
        found = ranked(own, evaluation.lower)
        if len(found) == 1:
            only = found[0]
            name = f"{told[:1].upper()}{told[1:]}{among}"
            said.append(f"{name}: {evaluation.label(only.run)}, {decimals(only.value)}.")
        else:
            said += best_sentence(f"{told}{among}", declared, found, alpha)
    if len(ways) > 1:
        other = f"over different {items}" if sizes > 1 else "asked in different ways"
        said.append(f"Runs {other} are not comparable by these figures.")
    return said


def marked_rows(evaluation: Evaluation, columns: Sequence[MetricColumn]) -> list[GridRow]:
    """A row a run; within its group of models, what the tests allow to be called best is marked."""
    verdicts = Verdicts(evaluation.declared, lower=evaluation.lower)
    rows: dict[str, list[GridCell]] = {run.id: [] for run in evaluation.runs}
    for _, metric, signature in columns:
        found = {run.id: evaluation.figure(run.id, metric, signature) for run in evaluation.runs}
        marks: dict[str, str] = {}
        for group in {run.group for run in evaluation.runs}:
            own = [found[run.id] for run in evaluation.runs if run.group == group]
            known = [figure for figure in own if figure is not None]
            if len(_alike(known)) < 2:  # figures of other items are not comparable
                marks |= verdicts.marks(known)
        for run in evaluation.runs:
            cell = figure_cell(evaluation, run, metric, found[run.id], marks.get(run.id, ""))
            rows[run.id].append(cell)
    return [GridRow(run.label, tuple(rows[run.id]), GROUPS[run.group]) for run in evaluation.runs]


def grid_of_runs(
    evaluation: Evaluation,
    key: str,
    caption: str,
    columns: Sequence[GridColumn],
    cells: Callable[[ShownRun], Iterable[GridCell]],
    *,
    meanings: bool = True,
) -> Grid:
    """A row a run, under the headings of their groups of models."""
    rows = [GridRow(run.label, tuple(cells(run)), GROUPS[run.group]) for run in evaluation.runs]
    return Grid(key, caption, MODEL_SHOTS, tuple(columns), tuple(rows), meanings=meanings)


def dot_of(label: str, figure: Figure | None, look: str, hollow: bool = False) -> Dot:
    """A figure in a chart; one that is not there keeps its row."""
    if figure is None:
        return Dot(label, None, look=look, hollow=hollow)
    return Dot(label, figure.value, figure.low, figure.high, look, hollow)


def paired_tests(evaluation: Evaluation, *, declared: bool = True) -> Grid | None:
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
    rows = [_test_row(evaluation, test, labels[test.a], labels[test.b]) for test in known]
    return Grid(
        "tests" if declared else "tests-exploratory",
        "Declared family: paired tests between runs on the same items"
        if declared
        else "Outside the family: paired tests that decide nothing",
        "First − second",
        (
            GridColumn("metric", "Metric", numeric=False),
            GridColumn("difference", "Difference", "first minus second, 95 % interval",
                       figures=True),
            GridColumn("items", "Items"),
            GridColumn("p", "p", "of one comparison on its own"),
            GridColumn("p_holm", "p, Holm", "adjusted over the declared family"),
            GridColumn("verdict", "Verdict", "at 0.05 after Holm", numeric=False),
        ),
        tuple(rows),
    )  # fmt: skip


def _test_row(evaluation: Evaluation, test: PairedTest, one: str, two: str) -> GridRow:
    verdict = {
        Told.NOT_TESTED: "not corrected: exploratory",
        Told.NOT_TOLD_APART: "not told apart",
    }.get(verdict_of(test), f"{one if test.difference > 0 else two} higher")
    outside = "" if test.p_holm is not None else "outside the declared family"
    cells = (
        GridCell(evaluation.metric_name(test.metric)),
        GridCell(signed(test.difference), interval(test.low, test.high, signed),
                 value=test.difference, low=test.low, high=test.high),
        GridCell(count(test.n) if test.n else MISSING, reason="" if test.n else "not recorded"),
        GridCell(p_value(test.p), value=test.p),
        GridCell(p_value(test.p_holm), value=test.p_holm, reason=outside),
        GridCell(verdict),
    )  # fmt: skip
    return GridRow(f"{one} − {two}", cells)


def _declared_tests(evaluation: Evaluation, items: str, clusters: str) -> Grid | None:
    """The declared tests as the scorer orders them, the first of many; what n counts is named."""
    found = [test for test in evaluation.tests if test.p_holm is not None]
    if not found:
        return None
    rows = [
        GridRow(
            evaluation.label(test.a),
            (
                GridCell(evaluation.label(test.b)),
                spanned(test.difference, test.low, test.high, write=signed),
                GridCell(p_value(test.p), value=test.p),
                GridCell(p_value(test.p_holm), value=test.p_holm),
                GridCell(str(test.n)),
                GridCell(str(test.clusters)),
            ),
        )
        for test in found[:_MOST]
    ]
    columns = (
        GridColumn("b", "B", numeric=False), GridColumn("difference", "A − B", figures=True),
        GridColumn("p", "p"), GridColumn("p_holm", "p, Holm"), GridColumn("n", items),
        GridColumn("clusters", clusters),
    )  # fmt: skip
    left = len(found) - _MOST
    notes = (f"{left} more stand in tables/tests.csv.",) if left > 0 else ()
    return Grid("declared", "", "A", columns, tuple(rows), notes)


def declared_section(
    evaluation: Evaluation, items: str, clusters: str, read: str = ""
) -> PageSection | None:
    """The section of the declared tests, with how they were made."""
    grid, family = _declared_tests(evaluation, items, clusters), evaluation.meta["family"]
    if grid is None:
        return None
    said = (
        f"Declared beforehand: {family['declared']} on {family['metric']}, "
        f"{family['comparisons']} comparisons{read}. {family['method']}. {family['adjusted']}."
    )
    return PageSection("tests", "Tests", [Prose(said), grid])
