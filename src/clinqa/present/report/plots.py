"""The page's figures as files for a paper: SVG and PDF, the same bytes for the same scores."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinqa.core.errors import MissingExtra
from clinqa.present.report import results, subsets
from clinqa.present.report.claims import primary_metric
from clinqa.present.report.fairness.plots import audit_figures
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.words import (
    DANGEROUS,
    ERROR_KINDS,
    NO_ANSWER,
    RESULT_METRICS,
    metric_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "METADATA", "SETTINGS", "colour_of", "draw_figures", "need_matplotlib"]

FORMATS = ("svg", "pdf")
METADATA: Mapping[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "clinqa", "Title": "Evaluation"},
    "pdf": {"CreationDate": None, "Creator": "clinqa", "Producer": "clinqa"},
}
SETTINGS: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
    "font.size": 8,
    "svg.hashsalt": "clinqa",
    "pdf.fonttype": 42,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
}
_INK, _SOFT, _FAINT = "#1b2126", "#525c64", "#e4e9ec"
_GROUP_COLOURS = {
    "biomedical": "#0072b2",
    "general": "#b34700",
    "closed": "#7a4a92",
    "encoder": "#00775a",
}
_OTHER_COLOUR = "#59636b"
_PART_COLOURS = ("#7cc4a4", "#9fd3ea", "#f3cf6b", "#e98e4a", "#cf9cc4", "#b3bcc2", "#8d98a1")


def need_matplotlib() -> None:
    """Say how to get matplotlib before any work is done, not after."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra("plots", "matplotlib") from error


def colour_of(group: str) -> str:
    """The colour of models of a group."""
    return _GROUP_COLOURS.get(group, _OTHER_COLOUR)


def draw_figures(evaluation: Evaluation) -> dict[str, bytes]:
    """Every figure in every format, by file name."""
    need_matplotlib()
    import matplotlib

    drawers: dict[str, Callable[[Evaluation], Figure | None]] = {
        "results": _results,
        "dangerous": _dangerous,
        "errors": _errors,
        "by-abnormality": lambda e: _heat(e, "abnormality"),
        "by-level": lambda e: _heat(e, "level"),
    }
    made: dict[str, bytes] = {}
    settings: dict[Any, Any] = dict(SETTINGS)
    with matplotlib.rc_context(settings):
        drawn = {name: draw(evaluation) for name, draw in drawers.items()}
        if evaluation.audit is not None:
            labels = {run.id: run.label for run in evaluation.runs}
            drawn |= audit_figures(evaluation.audit, evaluation.audit.labels() | labels)
        for name, figure in drawn.items():
            if figure is None:
                continue
            for kind in FORMATS:
                file = io.BytesIO()
                figure.savefig(file, format=kind, metadata=METADATA[kind], bbox_inches="tight")
                made[f"{name}.{kind}"] = file.getvalue()
    return made


def _results(evaluation: Evaluation) -> Figure | None:
    metrics = [
        metric for metric in RESULT_METRICS if len(evaluation.signatures(metric)) == 1
    ]  # figures made in two ways never share an axis
    return _forest(evaluation, [(metric, metric_name(metric)) for metric in metrics])


def _dangerous(evaluation: Evaluation) -> Figure | None:
    kinds = [(kind.key, kind.name) for kind in DANGEROUS]
    return _forest(evaluation, [pair for pair in kinds if _any_value(evaluation, pair[0])])


def _any_value(evaluation: Evaluation, metric: str) -> bool:
    found = (evaluation.figure(run.id, metric) for run in evaluation.runs)
    return any(figure is not None and figure.value is not None for figure in found)


