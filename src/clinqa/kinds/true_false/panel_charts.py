"""The charts of a panel: the primary metric, pairs, planes, agreement, difficulty, size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clinqa.kinds.facets.charts import (
    Bar,
    Dots,
    HeatMap,
    Histogram,
    Plane,
    PlanePoint,
    Plate,
    StackedBars,
)
from clinqa.kinds.facets.figure_tables import dot_of
from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.kinds.true_false.panel_tables import figure_of

__all__ = [
    "PAIRS",
    "difficulty_chart",
    "heat_map",
    "pair_bars",
    "planes",
    "plates",
    "primary_dots",
    "scale_dots",
]

PAIRS = (
    ("pair_both", "both right", "e0"), ("pair_one", "one right", "e2"),
    ("pair_none", "none right", "e3"),
)  # fmt: skip
_FOREST = ("accuracy", "macro_f1", "sensitivity", "specificity", "youden_j", "pair_both")
_BILLION = 1e9


def plates(evaluation: Evaluation) -> dict[str, Plate]:
    """The pictures for a paper."""
    forest = [_dots(evaluation, metric, evaluation.metric_name(metric)) for metric in _FOREST]
    made = {
        "results": Plate(forest, 3),
        "planes": Plate(planes(evaluation)),
    }
    more = {"kappa": heat_map(evaluation), "difficulty": difficulty_chart(evaluation)}
    made |= {name: Plate([chart]) for name, chart in more.items() if chart}
    sizes = scale_dots(evaluation)
    return made | ({"scale": Plate(sizes)} if sizes else {})


def primary_dots(evaluation: Evaluation) -> Dots:
    """The declared metric of each run that has it."""
    metric = str(evaluation.meta["family"]["metric"])
    return _dots(evaluation, metric, f"{evaluation.metric_name(metric)}, 95 % over pairs")


def _dots(evaluation: Evaluation, metric: str, title: str) -> Dots:
    dots = [
        dot_of(run.numbered, figure, run.look, "members" in run.about)
        for run in evaluation.runs
        if (figure := figure_of(evaluation, run, metric)) is not None
    ]
    return Dots("chart-primary", title, dots)


def pair_bars(evaluation: Evaluation) -> StackedBars | None:
    """Of each run the pairs with both, one or none right."""
    bars = []
    for run in evaluation.runs:
        found = [figure_of(evaluation, run, key) for key, _, _ in PAIRS]
        values = [figure.value for figure in found if figure and figure.value is not None]
        if len(values) == len(PAIRS):
            parts = zip(PAIRS, values, strict=True)
            bars.append(Bar(run.numbered, tuple((name, v, look) for (_, name, look), v in parts)))
    return StackedBars("chart-pairs", "Pairs, % of pairs", bars) if bars else None


def planes(evaluation: Evaluation) -> list[Plane]:
    """Sensitivity against specificity, and precision against recall."""
    drawn = []
    for key, level, title, axes in (
        ("roc", "j", "Sensitivity and specificity", ("1 − specificity", "sensitivity")),
        ("pr", "f1", "Precision and recall", ("recall (sensitivity)", "precision")),
    ):
        found = (_point(evaluation, run, key) for run in evaluation.runs)
        points = [point for point in found if point is not None]
        drawn.append(Plane(f"chart-{key}", title, axes, points, level))
    return drawn


def _point(evaluation: Evaluation, run: ShownRun, key: str) -> PlanePoint | None:
    plane = evaluation.meta["panel"]["plane"]
    one: Mapping[str, Any] = next((one for one in plane if one["run"] == run.id), {})
    recall, kept, exact = (one.get(name) for name in ("sensitivity", "specificity", "precision"))
    x, y = (None if kept is None else 1 - kept, recall) if key == "roc" else (recall, exact)
    if x is None or y is None:
        return None
    base = next((other.number for other in evaluation.runs if other.id == one.get("base")), None)
    hollow, front = "members" in run.about, bool(one[f"{key}_frontier"])
    return PlanePoint(run.number, run.label, run.look, x, y, front, hollow, base)


def heat_map(evaluation: Evaluation) -> HeatMap | None:
    """Kappa of every two judges, those that agree beside each other."""
    found = evaluation.meta["panel"].get("agreement")
    if not found:
        return None
    names = [evaluation.label(one) for one in found["judges"]]
    told = "Kappa of every two judges; the numbers stand in the cells and in tables/kappa.csv."
    return HeatMap("chart-kappa", "Cohen's κ", names, names, found["value"], told)


def difficulty_chart(evaluation: Evaluation) -> Histogram | None:
    """How many statements so many models judged right, True and False apart."""
    found = evaluation.meta["panel"].get("difficulty")
    if not found:
        return None
    bars = [
        Bar(str(row["right"]), (("True statements", row["true"], "e1"),
                                ("False statements", row["false"], "e3")))
        for row in found["histogram"]
    ]  # fmt: skip
    return Histogram("chart-difficulty", "Statements by how many models are right", bars,
                     ("models that are right", "statements"))  # fmt: skip


def scale_dots(evaluation: Evaluation) -> list[Dots]:
    """A chart a family: its models by size."""
    runs = {run.id: run for run in evaluation.runs}
    made = []
    for at, (family, among) in enumerate((evaluation.meta["panel"].get("scale") or {}).items()):
        dots = []
        for one in among:
            run, size = runs[one["run"]], one["parameters"] / _BILLION
            figure = figure_of(evaluation, run, "accuracy")
            if figure is not None:
                dots.append(dot_of(f"{size:.3g} B  {run.label}", figure, run.look))
        title = f"{family}: accuracy by size, 95 % over pairs"
        made.append(Dots(f"chart-scale-{at}", title, dots))
    return made
