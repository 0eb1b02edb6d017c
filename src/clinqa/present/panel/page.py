"""The page of a panel: tables and charts put together, rendered by a template that escapes all.

Nothing on it runs and nothing is fetched; it holds no text of a statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from clinqa.core.figures import Figure
from clinqa.present.panel.charts import Point, heat_map, histogram, plane
from clinqa.present.panel.read import BY_PAIR, BY_SOURCE, LEFT_OUT, WRONG, Panel, PanelRun
from clinqa.present.panel.says import MEANINGS, summary
from clinqa.present.report.charts import Bar, Dot, dot_panel, stacked_panel
from clinqa.present.report.html import declared, inlined_json, page_of, three_digits
from clinqa.present.report.page import fairness_section
from clinqa.present.report.tables import Cell, Column, Row, Table

__all__ = ["main_table", "render_panel"]

_MAIN = (
    "accuracy", "macro_f1", "sensitivity", "specificity", "precision", "mcc", "kappa", "youden_j",
)  # fmt: skip
_LEANING = ("directional_bias", "true_share", "pair_both", "pair_one", "pair_none")
_STATUSES = ("ambiguous", "refused", "empty", "truncated", "unreadable", "error")
_PAIRS = (
    ("pair_both", "both right", "e0"), ("pair_one", "one right", "e2"),
    ("pair_none", "none right", "e3"),
)  # fmt: skip
_BILLION = 1e9
#: Parts that scores need not have.
_ABSENT: dict[str, Any] = {
    **{name: [] for name in ("ensembles", "relations", "errors", "medical_general", "transfer")},
    "search": None,
    "scale": {},
    "difficulty": None,
    "repeats": 1,
}


def render_panel(panel: Panel, *, title: str = "", page: str = "report.html") -> str:
    """The whole page as one string of HTML."""
    return page_of(
        "panel.html.j2",
        panel.data_class,
        "clinqa.present.panel",
        "panel.css",
        title=title or "True or False: the panel",
        when=panel.manifest.finished[:10],
        meta=panel.meta,
        panel={**_ABSENT, **panel.panel},
        runs=panel.runs,
        label=panel.label,
        summary=summary(panel),
        meanings=[(name, MEANINGS[name]) for name in (*_MAIN, *_LEANING)],
        main=_table(panel, _MAIN, WRONG, BY_PAIR),
        leaning=_table(panel, _LEANING, "", BY_PAIR),
        by_source=_table(panel, ("accuracy", "macro_f1", "youden_j", "kappa"), WRONG, BY_SOURCE),
        left_out=_table(panel, ("accuracy", "macro_f1", "youden_j", "kappa"), LEFT_OUT, BY_PAIR),
        statuses=_table(panel, tuple(f"status_{s}" for s in _STATUSES), WRONG, BY_PAIR),
        categories=_categories(panel),
        rankings=panel.panel.get("rankings"),
        gains=_gains(panel),
        pair_parts=[(name, look) for _, name, look in _PAIRS],
        charts=_charts(panel),
        fairness=_fairness(panel),
        **declared(panel.tests),
        command=" ".join(("clinqa", "report", "SCORES", "-o", page)),
        figures=inlined_json(
            {
                "figures": [f.as_json() for found in panel.figures.values() for f in found],
                "tests": [test.as_json() for test in panel.tests],
                "panel": panel.panel,
                "gaps": [asdict(gap) for gap in panel.audit.gaps] if panel.audit else [],
            }
        ),
    )


def _fairness(panel: Panel) -> Markup | None:
    """The section of an audit; its runs are called as everywhere on the page."""
    if panel.audit is None:
        return None
    labels = {run.id: run.label for run in panel.runs}
    return fairness_section(panel.audit, labels, {run.id: run.look for run in panel.runs})


def main_table(panel: Panel) -> Table:
    """The figures of each run, for a paper."""
    rows = []
    for run, figures in _table(panel, _MAIN, WRONG, BY_PAIR):
        cells = []
        for figure in figures:
            known = figure is not None and figure.low is not None and figure.high is not None
            low, high = (figure.low, figure.high) if figure is not None and known else (None, None)
            cells.append(
                Cell(three_digits(figure.value if figure is not None else None),
                     f"{three_digits(low)} to {three_digits(high)}" if known else "")
            )  # fmt: skip
        rows.append(Row(run.label, tuple(cells)))
    columns = tuple(Column(name, MEANINGS[name][0], figures=True) for name in _MAIN)
    note = "95 % intervals over pairs; a statement without an answer counts as wrong."
    return Table("main", "Figures of each run", "Run", columns, tuple(rows), (note,))


def _table(
    panel: Panel, metrics: Sequence[str], how: str, unit: str
) -> list[tuple[PanelRun, list[Figure | None]]]:
    rows = []
    for run in panel.runs:
        cells = []
        for metric in metrics:
            # what was not said has no direction: of answered items alone
            convention = how or (LEFT_OUT if metric == "true_share" else WRONG)
            cells.append(panel.figure(run.id, metric, convention, unit))
        rows.append((run, cells))
    return rows


def _categories(panel: Panel) -> dict[str, Any]:
    names = [row["category"] for row in panel.panel.get("difficulty", {}).get("categories", ())]
    topics = panel.meta["dataset"].get("topics") or {}
    rows = [
        (run, [panel.figure(run.id, "accuracy", category=name) for name in names])
        for run in panel.runs
    ]
    return {"names": [str(topics.get(name) or name or "none") for name in names], "rows": rows}


def _gains(panel: Panel) -> dict[str, Any] | None:
    """What fine-tuning gained here and on each other set, a row a fine-tuned run."""
    others = panel.panel.get("transfer") or []
    rows: dict[tuple[str, str], list[Any]] = {}
    for at, other in enumerate(others):
        for gain in other["gains"]:
            own = rows.setdefault((gain["tuned"], gain["base"]), [None] * (1 + len(others)))
            own[0], own[at + 1] = gain["here"], gain["there"]
    if not rows:
        return None
    return {
        "sets": ["this set", *(f"{one['set']}, {one['split']}" for one in others)],
        "rows": [{"tuned": t, "base": b, "gains": own} for (t, b), own in rows.items()],
    }


def _scale(panel: Panel) -> list[Markup]:
    """A chart a family: its models by size, with intervals."""
    runs = {run.id: run for run in panel.runs}
    made = []
    for at, (family, among) in enumerate((panel.panel.get("scale") or {}).items()):
        dots = []
        for one in among:
            run, figure = runs[one["run"]], panel.figure(one["run"], "accuracy")
            if figure is not None:
                size = f"{one['parameters'] / _BILLION:.3g} B"
                dots.append(Dot(f"{size}  {run.label}", figure.value, figure.low, figure.high,
                                run.look))  # fmt: skip
        title = f"{family}: accuracy by size, 95 % over pairs"
        made.append(dot_panel(f"chart-scale-{at}", title, dots))
    return made


def _charts(panel: Panel) -> dict[str, Any]:
    metric = str(panel.meta["family"]["metric"])
    dots, bars = [], []
    for run in panel.runs:
        figure = panel.figure(run.id, metric)
        if figure is not None:
            dots.append(Dot(_numbered(run), figure.value, figure.low, figure.high, run.look,
                            run.is_vote))  # fmt: skip
        parts = [(name, panel.figure(run.id, key), look) for key, name, look in _PAIRS]
        if all(f is not None and f.value is not None for _, f, _ in parts):
            bars.append(
                Bar(_numbered(run), tuple((n, f.value or 0.0, look) for n, f, look in parts if f))
            )
    plane_of = {str(one["run"]): one for one in panel.panel["plane"]}
    numbers = {run.id: run.number for run in panel.runs}
    made: dict[str, Any] = {
        "scale": _scale(panel),
        **dict.fromkeys(("kappa", "difficulty")),
        "dots": dot_panel("chart-primary", f"{MEANINGS[metric][0]}, 95 % over pairs", dots),
        "pairs": stacked_panel("chart-pairs", "Pairs, % of pairs", bars) if bars else None,
    }
    for key, title, axes in (
        ("roc", "Sensitivity and specificity", ("1 − specificity", "sensitivity")),
        ("pr", "Precision and recall", ("recall (sensitivity)", "precision")),
    ):
        points = []
        for run in panel.runs:
            one = plane_of.get(run.id, {})
            recall, kept, exact = (
                one.get(name) for name in ("sensitivity", "specificity", "precision")
            )
            x = None if kept is None else 1 - kept
            place = (x, recall) if key == "roc" else (recall, exact)
            if place[0] is None or place[1] is None:
                continue
            points.append(
                Point(run.number, run.label, run.look, place[0], place[1],
                      bool(one[f"{key}_frontier"]), run.is_vote, numbers.get(one.get("base") or ""))
            )  # fmt: skip
        made[key] = plane(f"chart-{key}", title, axes, points, key)
    agreement = panel.panel.get("agreement")
    if agreement:
        names = [panel.label(one) for one in agreement["judges"]]
        made["kappa"] = heat_map("chart-kappa", "Cohen's κ", names, agreement["value"])
    difficulty = panel.panel.get("difficulty")
    if difficulty:
        made["difficulty"] = histogram(
            "chart-difficulty", "Statements by how many models are right", difficulty["histogram"]
        )
    return made


def _numbered(run: PanelRun) -> str:
    return f"{run.number} {run.label}"