def _forest(evaluation: Evaluation, metrics: Sequence[tuple[str, str]]) -> Figure | None:
    """A panel a metric: dots with their intervals, a row a run."""
    from matplotlib.figure import Figure

    if not metrics:
        return None
    across = min(4, len(metrics))
    down = -(-len(metrics) // across)
    tall = 0.7 + 0.22 * len(evaluation.runs)
    figure = Figure(figsize=(1.6 + 1.7 * across, tall * down))
    panels = figure.subplots(down, across, sharey=True, squeeze=False).ravel().tolist()
    for (metric, name), axes in zip(metrics, panels, strict=False):
        for row, run in enumerate(evaluation.runs):
            _dot(axes, evaluation, run, metric, row)
        _dress(axes, name + (" (primary)" if metric == primary_metric(evaluation) else ""))
    for axes in panels[len(metrics) :]:
        axes.set_visible(False)
    first = panels[0]
    first.set_yticks(range(len(evaluation.runs)), [run.label for run in evaluation.runs])
    first.set_ylim(len(evaluation.runs) - 0.4, -0.6)
    figure.subplots_adjust(hspace=0.9 / tall, wspace=0.16)
    return figure


def _dot(axes: Axes, evaluation: Evaluation, run: Run, metric: str, row: int) -> None:
    figure = evaluation.figure(run.id, metric)
    if figure is None or figure.value is None:
        axes.text(0.02, row, "–", va="center", color=_SOFT)
        return
    colour = colour_of(run.group)
    if figure.low is not None and figure.high is not None:
        axes.plot([figure.low, figure.high], [row, row], color=colour, lw=1.4, alpha=0.65)
    axes.plot(
        figure.value, row, "o", ms=4.5, mew=1.4, color=colour, zorder=3,
        mfc="white" if run.shots == 0 else colour,
    )  # fmt: skip


def _dress(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=8, fontweight="bold", loc="left", color=_INK)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.tick_params(axis="y", length=0, labelcolor=_INK)
    axes.tick_params(axis="x", length=2, labelcolor=_SOFT)
    axes.grid(axis="x", color=_FAINT, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _errors(evaluation: Evaluation) -> Figure | None:
    """Stacked bars: what kind of error each run makes."""
    from matplotlib.figure import Figure

    if not _any_value(evaluation, ERROR_KINDS[0].key):
        return None
    figure = Figure(figsize=(7.0, 0.9 + 0.26 * len(evaluation.runs)))
    axes = figure.subplots()
    starts = [0.0] * len(evaluation.runs)
    for number, kind in enumerate((*ERROR_KINDS, NO_ANSWER)):
        shares = [_share(evaluation, run, kind.key) for run in evaluation.runs]
        axes.barh(
            range(len(shares)), shares, left=starts, height=0.72, label=kind.name,
            color=_PART_COLOURS[number], edgecolor="white", linewidth=0.6,
        )  # fmt: skip
        for row, (start, share) in enumerate(zip(starts, shares, strict=True)):
            if share >= 0.06:
                axes.text(start + share / 2, row, f"{100 * share:.0f}", ha="center", va="center")
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    axes.set_yticks(range(len(starts)), [run.label for run in evaluation.runs])
    axes.set_ylim(len(starts) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False, fontsize=7.5)
    return figure


def _share(evaluation: Evaluation, run: Run, key: str) -> float:
    if key == NO_ANSWER.key:
        return results.no_answer(evaluation, run)
    figure = evaluation.figure(run.id, key)
    return (figure.value or 0.0) if figure is not None else 0.0


def _heat(evaluation: Evaluation, key: str) -> Figure | None:
    """Level accuracy by a subset: a cell a run and value, with its number."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    table = subsets.by_subset(evaluation, key)
    if table is None:
        return None
    values = [[cell.value for cell in row.cells[1:]] for row in table.rows]
    grid = [[float("nan") if v is None else v for v in row] for row in values]
    wide, high = len(evaluation.runs), len(values)
    figure = Figure(figsize=(2.4 + 0.62 * wide, 1.5 + 0.26 * high))
    axes = figure.subplots()
    colours = LinearSegmentedColormap.from_list("clinqa", ["#ffffff", "#5b9bc8"])
    axes.pcolormesh(grid, cmap=colours, vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            text = "–" if value is None else f"{value:.2f}"
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=_INK, fontsize=7.5)
    axes.set_yticks([y + 0.5 for y in range(high)], [row.head for row in table.rows])
    axes.set_xticks(
        [x + 0.5 for x in range(wide)], [run.label for run in evaluation.runs],
        rotation=40, ha="left", rotation_mode="anchor",
    )  # fmt: skip
    axes.xaxis.tick_top()
    axes.invert_yaxis()
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel(
        "level accuracy; numbers of items and intervals stand in the table", fontsize=7.5
    )
    return figure
