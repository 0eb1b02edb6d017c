"""Is one run better than another? Paired tests over the items that both answered.

A measure that is of some answers only (kappa: those that state an ordinal level) is compared over
the items of which it is in both runs, and its n is theirs.

The family of tests is declared beforehand: all pairs of runs, or one run against every other, on
one primary metric. Its p-values are adjusted (Holm); other metrics are tested without adjustment
and are exploratory: they have no adjusted p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from clinqa.core.errors import ConfigError
from clinqa.core.figures import PairedTest
from clinqa.scoring.figures import LEVEL, Drawing, statistic_of
from clinqa.scoring.inputs import Items
from clinqa.scoring.measures import Measure
from clinqa.scoring.scored import COLUMNS, ScoredRun
from clinqa.stats.holm import holm
from clinqa.stats.paired import compare

__all__ = ["FLIPS", "Family", "family_of", "tests_of"]

Floats = npt.NDArray[np.float64]
FLIPS = 9999
_EXPLORED = 999  # flips of an exploratory test


@dataclass(frozen=True, slots=True)
class Family:
    """The declared comparisons: pairs of run ids, and the metric that decides."""

    primary: str
    declared: str
    pairs: tuple[tuple[str, str], ...]


def family_of(declared: str, primary: str, runs: Sequence[tuple[str, str]]) -> Family:
    """The pairs that `--family` means; `runs` are (id, name) in the order given."""
    ids = [run for run, _ in runs]
    if declared == "all":
        return Family(primary, declared, tuple(combinations(ids, 2)))
    kind, _, wanted = declared.partition(":")
    found = [run for run, name in runs if wanted in (run, name)]
    if kind != "vs" or not wanted:
        raise ConfigError(f"--family {declared!r}: give all, or vs:RUN")
    if len(found) != 1:
        names = ", ".join(name for _, name in runs)
        raise ConfigError(f"--family {declared!r}: no such run; scored are {names}")
    return Family(primary, declared, tuple((found[0], run) for run in ids if run != found[0]))


def tests_of(
    family: Family,
    scored: Sequence[ScoredRun],
    measures: Sequence[Measure],
    items: Items,
    drawing: Drawing,
) -> list[PairedTest]:
    """The family's tests with adjusted p, then the same pairs on every other measure.

    A metric whose signature differs between two runs is not compared.
    """
    by_id = {run.run.id: run for run in scored}
    primary = [measure for measure in measures if measure.name == family.primary]
    if not primary:
        known = ", ".join(measure.name for measure in measures)
        raise ConfigError(f"--primary {family.primary!r}: no such metric; there are {known}")
    others = [measure for measure in measures if measure.name != family.primary]
    first = [
        test
        for a, b in family.pairs
        for test in _tests(by_id[a], by_id[b], primary, items, drawing, FLIPS)
    ]
    adjusted = holm([test.p for test in first])
    first = [
        PairedTest(
            t.a, t.b, t.metric, t.difference, t.low, t.high, t.p, p, t.n, t.clusters, t.signature
        )
        for t, p in zip(first, adjusted, strict=True)
    ]
    return first + [
        test
        for a, b in family.pairs
        for test in _tests(by_id[a], by_id[b], others, items, drawing, _EXPLORED)
    ]


def _tests(
    a: ScoredRun,
    b: ScoredRun,
    measures: Sequence[Measure],
    items: Items,
    drawing: Drawing,
    flips: int,
) -> list[PairedTest]:
    """The measures that can be told of both runs, each over the items that it is of in both."""
    common, ours, theirs = np.intersect1d(a.items, b.items, assume_unique=True, return_indices=True)
    measures = [m for m in measures if a.signatures.get(m.name) == b.signatures.get(m.name)]
    if not len(common) or not measures:
        return []
    every = np.arange(len(COLUMNS))
    one, two = a.chosen(ours, every), b.chosen(theirs, every)
    alike: dict[bytes, list[Measure]] = {}
    for measure in measures:
        mask = (measure.count(one) > 0) & (measure.count(two) > 0)
        alike.setdefault(mask.tobytes(), []).append(measure)
    found: dict[str, PairedTest] = {}
    for mask_bytes, among in alike.items():
        rows = np.flatnonzero(np.frombuffer(mask_bytes, np.bool_))
        if len(rows):
            cluster = items.cluster[common[rows]]
            for test in _compared(a, b, one[rows], two[rows], among, cluster, drawing, flips):
                found[test.metric] = test
    return [found[measure.name] for measure in measures if measure.name in found]


def _compared(
    a: ScoredRun,
    b: ScoredRun,
    ours: Floats,
    theirs: Floats,
    measures: Sequence[Measure],
    cluster: npt.NDArray[np.int64],
    drawing: Drawing,
    flips: int,
) -> list[PairedTest]:
    """The measures over these rows of statistics."""
    columns = np.array(sorted({column for measure in measures for column in measure.columns}))
    made = compare(
        ours[:, columns],
        theirs[:, columns],
        cluster,
        statistic_of(measures, columns),
        seed=drawing.seed,
        flips=flips,
        draws=drawing.draws,
        level=LEVEL,
    )
    return [
        PairedTest(
            a.run.id,
            b.run.id,
            measure.name,
            test.difference,
            test.low,
            test.high,
            test.p,
            None,
            test.n,
            test.clusters,
            measure.signature,
        )
        for measure, test in zip(measures, made, strict=True)
        if np.isfinite([test.difference, test.low, test.high, test.p]).all()
    ]
