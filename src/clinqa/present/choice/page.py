"""The page of multiple-choice scores, rendered by a template that escapes all.

Nothing on it runs and nothing is fetched; it holds no text of a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from clinqa.core.figures import Figure
from clinqa.present.choice.read import READERS, ChoiceRun, Choices
from clinqa.present.choice.says import MEANINGS, summary
from clinqa.present.report.charts import Dot, dot_panel
from clinqa.present.report.html import declared, inlined_json, page_of

__all__ = ["render_choices"]

_STATUSES = ("ambiguous", "refused", "empty", "truncated", "unreadable", "error")
_PANELS = 12
Cells = Sequence[Figure | None]
Rows = list[tuple[ChoiceRun, str, Cells]]


def render_choices(choices: Choices, *, title: str = "", page: str = "report.html") -> str:
    """The whole page as one string of HTML."""
    return page_of(
        "choice.html.j2",
        choices.data_class,
        "clinqa.present.choice",
        "choice.css",
        title=title or "Multiple choice: orders, readers, positions",
        when=choices.manifest.finished[:10],
        meta=choices.meta,
        runs=choices.runs,
        label=choices.label,
        readers=READERS,
        summary=summary(choices),
        meanings=list(MEANINGS.values()),
        main=_rows(choices, list(MEANINGS)),
        silent=_silent(choices),
        status_names=_STATUSES,
        orders=_orders(choices),
        categories=_categories(choices),
        positions=_positions(choices),
        charts=_charts(choices),
        **declared(choices.tests),
        command=" ".join(("clinqa", "report", "SCORES", "-o", page)),
        figures=inlined_json(
            {
                "figures": [f.as_json() for found in choices.figures.values() for f in found],
                "tests": [test.as_json() for test in choices.tests],
                "positions": choices.meta["positions"],
            }
        ),
    )


def _rows(choices: Choices, metrics: Sequence[str]) -> Rows:
    """Each run in each reading."""
    return [
        (run, reader, [choices.figure(run.id, metric, reader) for metric in metrics])
        for run in choices.runs
        for reader in run.readers
    ]


def _silent(choices: Choices) -> Rows:
    """Accuracy without prompts that name no option, and why those are none."""
    found = _rows(choices, [f"status_{name}" for name in _STATUSES])
    return [
        (run, reader, [choices.accuracy_of_answered(run.id, reader), *cells])
        for run, reader, cells in found
    ]


def _orders(choices: Choices) -> dict[str, Any]:
    """Accuracy by order, in the deciding reading; items that stay as they are stand last."""
    subsets = choices.subsets("accuracy", "order")
    rows = []
    for run in choices.runs:
        reader = choices.reader_of(run)
        cells = [choices.figure(run.id, "accuracy", reader, subset) for subset in subsets]
        rows.append((run, reader, cells))
    names = [
        "unshuffled" if one["order"] == "fixed" else f"order {int(one['order']) + 1}"
        for one in subsets
    ]
    return {"names": names, "rows": rows if len(names) > 1 else []}


def _categories(choices: Choices) -> dict[str, Any]:
    subsets = choices.subsets("accuracy", "category")
    rows = [
        (
            subset["category"] or "none",
            [choices.figure(r.id, "accuracy", choices.reader_of(r), subset) for r in choices.runs],
        )
        for subset in subsets
    ]
    return {"rows": rows if len(rows) > 1 else []}


def _positions(choices: Choices) -> list[dict[str, Any]]:
    """The tests, with picks by letter."""
    return [
        {
            **one,
            "label": choices.label(one["run"]),
            "shares": [
                (letter, n, n / max(1, sum(one["picks"])))
                for letter, n in zip("ABCDEFGHIJ", one["picks"], strict=False)
            ],
        }
        for one in choices.meta["positions"]
    ]


def _charts(choices: Choices) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, metric in (("accuracy", "accuracy"), ("all", "all_orders_right")):
        dots = []
        for run in choices.runs:
            figure = choices.figure(run.id, metric, choices.reader_of(run))
            if figure is not None:
                label = f"{run.number} {run.label}"
                dots.append(Dot(label, figure.value, figure.low, figure.high, run.look))
        name = f"{MEANINGS[metric][0]}, 95 % over items"
        made[key] = dot_panel(f"chart-{key}", name, dots) if dots else None
    made["recall"] = _recall(choices)
    return made


def _recall(choices: Choices) -> list[Markup]:
    """Of each run the recall of each position."""
    panels = []
    for run in choices.runs:
        if not any(one["run"] == run.id for one in choices.meta["positions"]):
            continue
        reader = choices.reader_of(run)
        sizes = sorted({int(s["options"]) for s in choices.subsets("recall", "position")})
        for size in sizes:
            dots = []
            for letter in "ABCDEFGHIJ"[:size]:
                subset = {"options": str(size), "position": letter}
                figure = choices.figure(run.id, "recall", reader, subset)
                if figure is not None:
                    dots.append(Dot(letter, figure.value, figure.low, figure.high, run.look))
            if dots:
                name = f"{run.label}: share right, by place of the right one of {size}"
                chart = f"chart-recall-{run.number}-{size}"
                panels.append(dot_panel(chart, name, dots, label_width=30))
    return panels[:_PANELS]
