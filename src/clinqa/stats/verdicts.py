"""What may be said of a comparison: told apart, not told apart, not tested, not comparable.

Only an adjusted test of a declared family tells runs apart, or fails to; where none was made
nothing was found, and where the figures are of different items none could be. Within a group of
runs, the highest figure is `best` only if the test tells it from every other of the group; `second`
likewise among the rest. Where it cannot be told apart, the highest and all that the test does not
tell from it are `tie`. Of the metrics named `lower`, the lowest figure stands for the highest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from clinqa.core.figures import Figure, PairedTest

__all__ = [
    "ALPHA",
    "ComparedRuns",
    "Told",
    "Verdicts",
    "best_sentence",
    "gap_verdict",
    "ranked",
    "verdict_of",
]

ALPHA = 0.05


class Told(StrEnum):
    """What is known of a difference."""

    TOLD_APART = "told apart"
    NOT_TOLD_APART = "not told apart"
    NOT_TESTED = "not tested"
    NOT_COMPARABLE = "not comparable"


def verdict_of(test: PairedTest | None, *, alpha: float = ALPHA, comparable: bool = True) -> Told:
    """What a test says, or its absence; a test without an adjusted p decides nothing.

    >>> test = PairedTest("a", "b", "bleu", 0.1, 0.05, 0.15, 0.01, p_holm=0.02)
    >>> print(verdict_of(test), verdict_of(None), verdict_of(None, comparable=False), sep=", ")
    told apart, not tested, not comparable
    """
    if not comparable:
        return Told.NOT_COMPARABLE
    if test is None or test.p_holm is None:
        return Told.NOT_TESTED
    return Told.TOLD_APART if test.p_holm < alpha else Told.NOT_TOLD_APART


def gap_verdict(p: float | None, p_max: float | None, alpha: float = ALPHA) -> str:
    """What may be said of a gap between groups: found, suspected, or not told from chance.

    >>> gap_verdict(0.001, 0.01), gap_verdict(0.03, 0.3), gap_verdict(0.4, 1.0)
    ('found', 'in doubt', 'not told from chance')
    """
    if p is None or p_max is None:
        return "no test"
    if p_max < alpha:
        return "found"
    return "in doubt" if p < alpha else "not told from chance"


class Verdicts:
    """The paired tests, asked by pair of runs, in whichever order, and metric.

    >>> told = Verdicts([PairedTest("a", "b", "bleu", 0.1, 0.05, 0.15, 0.01, 0.02)])
    >>> told.better("a", "b", "bleu"), told.better("b", "a", "bleu")
    (True, False)
    >>> str(told.of("b", "a", "bleu")), str(told.of("a", "c", "bleu"))
    ('told apart', 'not tested')
    """

    def __init__(
        self, tests: Iterable[PairedTest], alpha: float = ALPHA, lower: Collection[str] = ()
    ) -> None:
        self._alpha, self._lower = alpha, lower
        # a test of the family says what may be said, whatever else was made of the same pair
        declared_last = sorted(tests, key=lambda test: test.p_holm is not None)
        self._tests = {(*sorted((test.a, test.b)), test.metric): test for test in declared_last}

    def test(self, one: str, other: str, metric: str) -> PairedTest | None:
        """The test of two runs, if there is one."""
        first, second = sorted((one, other))
        return self._tests.get((first, second, metric))

    def of(self, one: str, other: str, metric: str, *, comparable: bool = True) -> Told:
        """What may be said of two runs."""
        test = self.test(one, other, metric)
        return verdict_of(test, alpha=self._alpha, comparable=comparable)

    def tested(self, one: str, other: str, metric: str) -> bool:
        """Whether an adjusted test of the two runs exists."""
        return self.of(one, other, metric) is not Told.NOT_TESTED

    def better(self, one: str, other: str, metric: str) -> bool:
        """Whether the test tells `one` from `other`, in favour of `one`."""
        test = self.test(one, other, metric)
        if test is None or self.of(one, other, metric) is not Told.TOLD_APART:
            return False
        ahead = test.difference if test.a == one else -test.difference
        return (-ahead if metric in self._lower else ahead) > 0

    def marks(self, figures: Sequence[Figure]) -> dict[str, str]:
        """The mark of each run of one group in one column; runs without a mark are left out."""
        found = ranked(figures, self._lower)
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


class ComparedRuns(Protocol):
    """Runs by id, each with its label, and the tests between them."""

    @property
    def tests(self) -> Sequence[PairedTest]: ...

    @property
    def lower(self) -> Collection[str]: ...

    def label(self, run: str) -> str: ...


def best_sentence(
    told: str, evaluation: ComparedRuns, ranked: Sequence[Figure], alpha: float = ALPHA
) -> list[str]:
    """Who is best, and of whom the declared tests tell it apart; nothing where none is ranked.

    `ranked` are figures of one metric with values, the best first.
    """
    if not ranked:
        return []
    verdicts = Verdicts(evaluation.tests, alpha, evaluation.lower)
    metric, most = ranked[0].metric, ranked[0].value
    best = [one for one in ranked if one.value == most]  # between equals no order is made
    rest = ranked[len(best) :]
    end = "Lowest" if metric in evaluation.lower else "Highest"
    each, who, was, them = "", "it differs", "it was", "it"
    if len(best) > 1:
        each, who, was, them = " each", "they differ", "they were", "them"
    said = f"{end} {told}: {_names(evaluation, best)}, {most:.3f}{each}"
    tested = {one.run: [b for b in best if verdicts.tested(b.run, one.run, metric)] for one in rest}
    compared = [one for one in rest if tested[one.run]]
    alike = [
        one
        for one in compared
        if not all(verdicts.better(b.run, one.run, metric) for b in tested[one.run])
    ]
    others = [one for one in rest if one not in compared]
    if alike:
        said += f"; not told apart from {_names(evaluation, alike)} by the declared tests"
    elif compared:
        every = f"every run {was} compared with" if others else "every other run"
        said += f"; by the declared tests {who} from {every}"
    if others:
        said += f"; no declared test compares {them} with {_names(evaluation, others)}"
    return [f"{said}."]


def _names(evaluation: ComparedRuns, figures: Sequence[Figure]) -> str:
    return ", ".join(evaluation.label(figure.run) for figure in figures)


def ranked(figures: Iterable[Figure | None], lower: Collection[str] = ()) -> list[Figure]:
    """Those with a value, the highest first, or the lowest of a metric of `lower`; ties by run."""
    known = [one for one in figures if one is not None and one.value is not None]

    def place(one: Figure) -> tuple[float, str]:
        value = one.value or 0.0
        return (value if one.metric in lower else -value), one.run

    return sorted(known, key=place)
