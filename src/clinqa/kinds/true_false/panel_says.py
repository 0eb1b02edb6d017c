"""What the page of a panel says in words; who is best is said only where a test says so."""

from __future__ import annotations

from clinqa.core.figures import Figure
from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.stats.verdicts import best_sentence, ranked

__all__ = ["BY_PAIR", "LEFT_OUT", "WRONG", "figure_of", "sentences"]

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
        found = ranked(figure_of(evaluation, run, metric) for run in runs)
        said += best_sentence(f"{name}{among}", evaluation, found, alpha)
    one_sided = [
        run.label
        for run in evaluation.runs
        if (share := figure_of(evaluation, run, "pair_one")) is not None and share.value == 1
    ]
    if one_sided:
        said.append(
            f"{', '.join(one_sided)}: exactly one statement right of every pair. Both "
            "are given one answer, so no pair is told apart and accuracy is 0.5 whatever it says."
        )
    panel = evaluation.meta["panel"]
    difficulty = panel.get("difficulty")
    if difficulty:
        said.append(
            f"{difficulty['nobody']:,} of {panel['items']:,} statements are judged right by "
            f"nobody, {difficulty['everybody']:,} by all {difficulty['models']} models."
        )
    return said
