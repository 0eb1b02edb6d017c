"""Which figure of a column may be called best: the paired test says, not the third decimal.

Within a group of models, the highest figure is `best` only if the adjusted paired test tells it
from every other of the group; `second` likewise among the rest. Where it cannot be told apart, the
highest and all that the test does not tell from it are `tie`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinqa.core.figures import Figure, PairedTest

__all__ = ["ALPHA", "Verdicts"]

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
        ranked = sorted(
            (figure for figure in figures if figure.value is not None),
            key=lambda figure: (-(figure.value or 0.0), figure.run),
        )
        if len(ranked) < 2:
            return {}
        metric = ranked[0].metric
        if not self._first_of(ranked):
            top, *rest = ranked
            pairs = [(other.run, self.tested(top.run, other.run, metric)) for other in rest]
            if not any(known for _, known in pairs):
                return {}  # nothing was tested, so nothing is said
            tied = [run for run, known in pairs if known and not self.better(top.run, run, metric)]
            return dict.fromkeys([top.run, *tied], "tie") if tied else {}
        marks = {ranked[0].run: "best"}
        if len(ranked) > 2 and self._first_of(ranked[1:]):
            marks[ranked[1].run] = "second"
        return marks

    def _first_of(self, ranked: Sequence[Figure]) -> bool:
        top, *rest = ranked
        return all(self.better(top.run, other.run, top.metric) for other in rest)

    def _p(self, one: str, two: str, metric: str) -> float | None:
        test = self._tests.get((one, two, metric)) or self._tests.get((two, one, metric))
        return None if test is None else test.p_holm
