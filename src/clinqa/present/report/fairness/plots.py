"""The audit's figures for a paper.

Gaps beside the null band, scores by group (as EchoQA's Fig. 3 to 5), performance against bias.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clinqa.present.report.fairness.charts import MOST, chosen, round_start, round_top
from clinqa.present.report.fairness.read import Audit
from clinqa.present.report.fairness.says import GAP, named
from clinqa.present.report.fairness.tables import group_title
from clinqa.present.report.fairness.words import verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["audit_figures"]

_INK, _SOFT, _FAINT, _BAND = "#1b2126", "#525c64", "#e4e9ec", "#dfe6ea"
_COLOURS = ("#0072b2", "#b34700", "#00775a", "#7a4a92", "#8a6d00", "#59636b")
_MARKS = ("o", "s", "^", "D", "v", "P")


def audit_figures(audit: Audit, labels: Mapping[str, str]) -> dict[str, Figure]:
    """Every figure by its name."""
    made: dict[str, Figure] = {}
    for metric in audit.metrics:
        end = metric.replace("_", "-")
        made[f"fairness-gaps-{end}"] = _gaps(audit, metric, labels)
        made[f"fairness-groups-{end}"] = _groups(audit, metric, labels)
        front = _front(audit, metric, labels)
        if front is not None:
            made[f"fairness-front-{end}"] = front
    return made


def _panels(count: int, rows: int, width: float, across: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    across = min(across, count)
    down = -(-count // across)
    tall = 0.75 + 0.2 * rows
    figure = Figure(figsize=(0.6 + width * across, tall * down))
    axes = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for one in axes[count:]:
        one.set_visible(False)
    high = tall * down
    # room for a legend above and a line below, in inches whatever the height
    figure.subplots_adjust(hspace=0.95 / tall, wspace=0.12, top=1 - 0.45 / high, bottom=0.55 / high)
    return figure, axes


def _below(figure: Figure, text: str) -> None:
    figure.text(0.5, 0.0, text, ha="center", va="top", fontsize=7.5, color=_SOFT)


def _dress(axes: Axes, title: str, top: float, start: float = 0.0) -> None:
    axes.set_title(title, fontsize=8, fontweight="bold", loc="left", color=_INK)
    axes.set_xlim(start - 0.02 * (top - start), top + 0.02 * (top - start))
    ticks = [start, (start + top) / 2, top]
    axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
    axes.tick_params(axis="y", length=0, labelcolor=_INK)
    axes.tick_params(axis="x", length=2, labelcolor=_SOFT)
    axes.grid(axis="x", color=_FAINT, lw=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _gaps(audit: Audit, metric: str, labels: Mapping[str, str]) -> Figure:
    """A panel a dimension, a row a run: the gap, and the band in which chance alone leaves it."""
    dimensions, runs = audit.dimensions, audit.runs
    gaps = [gap for gap in audit.gaps if (gap.metric, gap.measure) == (metric, GAP)]
    ends = [value for gap in gaps for value in (gap.value, gap.null_high) if value is not None]
    top = round_top(ends)
    figure, panels = _panels(len(dimensions), len(runs), 2.1, 4)
    for at, (one, axes) in enumerate(zip(dimensions, panels, strict=False)):
        for row, run in enumerate(runs):
            gap = audit.gap(run, one["name"], metric, GAP)
            if gap is None or gap.value is None or gap.expected is None:
                axes.text(0.02 * top, row, "–", va="center", color=_SOFT)
                continue
            if gap.null_low is not None and gap.null_high is not None:
                wide = gap.null_high - gap.null_low
                axes.barh(row, wide, left=gap.null_low, height=0.6, color=_BAND, lw=0)
            axes.plot([gap.expected] * 2, [row - 0.3, row + 0.3], color=_SOFT, lw=1.1)
            axes.plot([gap.expected, gap.value], [row, row], color=_INK, lw=0.8, alpha=0.6)
            sure = verdict(gap.p, gap.p_max) == "found"
            axes.plot(gap.value, row, "o", ms=4.5, mew=1.2, color=_COLOURS[0],
                      mfc=_COLOURS[0] if sure else "white", zorder=3)  # fmt: skip
        _dress(axes, str(one["name"]), top)
        _rows(axes, [labels[run] for run in runs], shown=at % 4 == 0)
    _below(
        figure,
        f"gap in {named(metric)}; band: 90 % of gaps when the attribute is permuted, bar: their "
        "mean;\nfilled: told from chance over all comparisons (max-T, 0.05)",
    )
    return figure


def _rows(axes: Axes, names: Sequence[str], *, shown: bool) -> None:
    axes.set_yticks(range(len(names)), names if shown else [""] * len(names))
    axes.set_ylim(len(names) - 0.4, -0.6)


def _groups(audit: Audit, metric: str, labels: Mapping[str, str]) -> Figure:
    """A panel a dimension, a row a group, a mark a run with its 95 % interval."""
    from matplotlib.lines import Line2D

    runs = chosen(audit, metric)
    values = [
        value
        for one in audit.scores
        if one.metric == metric and one.run in runs
        for value in (one.value, one.low, one.high)
        if value is not None
    ]
    top = round_top(values)
    start = round_start(values, top)
    dimensions = audit.dimensions
    sized = [
        [*one["groups"], *([] if one["missing"] == 0 else [{"name": "missing", "range": ""}])]
        for one in dimensions
    ]
    most = max(len(groups) for groups in sized)
    figure, panels = _panels(len(dimensions), most * max(1, len(runs)) // 2 + 1, 3.4, 2)
    for one, groups, axes in zip(dimensions, sized, panels, strict=False):
        for row, group in enumerate(groups):
            for number, run in enumerate(runs):
                figure_of = audit.of_group(run, one["name"], metric, group["name"])
                if figure_of is None or figure_of.value is None:
                    continue
                y = row + 0.62 * ((number + 0.5) / len(runs) - 0.5)
                colour = _COLOURS[number % len(_COLOURS)]
                if figure_of.low is not None and figure_of.high is not None:
                    axes.plot([figure_of.low, figure_of.high], [y, y], color=colour, lw=1.1,
                              alpha=0.65)  # fmt: skip
                axes.plot(figure_of.value, y, _MARKS[number % len(_MARKS)], ms=3.6, color=colour)
        _dress(axes, str(one["name"]), top, start)
        _rows(axes, [_short(group) for group in groups], shown=True)
        axes.tick_params(axis="y", labelsize=7)
    figure.subplots_adjust(wspace=0.75)
    # of its own: a panel's first group may be withheld
    looks = [(_MARKS[n % len(_MARKS)], _COLOURS[n % len(_COLOURS)]) for n in range(len(runs))]
    handles = [Line2D([], [], marker=mark, ms=3.6, lw=0, color=colour) for mark, colour in looks]
    names = [labels[run] for run in runs]
    figure.legend(handles, names, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3,
                  frameon=False, fontsize=7.5)  # fmt: skip
    drawn = f"; the {MOST} runs with the largest excess" if len(audit.runs) > MOST else ""
    _below(figure, f"{named(metric)} by group, with 95 % intervals over {audit.who}{drawn}")
    return figure


def _short(group: Mapping[str, Any]) -> str:
    title = group_title(group)
    return title if len(title) <= 34 else f"{title[:33]}…"


def _front(audit: Audit, metric: str, labels: Mapping[str, str]) -> Figure | None:
    """Performance over everybody against the excess of the gap; the front is joined."""
    from matplotlib.figure import Figure

    points = [point for point in audit.meta["pareto"] if point["metric"] == metric]
    names = list(dict.fromkeys(str(point["dimension"]) for point in points))
    if len(audit.runs) < 2 or not names:
        return None
    points = [point for point in points if point["dimension"] == names[-1]]
    figure = Figure(figsize=(4.4, 3.2))
    axes = figure.subplots()
    front = sorted((p for p in points if p["front"]), key=lambda p: float(p["bias"]))
    axes.plot([p["bias"] for p in front], [p["performance"] for p in front], color=_SOFT, lw=0.9)
    for point in points:
        axes.plot(point["bias"], point["performance"], "o", ms=5, mew=1.3, color=_COLOURS[0],
                  mfc=_COLOURS[0] if point["front"] else "white", zorder=3)  # fmt: skip
        place = (point["bias"], point["performance"])
        axes.annotate(labels[str(point["run"])], place, xytext=(5, 4),
                      textcoords="offset points", fontsize=7, color=_INK)  # fmt: skip
    axes.axvline(0, color=_FAINT, lw=1, zorder=0)
    axes.set_xlabel(f"excess gap, {names[-1]} (left is fairer)", fontsize=7.5, color=_SOFT)
    axes.set_ylabel(named(metric), fontsize=7.5, color=_SOFT)
    axes.margins(0.18, 0.15)
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(length=2, labelcolor=_SOFT)
    return figure
