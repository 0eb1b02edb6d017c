"""What models give the terms of each specialty: means, and differences with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clinqa.core.figures import Figure as Value
from clinqa.core.figures import PairedTest
from clinqa.present.canvas import Theme, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_logprobs"]

BASE, ALL = "base", "all"
FEW = 10
"""Intervals over fewer groups of questions are drawn pale."""
_COLOURS = {
    False: ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#882255", "#117733"),
    True: ("#6fb7e6", "#f0a35e", "#5fcfa5", "#dd99cc", "#e38fa8", "#8fd694"),
}
_MARKS = ("o", "s", "^", "D", "v", "P")


def plot_logprobs(
    figures: Sequence[Value],
    tests: Sequence[tuple[str, PairedTest]],
    path: Path,
    *,
    dark: bool = False,
    private: bool = False,
) -> None:
    """A row a specialty; left the means under base and adapters, right the paired differences."""
    tuned = list(dict.fromkeys(test.a for _, test in tests))
    names = list(dict.fromkeys(f.subset["specialty"] for f in figures))
    rows = [*(name for name in names if name != ALL), *([ALL] if ALL in names else [])]
    band = 0.34 + 0.16 * (len(tuned) - 1)
    size = 9.2, 1.75 + band * len(rows)
    with canvas(path, *size, dark=dark, private=private, layout="constrained") as (figure, theme):
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1, 1.15))
        _means(left, figures, rows, tuned, theme, dark)
        _differences(right, tests, rows, tuned, theme, dark)
        counts = {f.subset["specialty"]: (f.n, f.clusters) for f in figures}
        labels = [f"{row}  {counts[row][0]:,} / {counts[row][1]:,}" for row in rows]
        left.set_yticks(range(len(rows)), labels)
        for label, row in zip(left.get_yticklabels(), rows, strict=True):
            label.set_fontweight("bold" if row == ALL else "normal")
        for axes in (left, right):
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.tick_params(axis="x", labelcolor=theme.soft, color=theme.soft)
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
            if ALL in rows and len(rows) > 1:
                axes.axhline(len(rows) - 1.5, color=theme.soft, lw=0.7)
        handles, texts = left.get_legend_handles_labels()
        figure.legend(
            handles, texts, loc="outside lower left", ncols=min(4, len(texts)), frameon=False,
            fontsize=8, labelcolor=theme.ink,
        )  # fmt: skip
        figure.suptitle(
            "Clinical terms of one specialty in the gold text  (occurrences / groups; pale: few)",
            fontsize=10, fontweight="bold", x=0.01, ha="left",
        )  # fmt: skip


def _offsets(count: int) -> list[float]:
    """Where in its row each model stands.

    >>> _offsets(1), _offsets(2)
    ([0.0], [-0.15, 0.15])
    """
    step = 0.3 if count == 2 else 0.6 / max(1, count - 1)
    return [round(step * (at - (count - 1) / 2), 4) for at in range(count)]


def _means(
    axes: Axes,
    figures: Sequence[Value],
    rows: Sequence[str],
    tuned: Sequence[str],
    theme: Theme,
    dark: bool,
) -> None:
    values = {(f.run, f.subset["specialty"]): f.value or 0.0 for f in figures}
    shifts = _offsets(len(tuned))
    places = list(range(len(rows)))
    for number, name in enumerate(tuned):
        colour = _COLOURS[dark][number % len(_MARKS)]
        ys = [place + shifts[number] for place in places]
        before = [values[BASE, row] for row in rows]
        after = [values[name, row] for row in rows]
        axes.hlines(ys, before, after, color=colour, lw=1.2, alpha=0.6)
        axes.plot(
            before, ys, ls="", marker="o", ms=5, mfc=theme.ground, mec=theme.before,
            label="base" if number == 0 else None,
        )  # fmt: skip
        axes.plot(after, ys, ls="", marker=_MARKS[number % len(_MARKS)], ms=5, color=colour,
                  label=name)  # fmt: skip
    axes.set_xlabel("mean log-probability of a term (nats)")


def _differences(
    axes: Axes,
    tests: Sequence[tuple[str, PairedTest]],
    rows: Sequence[str],
    tuned: Sequence[str],
    theme: Theme,
    dark: bool,
) -> None:
    found = {(test.a, name): test for name, test in tests}
    shifts = _offsets(len(tuned))
    axes.axvline(0, color=theme.soft, lw=0.9)
    for number, name in enumerate(tuned):
        colour = _COLOURS[dark][number % len(_MARKS)]
        for place, row in enumerate(rows):
            test = found[name, row]
            y = place + shifts[number]
            shown = 1.0 if test.clusters >= FEW else 0.4
            if not (math.isnan(test.low) or math.isnan(test.high)):
                axes.hlines(y, test.low, test.high, color=colour, lw=1.6, alpha=shown)
            axes.plot(
                [test.difference], [y], ls="", marker=_MARKS[number % len(_MARKS)], ms=5,
                color=colour, alpha=shown,
            )  # fmt: skip
    axes.set_xlabel("difference from base, paired, 95 % interval over groups (nats)")
