"""The curves of a training: loss of each step, validation, learning rate. SVG or PNG, no texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clinqa.present.canvas import LIGHT, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_curves", "smoothed"]

_TRAIN, _VALIDATION, _SCORE = "#0072b2", "#d55e00", "#009e73"  # told apart by all eyes
_MARKS = {"accuracy": "o", "macro_f1": "s", "exact": "^"}
_WORDS = {"accuracy": "accuracy", "macro_f1": "macro-F1", "exact": "exact answers"}


def plot_curves(
    log: Sequence[Mapping[str, Any]],
    path: Path,
    *,
    title: str,
    private: bool,
    best_step: int | None = None,
) -> None:
    """Draw the log of a training into `path`; its ending says the format."""
    steps = [row for row in log if "loss" in row]
    validations = [row for row in log if "eval_loss" in row]
    scores = [name for name in _WORDS if any(f"eval_{name}" in row for row in validations)]
    if "macro_f1" in scores:  # of one word, exact says what accuracy says
        scores = [name for name in scores if name != "exact"]
    elif all(row.get("eval_exact") == row.get("eval_accuracy") for row in validations):
        scores = [name for name in scores if name != "accuracy"]
    with canvas(path, 9.0, 3.6, private=private, layout="constrained") as (figure, _):
        axes = figure.subplots(1, 2 if scores else 1, squeeze=False, sharex=True)[0]
        _losses(axes[0], steps, validations)
        if scores:
            _scores(axes[1], validations, scores)
        for one in axes:
            _plain(one, best_step)
        figure.suptitle(title, fontsize=10, fontweight="bold", x=0.01, ha="left")


def smoothed(values: Sequence[float], window: int) -> list[float]:
    """The mean of each value and those before it within the window.

    >>> smoothed([2.0, 4.0, 6.0], 2)
    [2.0, 3.0, 5.0]
    """
    found = []
    for place in range(len(values)):
        part = values[max(0, place - window + 1) : place + 1]
        found.append(sum(part) / len(part))
    return found


def _losses(
    axes: Axes, steps: Sequence[Mapping[str, Any]], validations: Sequence[Mapping[str, Any]]
) -> None:
    at, losses = [row["step"] for row in steps], [row["loss"] for row in steps]
    window = max(1, len(losses) // 40)
    label = "each step" if window > 1 else "train"
    axes.plot(at, losses, color=_TRAIN, lw=0.8, alpha=0.35 if window > 1 else 1.0, label=label)
    if window > 1:
        axes.plot(
            at, smoothed(losses, window), color=_TRAIN, lw=1.6, label=f"mean of {window} steps"
        )
    if validations:
        axes.plot(
            [row["step"] for row in validations],
            [row["eval_loss"] for row in validations],
            color=_VALIDATION, lw=1.4, marker="o", ms=4, label="validation",
        )  # fmt: skip
    axes.set_ylabel("loss of an answer's token")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8)


def _scores(axes: Axes, validations: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        rows = [row for row in validations if f"eval_{name}" in row]
        axes.plot(
            [row["step"] for row in rows],
            [row[f"eval_{name}"] for row in rows],
            color=(_SCORE, _VALIDATION, _TRAIN)[number],
            lw=1.4, marker=_MARKS[name], ms=4, label=_WORDS[name],
        )  # fmt: skip
    axes.set(ylabel="validation", ylim=(0, 1.02))
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _plain(axes: Axes, best_step: int | None) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel("step")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))  # there is no half a step
    axes.grid(axis="y")
    axes.spines[["top", "right"]].set_visible(False)
    if best_step is not None:
        axes.axvline(best_step, color=LIGHT.soft, lw=0.8, ls=(0, (3, 3)))
        axes.annotate(
            "kept", (best_step, 1), xycoords=("data", "axes fraction"), fontsize=7.5,
            xytext=(3, -8), textcoords="offset points", color=LIGHT.soft,
        )  # fmt: skip
