"""What the page says in words: each sentence follows a rule from the figures and the tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from clinqa.core.figures import Figure
from clinqa.core.wording import count, decimals, interval, many, percent
from clinqa.kinds.facets.shows import Evaluation, MetricName, ShownRun
from clinqa.kinds.long_form.metric_names import ANSWERED, ANY_DANGER, GRAVEST
from clinqa.stats.verdicts import ALPHA, Verdicts, ranked

__all__ = ["primary_metric", "summary"]

_RATE = ANY_DANGER[0]
_SAID = 4  # runs of which a sentence tells


def primary_metric(evaluation: Evaluation) -> str:
    """The metric that was declared to decide; F1 where none was."""
    declared = str((evaluation.meta.get("family") or {}).get("metric") or "")
    there = {metric for _, metric, subset in evaluation.figures if not subset}
    if declared in there:
        return declared
    return next((m for m in ("token_f1", "rougeL", "level_accuracy") if m in there), "token_f1")


def summary(evaluation: Evaluation) -> list[str]:
    """The findings a reader should leave with, most important first."""
    verdicts = Verdicts(evaluation.declared, lower=evaluation.lower)
    said = [
        _scope(evaluation),
        _best(evaluation, verdicts),
        _levels(evaluation, verdicts),
        *_dangers(evaluation),
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
        f"{many(runs, 'run')} of {many(asked, 'model')}"
        f" on {_span(sizes)} questions{of}, of {_span(clusters)} patients.{other}"
    )


def _span(numbers: Sequence[int]) -> str:
    low, high = numbers[0], numbers[-1]
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _best(evaluation: Evaluation, verdicts: Verdicts) -> str:
    metric = primary_metric(evaluation)
    found = _ranked(evaluation, metric)
    if len(found) < 2:
        return ""
    top, *rest = found
    name = evaluation.metric_name(metric)
    best = _valued(evaluation, top)
    if len({figure.n for figure in found}) > 1:
        return (
            f"{name} is {_from_to(evaluation, found)}; the runs were not asked the same questions,"
            " so that these figures are not comparable: the paired tests keep to common ones."
        )
    untested = [f for f in rest if not verdicts.tested(top.run, f.run, metric)]
    if len(untested) == len(rest):
        return (
            f"{name} is {_from_to(evaluation, found)}; not tested: no adjusted paired test was"
            " made, so no run is called best."
        )
    tied = [f for f in rest if f not in untested and not verdicts.better(top.run, f.run, metric)]
    if tied:
        names = _listed([evaluation.label(figure.run) for figure in tied])
        others = f"; {len(untested)} of {len(rest)} others not tested" if untested else ""
        return f"{name}: {best} is not told apart from {names} by the adjusted paired test{others}."
    if untested:
        return (
            f"{name} is {_from_to(evaluation, found)}; {evaluation.label(top.run)} was not tested"
            f" against {len(untested)} of {len(rest)} other runs."
        )
    end = "lowest" if metric in evaluation.lower else "highest"
    return f"{name} is {end} for {best}, and the paired test tells it from every other run."


def _listed(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _levels(evaluation: Evaluation, verdicts: Verdicts) -> str:
    """Accuracy beside macro-F1: always "normal" gives much of the one and little of the other.

    No run is called the highest but where the adjusted test tells it from every other.
    """
    said: list[str] = []
    ends: dict[str, list[str]] = {}
    for metric in ("level_accuracy", "level_macro_f1"):
        found = _ranked(evaluation, metric)
        name = evaluation.metric_name(metric).removeprefix("Level ")
        if len(found) == 1:
            said.append(f"{name} of {_valued(evaluation, found[0])}")
        elif found and _beats_all(verdicts, found):
            said.append(f"{name} is highest for {_valued(evaluation, found[0])}")
        elif found:
            said.append(f"{name} is {_from_to(evaluation, found)}")
            ends.setdefault(_undecided(verdicts, found), []).append(name)
    if not said:
        return ""
    why = [f"{' and '.join(names)} {reason}" for reason, names in ends.items()]
    return f"Clinical level: {'; '.join([*said, *why])}."


def _beats_all(verdicts: Verdicts, found: Sequence[Figure]) -> bool:
    """Does the test tell the first from every other, over the same number of items?"""
    top, *rest = found
    return all(f.n == top.n and verdicts.better(top.run, f.run, top.metric) for f in rest)


def _undecided(verdicts: Verdicts, found: Sequence[Figure]) -> str:
    """Why no run is called the highest."""
    top, *rest = found
    if len({figure.n for figure in found}) > 1:
        return "not comparable between runs of other questions"
    if not any(verdicts.tested(top.run, one.run, top.metric) for one in rest):
        return "not tested"
    return "not told apart, or not tested, between the highest and all others"


def _valued(evaluation: Evaluation, figure: Figure) -> str:
    return f"{evaluation.label(figure.run)} ({_bounded(figure)})"


def _from_to(evaluation: Evaluation, found: Sequence[Figure]) -> str:
    low, high = sorted((found[-1], found[0]), key=lambda figure: figure.value or 0.0)
    return f"from {_valued(evaluation, low)} to {_valued(evaluation, high)}"


def _dangers(evaluation: Evaluation) -> list[str]:
    """How often errors that could harm were made; no order of runs where they did not answer
    alike, since who says nothing does no harm."""
    apart = _answered_apart(evaluation)
    said = [_one_danger(evaluation, kind, ordered=not apart) for kind in (_RATE, *GRAVEST[2:])]
    if apart:
        said.append(
            "On dangerous errors the runs are not ranked: the paired test tells the shares that"
            f" they answered apart ({apart})."
        )
    return said


def _answered_apart(evaluation: Evaluation) -> str:
    """Two runs whose answered shares differ by more than chance, or were not tested and differ."""
    shares = {
        run.id: figure.value
        for run in evaluation.runs
        if (figure := evaluation.figure(run.id, ANSWERED.key)) is not None
    }
    verdicts = Verdicts(evaluation.tests)
    for one, other in combinations(shares, 2):
        test = verdicts.test(one, other, ANSWERED.key)
        differ = shares[one] != shares[other] if test is None else test.p < ALPHA
        if differ:
            return " and ".join(
                f"{percent(shares[run])} for {evaluation.label(run)}" for run in (one, other)
            )
    return ""


def _one_danger(evaluation: Evaluation, kind: MetricName, *, ordered: bool) -> str:
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
    if kind is _RATE:
        name = "Dangerous errors of any kind"

    def said(figure: Figure, run: ShownRun) -> str:
        n = (figure.value or 0.0) * figure.n
        told = f"{count(n)} of {count(figure.n)} ({percent(figure.value)})"
        answered = evaluation.figure(run.id, ANY_DANGER[1].key)
        if kind is _RATE and answered is not None and answered.n < figure.n:
            rate = "" if answered.value is None else f", {percent(answered.value)} of these"
            told += f" items, of which {count(answered.n)} were answered{rate},"
        return f"{told} for {run.label}"

    if not ordered:
        some = "; ".join(said(*pair) for pair in found[:_SAID])
        more = f"; {len(found) - _SAID} more in the table" if len(found) > _SAID else ""
        return f"{name}: {some}{more}."
    found.sort(key=lambda pair: (pair[0].value or 0.0, pair[1].label))
    (least, first), (most, last) = found[0], found[-1]
    if first.id == last.id:
        return f"{name}: {said(least, first)}."
    return f"{name}: from {said(least, first)} to {said(most, last)}."


def _memorised(evaluation: Evaluation) -> str:
    found = _ranked(evaluation, primary_metric(evaluation))
    for top in found[:1]:
        seen = evaluation.figure(top.run, "level_accuracy", seen="seen")
        unseen = evaluation.figure(top.run, "level_accuracy", seen="unseen")
        if seen and unseen and seen.value is not None and unseen.value is not None:
            return (
                f"For {evaluation.label(top.run)}, level accuracy is {_bounded(seen)} on the"
                f" {count(seen.n)} items whose deciding statement also stands in the train split"
                f" and {_bounded(unseen)} on the {count(unseen.n)} where it does not; these are"
                " different items, and the difference was not tested."
            )
    return ""


def _bounded(figure: Figure) -> str:
    return f"{decimals(figure.value)} {interval(figure.low, figure.high)}".rstrip()


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
        " figures of all items count such items as wrong, figures of answered items leave them out."
    )


def _ranked(evaluation: Evaluation, metric: str) -> list[Figure]:
    signatures = evaluation.signatures(metric)
    if len(signatures) != 1:
        return []  # figures made in different ways have no common order
    found = (evaluation.figure(run.id, metric, signatures[0]) for run in evaluation.runs)
    return ranked(found, evaluation.lower)
