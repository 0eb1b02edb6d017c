"""What may be said of two runs: told apart, not told apart, not tested, not comparable.

Only an adjusted test of a declared family tells runs apart, or fails to; where none was made
nothing was found, and where the figures are of different items none could be.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from clinqa.core.figures import PairedTest

__all__ = ["ALPHA", "Told", "ToldApart", "verdict_of"]

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


class ToldApart:
    """The tests of several runs, asked by pair and metric, in whichever order.

    >>> told = ToldApart([PairedTest("a", "b", "bleu", 0.1, 0.05, 0.15, 0.01, 0.02)])
    >>> told.higher("a", "b", "bleu"), told.higher("b", "a", "bleu")
    (True, False)
    >>> str(told.verdict("b", "a", "bleu")), str(told.verdict("a", "c", "bleu"))
    ('told apart', 'not tested')
    """

    def __init__(self, tests: Iterable[PairedTest], alpha: float = ALPHA) -> None:
        self._alpha = alpha
        self._tests = {(test.a, test.b, test.metric): test for test in tests}

    def test(self, one: str, other: str, metric: str) -> PairedTest | None:
        """The test of two runs, if there is one."""
        tests = self._tests
        return tests.get((one, other, metric)) or tests.get((other, one, metric))

    def verdict(self, one: str, other: str, metric: str, *, comparable: bool = True) -> Told:
        """What may be said of two runs."""
        return verdict_of(self.test(one, other, metric), alpha=self._alpha, comparable=comparable)

    def higher(self, one: str, other: str, metric: str) -> bool:
        """Whether the test tells `one` from `other`, and `one` is the higher."""
        test = self.test(one, other, metric)
        if test is None or self.verdict(one, other, metric) is not Told.TOLD_APART:
            return False
        return (test.difference if test.a == one else -test.difference) > 0
