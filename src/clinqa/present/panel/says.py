"""What the page says in words: what each figure means, and what may be concluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinqa.present.panel.read import Panel, PanelRun

__all__ = ["MEANINGS", "summary"]

MEANINGS: Mapping[str, tuple[str, str]] = {
    "accuracy": ("Accuracy", "share judged right"),
    "macro_f1": ("Macro-F1", "mean of the F1 of True and of False"),
    "sensitivity": ("Sensitivity", "share of True statements judged True"),
    "specificity": ("Specificity", "share of False statements judged False"),
    "precision": ("Precision", "share of those judged True that are"),
    "mcc": ("MCC", "Matthews' correlation; 0 for one answer only"),
    "kappa": ("κ", "Cohen's kappa with the truth; on a balanced set 2 · accuracy − 1"),
    "youden_j": ("J", "sensitivity + specificity − 1"),
    "directional_bias": ("Bias", "accuracy − macro-F1; 1/6 for one answer only"),
    "true_share": ("True said", "share judged True, of the answered"),
    "pair_both": ("Both right", "share of pairs with both statements right"),
    "pair_one": ("One right", "share of pairs with one right; all of them for one answer only"),
    "pair_none": ("None right", "share of pairs with both wrong"),
}


def summary(panel: Panel) -> list[str]:
    """A few sentences; who is best is said only where a test says so."""
    metric = str(panel.meta["family"]["metric"])
    name = MEANINGS[metric][0].lower()
    said = []
    # what was asked of fewer statements, or in another way, shares no ranking
    ways: dict[tuple[int, str], list[PanelRun]] = {}
    for run in panel.runs:
        if not run.is_vote:
            ways.setdefault((int(run.about["items"]), str(run.about["how"])), []).append(run)
    for (items, how), runs in ways.items():
        among = "" if len(ways) == 1 else f" of those asked {items:,} statements, {how}"
        said += _ranked(panel, metric, f"Highest {name}{among}", runs)
    one_sided = [
        run.label
        for run in panel.runs
        if (share := panel.figure(run.id, "pair_one")) is not None and share.value == 1
    ]
    if one_sided:
        said.append(
            f"{', '.join(one_sided)}: exactly one statement right of every pair. Both "
            "are given one answer, so no pair is told apart and accuracy is 0.5 whatever it says."
        )
    difficulty = panel.panel.get("difficulty")
    if difficulty:
        said.append(
            f"{difficulty['nobody']:,} of {panel.panel['items']:,} statements are judged right by "
            f"nobody, {difficulty['everybody']:,} by all {difficulty['models']} models."
        )
    return said


def _ranked(panel: Panel, metric: str, told: str, runs: Sequence[PanelRun]) -> list[str]:
    known = [
        (figure.value, run)
        for run in runs
        if (figure := panel.figure(run.id, metric)) is not None and figure.value is not None
    ]
    if not known:
        return []
    ranked = sorted(known, key=lambda one: (-one[0], one[1].id))
    value, best = ranked[0]
    told += f": {best.label}, {value:.3f}"
    if len(ranked) > 1:
        alike = [run.label for _, run in ranked[1:] if not _better(panel, best.id, run.id)]
        told += (
            "; by the declared tests it differs from every other run."
            if not alike
            else f"; not told apart from {', '.join(alike)} by the declared tests."
        )
    return [told]


def _better(panel: Panel, one: str, two: str) -> bool:
    alpha = float(panel.meta["family"]["alpha"])
    return any(
        {test.a, test.b} == {one, two} and test.p_holm is not None and test.p_holm < alpha
        for test in panel.tests
    )
