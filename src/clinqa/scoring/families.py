"""Is one run better than another? Paired tests over the items that both were asked.

The family of tests is declared beforehand: all pairs of runs, or one run against every other, on
one primary metric (and dangerous errors, where asked for), of runs read in one way. Its p-values
are adjusted (Holm); other metrics are tested without adjustment and are exploratory: they have no
adjusted p.

Figures of judged runs with their intervals: the same for every kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.figures import Figure, PairedTest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import Measures, TestedTogether
from clinqa.stats.comparing import compare, family_tests
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.verdicts import ALPHA

__all__ = [
    "Family",
    "check_primary",
    "deciding_way",
    "family_of",
    "figures_of",
    "tests_of",
]


@dataclass(frozen=True, slots=True)
class Family:
    """The declared comparisons: pairs of run ids, the metric that decides, others beside it."""

    primary: str
    declared: str
    pairs: tuple[tuple[str, str], ...]
    beside: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that are declared, each once."""
        return tuple(dict.fromkeys((self.primary, *self.beside)))


def family_of(
    declared: str, primary: str, runs: Sequence[tuple[str, str]], beside: Sequence[str] = ()
) -> Family:
    """The pairs that `--family` means; `runs` are (id, name) in the order given."""
    ids, beside = [run for run, _ in runs], tuple(beside)
    if declared == "all":
        return Family(primary, declared, tuple(combinations(ids, 2)), beside)
    kind, _, wanted = declared.partition(":")
    found = [run for run, name in runs if wanted in (run, name)]
    if kind != "vs" or not wanted:
        raise ConfigError(f"--family {declared!r}: give all, or vs:RUN")
    if len(found) != 1:
        names = ", ".join(name for _, name in runs)
        raise ConfigError(f"--family {declared!r}: no such run; scored are {names}")
    pairs = tuple((found[0], run) for run in ids if run != found[0])
    return Family(primary, declared, pairs, beside)


def check_primary(primary: str, measures: Measures) -> None:
    """ConfigError for a metric on which runs are not compared, where that is known beforehand."""
    if measures.primaries and primary not in measures.primaries:
        known = ", ".join(measures.primaries)
        raise ConfigError(f"--primary {primary!r}: no such metric; there are {known}")


def deciding_way(
    runs: Mapping[str, Mapping[str, JudgedRun]], ways: Sequence[str], wanted: str
) -> str:
    """The way of reading that decides the tests: as told, or the first that every run has."""
    if wanted and not any(wanted in own for own in runs.values()):
        raise ConfigError(f"--reader {wanted}: no run can be read so; there are {', '.join(ways)}")
    shared = [way for way in ways if all(way in own for own in runs.values())]
    return wanted or next(iter([*shared, *next(iter(runs.values()))]))


def tests_of(
    family: Family,
    runs: Mapping[str, Mapping[str, JudgedRun]],
    items: SplitItems,
    measures: Measures,
    way: str,
    design: Design,
) -> list[PairedTest]:
    """The family's tests with adjusted p, then the same pairs on every other measure and way.

    `runs` are by id and way of reading; `way` is the one that decides.
    """
    every = [one for own in runs.values() for one in own.values()]
    found: list[PairedTest] = []
    declared: set[int] = set()
    for a, b in family.pairs:
        for name in measures.ways:
            if name not in runs[a] or name not in runs[b]:
                continue
            one, two = runs[a][name], runs[b][name]
            made = [
                test
                for together in measures.tests(every, items, one, two, family.primary)
                for test in _tested(together, one, two, items, measures, design)
            ]
            for test in _comparable(made, measures):
                found.append(test)
                if name == way and test.metric in family.metrics:
                    declared.add(id(test))
    return family_tests(found, lambda test: id(test) in declared)


def _comparable(tests: Sequence[PairedTest], measures: Measures) -> list[PairedTest]:
    """Without those whose figures stand for little, since the runs differ in another (`alike`)."""
    apart = {test.metric for test in tests if test.p < ALPHA}
    return [test for test in tests if measures.alike.get(test.metric) not in apart]


def _tested(
    together: TestedTogether,
    a: JudgedRun,
    b: JudgedRun,
    items: SplitItems,
    measures: Measures,
    design: Design,
) -> Iterator[PairedTest]:
    """Those of the measures that can be told of both runs, over the items that both were asked."""
    common, ours, theirs = np.intersect1d(a.items, b.items, assume_unique=True, return_indices=True)
    if not len(common) or not together.measures:
        return
    # what one layout has beyond the other is in no measure by which two runs are compared
    width = min(len(a.layout), len(b.layout))
    columns = np.union1d(a.columns, b.columns)
    columns = columns[columns < width]
    made = compare(
        together.measures,
        a.held(ours, columns),
        b.held(theirs, columns),
        replace(design, clusters=items.cluster[common]),
        flips=together.flips,
        both=together.both,
        twofold=together.twofold,
        columns=columns,
        width=width,
    )
    flipped = measures.wording.flipped
    for measure, one in zip(together.measures, made, strict=True):
        how = flipped if one.test == "sign-flip" else one.test
        test = one.as_test(a.id, b.id, measure.name, f"{measure.signature}{how}")
        if test is not None:
            yield test


def figures_of(
    judged: JudgedRun, items: SplitItems, measures: Measures, design: Design
) -> Iterator[Figure]:
    """Every figure of a run. One that does not exist (nothing at risk, say) has no value.

    Clusters are drawn again, not items. Nothing is judged again: the figure of a drawn sample is a
    function of its summed rows. `design` gives seed, draws and level.
    """
    every = np.arange(len(judged.items))
    for part in measures.figures(judged, items):
        rows = every if part.mask is None else np.flatnonzero(part.mask)
        if not len(rows) or not part.measures:
            continue
        cluster = items.clusters[part.by] if part.by else items.cluster
        sums = judged.summed(rows, cluster[judged.items[rows]])
        found = estimates([one for one, _ in part.measures], sums, replace(design, clusters=None))
        for (measure, subset), one in zip(part.measures, found, strict=True):
            yield one.figure(
                measure.name,
                measure.signature,
                run=judged.id,
                model=judged.model,
                shots=judged.shots,
                subset=subset,
            )
