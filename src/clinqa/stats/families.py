"""Families of tests: declared before the tests are seen, adjusted by Holm (1979)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from clinqa.core.figures import PairedTest

__all__ = ["adjusted", "family_tests", "holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given (Holm 1979): reject where one is below the level.

    The chance of a single false rejection in the whole family stays below the level, whatever
    the dependence between the tests. The family must be declared before the tests are seen; a
    test that could not be made has no place in it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    if not all(0 <= p <= 1 for p in p_values):
        raise ValueError("p-values lie between 0 and 1")
    made = [0.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        made[at] = highest
    return made


def adjusted(p_values: Sequence[float], families: Sequence[Hashable]) -> list[float | None]:
    """Holm's p-values within each family, in the order given; None of what is in no family (None).

    >>> adjusted([0.01, 0.04, 0.03], ["one", None, "one"])
    [0.02, None, 0.03]
    """
    made: list[float | None] = [None] * len(p_values)
    for family in dict.fromkeys(families):
        own = [at for at, one in enumerate(families) if one == family and one is not None]
        for at, p in zip(own, holm([p_values[at] for at in own]), strict=True):
            made[at] = p
    return made


def family_tests(
    tests: Iterable[PairedTest], family_of: Callable[[PairedTest], Hashable]
) -> list[PairedTest]:
    """The tests of families with their adjusted p, then the others, which decide nothing.

    `family_of` gives the family of a test, None (or False) where it is in none.
    """
    every = list(tests)
    families = [family_of(test) or None for test in every]
    made = [
        replace(test, p_holm=p)
        for test, p in zip(every, adjusted([test.p for test in every], families), strict=True)
    ]
    return sorted(made, key=lambda test: test.p_holm is None)
