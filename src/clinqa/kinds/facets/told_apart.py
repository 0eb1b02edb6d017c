"""Which figure of a column may be called best: the paired test says, not the third decimal.

Within a group of models, the highest figure is `best` only if the adjusted paired test tells it
from every other of the group; `second` likewise among the rest. Where it cannot be told apart, the
highest and all that the test does not tell from it are `tie`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinqa.core.figures import Figure, PairedTest
from clinqa.kinds.facets.shows import Evaluation

__all__ = ["ALPHA", "Verdicts", "best_sentence", "ranked"]

ALPHA = 0.05


class Verdicts:
    """The paired tests, asked by pair of runs and metric.

    >>> test = PairedTest("a", "b", "bleu", 0.1, 0.05, 0.15, 0.01, 0.02)
    >>> Verdicts([test]).better("a", "b", "bleu"), Verdicts([test]).better("b", "a", "bleu")
    (True, False)
    """

    def __init__(self, tests: Iterable[PairedTest], alpha: float = ALPHA) -> None:
        self._alpha = alpha
        self._tests: dict[tuple[str, str, str], PairedTest] = {}
        for test in tests:
            self._tests[test.a, test.b, test.metric] = test

    def tested(self, one: str, two: str, metric: str) -> bool:
        """Whether an adjusted test of the two runs exists."""
        return self._p(one, two, metric) is not None

    def better(self, one: str, two: str, metric: str) -> bool:
        """Whether the test tells `one` from `two`, in favour of `one`."""
        p = self._p(one, two, metric)
        if p is None or p >= self._alpha:
            return False
        test = self._tests.get((one, two, metric))
        if test is not None:
            return test.difference > 0
        return self._tests[two, one, metric].difference < 0

    def marks(self, figures: Sequence[Figure]) -> dict[str, str]:
        """The mark of each run of one group in one column; runs without a mark are left out."""
        found = ranked(figures)
        if len(found) < 2:
            return {}
        metric = found[0].metric
        if not self._first_of(found):
            top, *rest = found
            pairs = [(other.run, self.tested(top.run, other.run, metric)) for other in rest]
            if not any(known for _, known in pairs):
                return {}  # nothing was tested, so nothing is said
            tied = [run for run, known in pairs if known and not self.better(top.run, run, metric)]
            return dict.fromkeys([top.run, *tied], "tie") if tied else {}
        marks = {found[0].run: "best"}
        if len(found) > 2 and self._first_of(found[1:]):
            marks[found[1].run] = "second"
        return marks

    def _first_of(self, found: Sequence[Figure]) -> bool:
        top, *rest = found
        return all(self.better(top.run, other.run, top.metric) for other in rest)

    def _p(self, one: str, two: str, metric: str) -> float | None:
        test = self._tests.get((one, two, metric)) or self._tests.get((two, one, metric))
        return None if test is None else test.p_holm


def best_sentence(
    told: str, evaluation: Evaluation, ranked: Sequence[Figure], alpha: float = ALPHA
) -> list[str]:
    """Who is highest, and of whom the declared tests tell it apart; nothing where none is ranked.

    `ranked` are figures of one metric with values, the highest first.
    """
    if not ranked:
        return []
    verdicts = Verdicts(evaluation.tests, alpha)
    best, *rest = ranked
    metric = best.metric
    said = f"{told}: {evaluation.label(best.run)}, {best.value:.3f}"
    compared = [one for one in rest if verdicts.tested(best.run, one.run, metric)]
    alike = [one for one in compared if not verdicts.better(best.run, one.run, metric)]
    others = [one for one in rest if one not in compared]
    if alike:
        said += f"; not told apart from {_names(evaluation, alike)} by the declared tests"
    elif compared:
        every = "every run it was compared with" if others else "every other run"
        said += f"; by the declared tests it differs from {every}"
    if others:
        said += f"; no declared test compares it with {_names(evaluation, others)}"
    return [f"{said}."]


def _names(evaluation: Evaluation, figures: Sequence[Figure]) -> str:
    return ", ".join(evaluation.label(figure.run) for figure in figures)


def ranked(figures: Iterable[Figure | None]) -> list[Figure]:
    """Those with a value, the highest first; ties by run."""
    known = [one for one in figures if one is not None and one.value is not None]
    return sorted(known, key=lambda figure: (-(figure.value or 0.0), figure.run))
