"""The tables of a panel: figures by run, agreement, categories, kinds of models, other sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clinqa.core.figures import Figure
from clinqa.core.wording import decimals, many, p_value, signed
from clinqa.kinds.facets.figure_tables import best_sentences
from clinqa.kinds.facets.pages import (
    Grid,
    GridCell,
    GridColumn,
    GridRow,
    spanned,
    spanned_figure,
)
from clinqa.kinds.facets.shows import Evaluation, ShownRun

__all__ = [
    "BY_PAIR",
    "LEFT_OUT",
    "WRONG",
    "by_category",
    "every_pair",
    "figure_of",
    "figures_of_runs",
    "gains",
    "kinds_of_models",
    "ranks",
    "relations",
    "sentences",
    "statuses",
    "taus",
]

BY_PAIR = "clusters: pair"
WRONG, LEFT_OUT = "unanswered: wrong", "unanswered: left out"


def figure_of(
    evaluation: Evaluation,
    run: ShownRun,
    metric: str,
    how: str = WRONG,
    unit: str = BY_PAIR,
    **subset: str,
) -> Figure | None:
    """A figure of one convention and one kind of cluster."""
    parts = [unit] if metric.startswith("status_") else [unit, how]
    return evaluation.figure(run.id, metric, parts=parts, **subset)


def sentences(evaluation: Evaluation) -> list[str]:
    """A few sentences."""
    metric = str(evaluation.meta["family"]["metric"])
    name = evaluation.metric_name(metric).lower()
    alpha = float(evaluation.meta["family"]["alpha"])
    said = []
    # what was asked of fewer statements, or in another way, shares no ranking
    ways: dict[tuple[int, str], list[ShownRun]] = {}
    for run in evaluation.runs:
        if "members" not in run.about:
            ways.setdefault((int(run.about["items"]), str(run.about["how"])), []).append(run)
    for (items, how), runs in ways.items():
        among = "" if len(ways) == 1 else f" of those asked {items:,} statements, {how}"
        found = [figure_of(evaluation, run, metric) for run in runs]
        said += best_sentences(f"{name}{among}", evaluation, found, alpha, "statements")
    one_sided = [
        run.label
        for run in evaluation.runs
        if (share := figure_of(evaluation, run, "pair_one")) is not None and share.value == 1
    ]
    if one_sided:
        said.append(
            f"{', '.join(one_sided)}: exactly one statement right of every pair, as whoever gives "
            "one answer to everything; no pair is told apart."
        )
    if len(ways) > 1:
        said.append("Runs asked other statements, or in another way, share no ranking.")
    panel = evaluation.meta["panel"]
    if difficulty := panel.get("difficulty"):
        said.append(
            f"{difficulty['nobody']:,} of {panel['items']:,} statements are judged right by "
            f"nobody, {difficulty['everybody']:,} by all {difficulty['models']} models."
        )
    return said


_STATUSES = ("ambiguous", "refused", "empty", "truncated", "unreadable", "error")
_BILLION = 1e9


def figures_of_runs(
    evaluation: Evaluation,
    key: str,
    caption: str,
    metrics: Sequence[str],
    how: str = "",
    unit: str = BY_PAIR,
    titles: Sequence[str] = (),
) -> Grid:
    """A row a run, a column a metric."""
    rows = []
    for run in evaluation.runs:
        # what was not said has no direction: of answered items alone
        ways = [how or (LEFT_OUT if metric == "true_share" else WRONG) for metric in metrics]
        found = [figure_of(evaluation, run, m, w, unit) for m, w in zip(metrics, ways, strict=True)]
        rows.append(GridRow(run.numbered, tuple(map(spanned_figure, found))))
    names = titles or [evaluation.metric_name(metric) for metric in metrics]
    columns = [GridColumn(m, n, figures=True) for m, n in zip(metrics, names, strict=True)]
    return Grid(key, caption, "Run", tuple(columns), tuple(rows))


def statuses(evaluation: Evaluation) -> Grid:
    """Why statements have no answer."""
    metrics = [f"status_{name}" for name in _STATUSES]
    caption = "Unanswered, share of all statements"
    return figures_of_runs(evaluation, "statuses", caption, metrics, titles=_STATUSES)


def relations(evaluation: Evaluation) -> Grid:
    """Agreement by how two runs are related."""
    rows = [
        GridRow(one["relation"], (GridCell(str(one["pairs"])), _triple(one["kappa"]),
                                  _triple(one["error_kappa"])))
        for one in evaluation.meta["panel"].get("relations") or ()
    ]  # fmt: skip
    columns = (GridColumn("pairs", "Pairs"), *_kappas())
    return Grid("relations", "Mean over pairs of runs, with 95 % intervals", "Pairs of runs",
                columns, tuple(rows))  # fmt: skip


def _kappas() -> tuple[GridColumn, GridColumn]:
    titles = (("kappa", "κ"), ("error_kappa", "κ of errors"))
    one, two = (GridColumn(key, title, figures=True) for key, title in titles)
    return one, two


def _triple(values: Sequence[float | None] | None) -> GridCell:
    return spanned(*(values or (None,)))


def every_pair(evaluation: Evaluation) -> Grid:
    """Do two runs fail on the same statements?"""
    rows = [
        GridRow(evaluation.label(one["a"]), (
            GridCell(evaluation.label(one["b"])), _triple(one["kappa"]),
            _triple(one["error_kappa"]), GridCell(str(one["either_wrong"])),
            GridCell(str(one["both_wrong"])),
        ))
        for one in evaluation.meta["panel"].get("errors") or ()
    ]  # fmt: skip
    columns = (
        GridColumn("b", "B", numeric=False), *_kappas(),
        GridColumn("either_wrong", "either wrong"), GridColumn("both_wrong", "both wrong"),
    )  # fmt: skip
    return Grid("every-pair", "", "A", columns, tuple(rows))


def by_category(evaluation: Evaluation, categories: Sequence[str]) -> Grid:
    """Accuracy of each run in each category."""
    topics = evaluation.dataset.get("topics") or {}
    names = [str(topics.get(name) or name or "none") for name in categories]
    columns = [
        GridColumn(title, title, _many_statements(evaluation, name), figures=True)
        for name, title in zip(categories, names, strict=True)
    ]
    rows = [
        GridRow(run.numbered, tuple(
            spanned_figure(figure_of(evaluation, run, "accuracy", category=name))
            for name in categories
        ))
        for run in evaluation.runs
    ]  # fmt: skip
    return Grid("categories", "Accuracy by category, with intervals over pairs", "Run",
                tuple(columns), tuple(rows), meanings=True)  # fmt: skip


def _many_statements(evaluation: Evaluation, category: str) -> str:
    """How many they are, where they are as many for all runs; else each figure says it."""
    found = (figure_of(evaluation, run, "accuracy", category=category) for run in evaluation.runs)
    sizes = {figure.n for figure in found if figure is not None}
    return many(min(sizes), "statement") if len(sizes) == 1 else ""


def kinds_of_models(evaluation: Evaluation) -> Grid | None:
    """Biomedical models against general ones of their size."""
    found = evaluation.meta["panel"].get("medical_general")
    if not found:
        return None
    rows = [
        GridRow(evaluation.label(one["medical"]), (
            GridCell(evaluation.label(one["general"])),
            GridCell(", ".join(f"{size / _BILLION:.3g}" for size in one["parameters"][:2])),
            spanned(one["difference"], one["low"], one["high"], write=signed),
            GridCell(p_value(one["p"]), value=one["p"]),
        ))
        for one in found
    ]  # fmt: skip
    columns = (
        GridColumn("general", "General", numeric=False), GridColumn("billion", "billion"),
        GridColumn("difference", "difference", figures=True), GridColumn("p", "p"),
    )  # fmt: skip
    caption = (
        "Biomedical against general models of one size: accuracy, paired over pairs; p is not "
        "adjusted"
    )
    return Grid("kind", caption, "Biomedical", columns, tuple(rows))


def ranks(evaluation: Evaluation, rankings: Mapping[str, Any]) -> Grid:
    """Accuracy and rank of each model on each set."""
    names = [", ".join(filter(None, (one["set"], one["split"]))) for one in rankings["sets"]]
    rows = [
        GridRow(evaluation.label(row["run"]), tuple(
            GridCell(f"{decimals(value)} ({rank:g})", value=value)
            for value, rank in zip(row["accuracy"], row["rank"], strict=False)
        ))
        for row in rankings["runs"]
    ]  # fmt: skip
    return Grid("ranks", "", "Run", tuple(GridColumn(name, name) for name in names), tuple(rows))


def taus(rankings: Mapping[str, Any]) -> Grid:
    """How far two sets rank models alike."""
    names = [one["set"] for one in rankings["sets"]]
    rows = [
        GridRow(names[one["a"]], (GridCell(names[one["b"]]), GridCell(str(one["models"])),
                                  spanned(one["tau"], one["low"], one["high"])))
        for one in rankings["tau"]
    ]  # fmt: skip
    columns = (
        GridColumn("other", "Set", numeric=False), GridColumn("models", "models"),
        GridColumn("tau", "τ", figures=True),
    )  # fmt: skip
    return Grid("tau", "", "Set", columns, tuple(rows))


def gains(evaluation: Evaluation) -> Grid | None:
    """What fine-tuning gained here and on each other set, a row a fine-tuned run."""
    others = evaluation.meta["panel"].get("transfer") or []
    rows: dict[tuple[str, str], list[Any]] = {}
    for at, other in enumerate(others):
        for gain in other["gains"]:
            own = rows.setdefault((gain["tuned"], gain["base"]), [None] * (1 + len(others)))
            own[0], own[at + 1] = gain["here"], gain["there"]
    if not rows:
        return None
    sets = ["this set", *(f"{one['set']}, {one['split']}" for one in others)]
    columns = [GridColumn("base", "Base", numeric=False)]
    columns += [GridColumn(name, name, figures=True) for name in sets]
    made = [
        GridRow(evaluation.label(tuned), (
            GridCell(evaluation.label(base)),
            *(spanned(*gain, write=signed) if gain else GridCell("not tested") for gain in own),
        ))
        for (tuned, base), own in rows.items()
    ]  # fmt: skip
    return Grid("gains", "Fine-tuned against its base: difference of accuracies on each set",
                "Fine-tuned", tuple(columns), tuple(made))  # fmt: skip
