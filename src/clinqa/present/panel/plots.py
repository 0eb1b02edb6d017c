"""The panel's figures as files for a paper: SVG and PDF, the same bytes for the same scores."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinqa.present.panel.read import Panel, PanelRun
from clinqa.present.panel.says import MEANINGS
from clinqa.present.report.plots import FORMATS, METADATA, SETTINGS, colour_of, need_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_panel"]

_INK, _SOFT, _FAINT = "#1b2126", "#525c64", "#e4e9ec"
_FOREST = ("accuracy", "macro_f1", "sensitivity", "specificity", "youden_j", "pair_both")
_BILLION = 1e9
#: From here on a cell of the heat map is too dark for dark letters.
_DARK = 0.65


def draw_panel(panel: Panel) -> dict[str, bytes]:
    """Every figure in every format, by file name; no text of a statement."""
    need_matplotlib()
    import matplotlib

    drawers: Mapping[str, Callable[[Panel], Figure | None]] = {
        "results": _results,
        "planes": _planes,
        "kappa": _kappa,
        "difficulty": _difficulty,
        "scale": _scale,
    }
    made: dict[str, bytes] = {}
    settings: dict[Any, Any] = dict(SETTINGS)
    with matplotlib.rc_context(settings):
        for name, draw in drawers.items():
            figure = draw(panel)
            if figure is None:
                continue
            for kind in FORMATS:
                file = io.BytesIO()
                figure.savefig(file, format=kind, metadata=METADATA[kind], bbox_inches="tight")
                made[f"{name}.{kind}"] = file.getvalue()
    return made


def _colour(run: PanelRun) -> str:
    return colour_of(run.look.removeprefix("g-"))


def _results(panel: Panel) -> Figure | None:
    """A panel a metric: dots with their intervals over pairs, a row a run."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 1.7 * 3, 2 * (0.7 + 0.22 * len(panel.runs))))
    grid: list[Axes] = figure.subplots(2, 3, sharey=True).ravel().tolist()
    for metric, axes in zip(_FOREST, grid, strict=True):
        for row, run in enumerate(panel.runs):
            found = panel.figure(run.id, metric)
            if found is None or found.value is None:
                continue
            if found.low is not None and found.high is not None:
                axes.plot([found.low, found.high], [row, row], color=_colour(run), lw=1)
            face = "white" if run.is_vote else _colour(run)
            axes.plot(found.value, row, "o", ms=4, mec=_colour(run), mfc=face)
        axes.set_title(MEANINGS[metric][0], loc="left", color=_INK)
        axes.set_yticks(range(len(panel.runs)), [f"{r.number} {r.label}" for r in panel.runs])
        axes.set_ylim(len(panel.runs) - 0.5, -0.5)
        axes.grid(visible=True, axis="x", color=_FAINT)
    figure.tight_layout()
    return figure


