"""What the page says in words: each sentence follows a rule from the figures and the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinqa.core.figures import Figure
from clinqa.present.report.marks import Verdicts
from clinqa.present.report.read import Evaluation, Run
from clinqa.present.report.words import (
    GRAVEST,
    Named,
    count,
    decimals,
    interval,
    metric_name,
    percent,
)

__all__ = ["primary_metric", "summary"]


def primary_metric(evaluation: Evaluation) -> str:
    """The metric that was declared to decide; F1 where none was."""
    declared = str((evaluation.meta.get("family") or {}).get("metric") or "")
    there = {metric for _, metric, subset in evaluation.figures if not subset}
    if declared in there:
        return declared
    return next((m for m in ("token_f1", "rougeL", "level_accuracy") if m in there), "token_f1")


def summary(evaluation: Evaluation, verdicts: Verdicts) -> list[str]:
    """The findings a reader should leave with, most important first."""
    said = [
        _scope(evaluation),
        _best(evaluation, verdicts),
        _levels(evaluation, verdicts),
        *_dangerous(evaluation),
        _memorised(evaluation),
        _unanswered(evaluation),
    ]
    return [sentence for sentence in said if sentence]


def _scope(evaluation: Evaluation) -> str:
    models = {run.model for run in evaluation.runs}
    figures = _ranked(evaluation, primary_metric(evaluation))
    if not figures:
        return ""
    sizes = sorted({figure.n for figure in figures})
    clusters = sorted({figure.clusters for figure in figures})
    split = evaluation.dataset.get("split")
    of = f" of the {split} split" if split else ""
    runs, asked = len(evaluation.runs), len(models)
    other = " The runs did not all answer the same questions." if len(sizes) > 1 else ""
    return (
        f"{runs} {_plural('run', runs)} of {asked} {_plural('model', asked)}"
        f" on {_span(sizes)} questions{of}, about {_span(clusters)} patients.{other}"
    )


def _plural(word: str, n: int) -> str:
    return word if n == 1 else f"{word}s"


def _span(numbers: Sequence[int]) -> str:
    low, high = numbers[0], numbers[-1]
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _best(evaluation: Evaluation, verdicts: Verdicts) -> str:
    metric = primary_metric(evaluation)
    ranked = _ranked(evaluation, metric)
    if len(ranked) < 2:
        return ""
    labels = _labels(evaluation.runs)
    top, *rest = ranked
    name = metric_name(metric)
    best = _valued(labels, top)
    untested = [f for f in rest if not verdicts.tested(top.run, f.run, metric)]
    if len(untested) == len(rest):
        return (
            f"{name} is {_from_to(labels, ranked)}; no adjusted paired test was made, so no run is"
            " called best."
        )
    tied = [f for f in rest if f not in untested and not verdicts.better(top.run, f.run, metric)]
    if tied:
        names = _listed([labels[figure.run] for figure in tied])
        return f"{name}: {best} is not distinguishable from {names} by the adjusted paired test."
    if untested:
        return (
            f"{name} is {_from_to(labels, ranked)}; {labels[top.run]} was not tested against"
            f" {len(untested)} of {len(rest)} other runs."
        )
    return f"{name} is highest for {best}, and the paired test tells it from every other run."


def _listed(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _levels(evaluation: Evaluation, verdicts: Verdicts) -> str:
    """Accuracy beside macro-F1: always "normal" gives much of the one and little of the other.

    No run is called the highest but where the adjusted test tells it from every other.
    """
    labels = _labels(evaluation.runs)
    said: list[str] = []
    claimed = True
    for metric in ("level_accuracy", "level_macro_f1"):
        ranked = _ranked(evaluation, metric)
        name = metric_name(metric).removeprefix("Level ")
        if len(ranked) == 1:
            said.append(f"{name} of {_valued(labels, ranked[0])}")
        elif ranked and all(verdicts.better(ranked[0].run, f.run, metric) for f in ranked[1:]):
            said.append(f"{name} is highest for {_valued(labels, ranked[0])}")
        elif ranked:
            claimed = False
            said.append(f"{name} is {_from_to(labels, ranked)}")
    if not said:
        return ""
    end = "" if claimed else "; no adjusted test tells the first from all others"
    return f"Clinical level: {'; '.join(said)}{end}."


def _valued(labels: Mapping[str, str], figure: Figure) -> str:
    bounds = f"{decimals(figure.value)} {interval(figure.low, figure.high)}".rstrip()
    return f"{labels[figure.run]} ({bounds})"


def _from_to(labels: Mapping[str, str], ranked: Sequence[Figure]) -> str:
    return f"from {_valued(labels, ranked[-1])} to {_valued(labels, ranked[0])}"


def _dangerous(evaluation: Evaluation) -> list[str]:
    return [_one_danger(evaluation, kind) for kind in GRAVEST]


def _one_danger(evaluation: Evaluation, kind: Named) -> str:
    found = [
        (figure, run)
        for run in evaluation.runs
        if (figure := evaluation.figure(run.id, kind.key)) is not None
        and figure.value is not None
        and figure.n
    ]
    if not found:
        return ""
    name = f"{kind.name[0].upper()}{kind.name[1:]}"
    if kind.key.endswith("_any"):
        name = "Dangerous errors of any kind"
    found.sort(key=lambda pair: (pair[0].value or 0.0, pair[1].label))
    (least, first), (most, last) = found[0], found[-1]

    def said(figure: Figure, run: Run) -> str:
        n = (figure.value or 0.0) * figure.n
        return f"{count(n)} of {count(figure.n)} ({percent(figure.value)}) for {run.label}"

    if first.id == last.id:
        return f"{name}: {said(least, first)}."
    return f"{name}: from {said(least, first)} to {said(most, last)}."


def _memorised(evaluation: Evaluation) -> str:
    ranked = _ranked(evaluation, primary_metric(evaluation))
    for top in ranked[:1]:
        seen = evaluation.figure(top.run, "level_accuracy", seen="seen")
        unseen = evaluation.figure(top.run, "level_accuracy", seen="unseen")
        if seen and unseen and seen.value is not None and unseen.value is not None:
            label = _labels(evaluation.runs)[top.run]
            return (
                f"For {label}, level accuracy is {decimals(seen.value)} where the deciding"
                f" statement also stands in the train split and {decimals(unseen.value)}"
                f" {interval(unseen.low, unseen.high)}".rstrip()
                + f" on the {count(unseen.n)} items where it does not."
            )
    return ""


def _unanswered(evaluation: Evaluation) -> str:
    if evaluation.warnings:  # they say it run by run
        return ""
    lost = []
    for run in evaluation.runs:
        answered = evaluation.figure(run.id, "status_answered")
        if answered is not None and answered.value is not None and answered.value < 1:
            lost.append((1 - answered.value, run))
    if not lost:
        return ""
    lost.sort(key=lambda pair: (-pair[0], pair[1].label))
    share, run = lost[0]
    return (
        f"Not every question was answered: up to {percent(share)} of them not ({run.label});"
        " such answers are counted as they stand, never dropped."
    )


def _ranked(evaluation: Evaluation, metric: str) -> list[Figure]:
    signatures = evaluation.signatures(metric)
    if len(signatures) != 1:
        return []  # figures made in different ways have no common order
    found = [evaluation.figure(run.id, metric, signatures[0]) for run in evaluation.runs]
    known = [figure for figure in found if figure is not None and figure.value is not None]
    return sorted(known, key=lambda figure: (-(figure.value or 0.0), figure.run))


def _labels(runs: Sequence[Run]) -> dict[str, str]:
    return {run.id: run.label for run in runs}
