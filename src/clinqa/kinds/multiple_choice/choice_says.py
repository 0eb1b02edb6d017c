"""What the page says in words; who is best, or biased, is said only where a test says so."""

from __future__ import annotations

from collections.abc import Mapping

from clinqa.core.figures import Figure
from clinqa.kinds.facets.figure_tables import best_sentences
from clinqa.kinds.facets.shows import Evaluation, ShownRun
from clinqa.stats.verdicts import ALPHA

__all__ = ["READERS", "accuracy_of_answered", "figure_of", "reader_of", "readers_of", "sentences"]

_LEFT_OUT = "unanswered: left out"
READERS: Mapping[str, str] = {
    "string": "string match",
    "first_token": "first token",
    "matcher": "trained matcher",
}


def readers_of(run: ShownRun) -> list[str]:
    """The ways in which a run was read."""
    return [name for name in READERS if name in run.about["readers"]]


def reader_of(evaluation: Evaluation, run: ShownRun) -> str:
    """The reader that decides the declared tests, or the first that a run has."""
    deciding, own = str(evaluation.meta["reader"]), readers_of(run)
    return deciding if deciding in own else own[0]


def figure_of(
    evaluation: Evaluation, run: ShownRun, metric: str, reader: str = "", **subset: str
) -> Figure | None:
    """A figure of one reading (the deciding one), unanswered prompts counted as wrong."""
    parts = (reader or reader_of(evaluation, run),)
    without = _LEFT_OUT if metric == "accuracy" else None
    return evaluation.figure(run.id, metric, parts=parts, without=without, **subset)


def accuracy_of_answered(evaluation: Evaluation, run: ShownRun, reader: str) -> Figure | None:
    """The other convention: unanswered prompts left out."""
    return evaluation.figure(run.id, "accuracy", parts=(reader, _LEFT_OUT))


def sentences(evaluation: Evaluation) -> list[str]:
    """A few sentences."""
    family, reader = evaluation.meta["family"], str(evaluation.meta["reader"])
    metric = str(family["metric"])
    found = [figure_of(evaluation, run, metric, reader) for run in evaluation.runs]
    told = f"{evaluation.metric_name(metric).lower()}, read by {READERS[reader]}"
    best = best_sentences(told, evaluation, found, float(family["alpha"]), "questions")
    return [*best, *_runs(evaluation), *_readers(evaluation)]


def _runs(evaluation: Evaluation) -> list[str]:
    """Of each run, what its orders and positions say."""
    said = []
    for run in evaluation.runs:
        parts = []
        one = figure_of(evaluation, run, "accuracy")
        every = figure_of(evaluation, run, "all_orders_right")
        shuffled = [s for s in evaluation.subsets("accuracy", "order") if s["order"] != "fixed"]
        several = len([s for s in shuffled if figure_of(evaluation, run, "accuracy", **s)]) > 1
        if several and one and every and None not in (one.value, every.value):
            parts.append(
                f"{one.value:.3f} right in the mean over orders, {every.value:.3f} of the items "
                "whatever the order"
            )
        parts += _position(evaluation, run)
        if parts:
            said.append(f"{run.label}: {'; '.join(parts)}.")
    return said


def _position(evaluation: Evaluation, run: ShownRun) -> list[str]:
    reading = run.id, reader_of(evaluation, run)
    own = [o for o in evaluation.meta["positions"] if (o["run"], o["reader"]) == reading]
    leaning = [one for one in own if one["p_holm"] < ALPHA]
    if not leaning:
        return ["no leaning to a position is told from chance"] if own else []
    told = ", ".join(
        f"{'ABCDEFGHIJ'[max(range(one['options']), key=one['picks'].__getitem__)]} most often of "
        f"{one['options']}"
        for one in leaning
    )
    return [f"where an option stands changes how often it is picked ({told})"]


def _readers(evaluation: Evaluation) -> list[str]:
    low = [one for one in evaluation.meta["agreement"] if one["same"] < 0.9]
    return [
        f"{evaluation.label(one['run'])}: {READERS[one['a']]} and {READERS[one['b']]} read "
        f"{100 * (1 - one['same']):.0f} % of the answers differently."
        for one in low
    ]