def _planes(panel: Panel) -> Figure | None:
    """ROC and PR planes with frontier, lines of equal J and F1, and arrows to fine-tuned runs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, 3.4))
    left, right = figure.subplots(1, 2)
    for level in (0.0, 0.25, 0.5, 0.75):
        left.plot([0, 1 - level], [level, 1], ":", color=_SOFT, lw=0.7)
        left.annotate(f"J {level:g}", (0.93 - level, 0.96), ha="right", color=_SOFT, fontsize=6)
    for f1 in (0.2, 0.4, 0.6, 0.8):
        recall = [f1 / 2 + (1 - f1 / 2) * step / 60 for step in range(1, 61)]
        points = [(x, f1 * x / (2 * x - f1)) for x in recall]
        kept = [(x, y) for x, y in points if y <= 1]
        right.plot(*zip(*kept, strict=True), ":", color=_SOFT, lw=0.7)
        right.annotate(f"F1 {f1:g}", kept[-1], ha="right", va="bottom", color=_SOFT, fontsize=6)
    runs = {run.id: run for run in panel.runs}
    for axes, key in ((left, "roc"), (right, "pr")):
        _points(axes, key, panel.panel["plane"], runs)
    left.set(xlabel="1 − specificity", ylabel="sensitivity", title="Sensitivity and specificity")
    right.set(xlabel="recall", ylabel="precision", title="Precision and recall")
    figure.tight_layout()
    return figure


def _points(
    axes: Axes, key: str, plane: Sequence[Mapping[str, Any]], runs: Mapping[str, PanelRun]
) -> None:
    places: dict[str, tuple[float, float]] = {}
    for one in plane:
        recall, kept, exact = (one[n] for n in ("sensitivity", "specificity", "precision"))
        if recall is not None and (kept if key == "roc" else exact) is not None:
            places[str(one["run"])] = (1 - kept, recall) if key == "roc" else (recall, exact)
    front = sorted(
        places[str(one["run"])]
        for one in plane
        if one[f"{key}_frontier"] and str(one["run"]) in places
    )
    axes.plot(*zip(*front, strict=True), "-", color=_INK, lw=0.8) if len(front) > 1 else None
    for one in plane:
        run, base = str(one["run"]), str(one.get("base") or "")
        if run in places and base in places and places[run] != places[base]:
            arrow = {"arrowstyle": "->", "color": _INK, "lw": 0.8}
            axes.annotate("", places[run], places[base], arrowprops=arrow)
    for name, (x, y) in places.items():
        run_of = runs[name]
        face = "white" if run_of.is_vote else _colour(run_of)
        axes.plot(x, y, "o", ms=4.5, mec=_colour(run_of), mfc=face, clip_on=False)
        axes.annotate(str(run_of.number), (x, y), (4, 3), textcoords="offset points", fontsize=6)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.grid(visible=True, color=_FAINT)


def _kappa(panel: Panel) -> Figure | None:
    """Kappa of every two judges, in the order of average linkage."""
    from matplotlib.figure import Figure

    found = panel.panel.get("agreement")
    if not found:
        return None
    names = [panel.label(one) for one in found["judges"]]
    side = 1.2 + 0.42 * len(names)
    figure = Figure(figsize=(side, side))
    axes = figure.subplots()
    values = [[float("nan") if v is None else v for v in row] for row in found["value"]]
    axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1)
    for row, own in enumerate(values):
        for column, value in enumerate(own):
            if row != column:
                said = "–" if value != value else f"{value:.2f}"
                ink = "white" if abs(value) > _DARK else _INK
                axes.text(column, row, said, ha="center", va="center", fontsize=6, color=ink)
    axes.set_xticks(range(len(names)), names, rotation=48, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("Cohen's κ", loc="left")
    return figure


def _difficulty(panel: Panel) -> Figure | None:
    """Statements by how many models are right on them."""
    from matplotlib.figure import Figure

    found = panel.panel.get("difficulty")
    if not found:
        return None
    figure = Figure(figsize=(3.6, 2.2))
    axes = figure.subplots()
    rows = found["histogram"]
    count = [row["right"] for row in rows]
    axes.bar(count, [row["true"] for row in rows], color="#7cc4a4", label="True statements")
    axes.bar(count, [row["false"] for row in rows], bottom=[row["true"] for row in rows],
             color="#e98e4a", label="False statements")  # fmt: skip
    axes.set(xlabel="models that are right", ylabel="statements", xticks=count)
    axes.legend(frameon=False, fontsize=6)
    return figure


def _scale(panel: Panel) -> Figure | None:
    """Accuracy by number of parameters, a line a family."""
    from matplotlib.figure import Figure

    families = panel.panel.get("scale")
    if not families:
        return None
    figure = Figure(figsize=(3.6, 2.4))
    axes = figure.subplots()
    for family, among in families.items():
        shown = [
            (one["parameters"] / _BILLION, figure_of)
            for one in among
            if (figure_of := panel.figure(one["run"], "accuracy")) is not None
        ]
        values = [float("nan") if f.value is None else f.value for _, f in shown]
        line = axes.plot([x for x, _ in shown], values, "o-", ms=4, lw=1, label=family)[0]
        for x, f in shown:
            if f.low is not None and f.high is not None:
                axes.plot([x, x], [f.low, f.high], color=line.get_color(), lw=0.8)
    axes.set(xscale="log", xlabel="parameters, billion", ylabel="accuracy", ylim=(0, 1.02))
    axes.legend(frameon=False, fontsize=6)
    return figure
