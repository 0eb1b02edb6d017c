"""How many of a specialty's terms in test were seen in another's train: Table 5 of S-MedQA.

The test column is the denominator: of the distinct terms in the questions of specialty j in test,
the share that stands in the questions of specialty i in train. Terms of many specialties are set
aside before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clinqa.core.figures import Figure
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.measure import share

__all__ = ["ALL", "METRIC", "Held", "overlap_figures"]

ALL = "all"
METRIC = "term_overlap"


@dataclass(frozen=True, slots=True)
class Held:
    """The distinct terms of one question."""

    item: str
    group: str
    specialty: str
    concepts: frozenset[str]


def overlap_figures(
    train: Iterable[Held],
    test: Iterable[Held],
    *,
    run: str,
    signature: str,
    seed: int,
    draws: int,
) -> list[Figure]:
    """A figure for each specialty of train (and for all of it) by each of test.

    A distinct term counts once, in equal parts for each question of the column that has it, so
    that the shares of the questions add up to the share of distinct terms, and the interval can
    draw questions (by group) again.
    """
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for one in train:
        seen[one.specialty] |= one.concepts
        seen[ALL] |= one.concepts
    columns: defaultdict[str, list[Held]] = defaultdict(list)
    for one in test:
        columns[one.specialty].append(one)
    made = []
    rows = [*sorted(set(seen) - {ALL}), ALL] if seen else []
    for column in sorted(columns):
        held = [one for one in columns[column] if one.concepts]
        times = Counter(concept for one in held for concept in one.concepts)
        for row in rows:
            made.append(_figure(row, column, held, times, seen[row], run, signature, seed, draws))
    return made


def _figure(
    row: str,
    column: str,
    held: Sequence[Held],
    times: Mapping[str, int],
    seen: set[str],
    run: str,
    signature: str,
    seed: int,
    draws: int,
) -> Figure:
    table = np.array(
        [
            (
                sum(1 / times[concept] for concept in sorted(one.concepts)),
                sum(1 / times[concept] for concept in sorted(one.concepts & seen)),
            )
            for one in held
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    design = Design([one.group for one in held], seed=seed, draws=draws)
    (found,) = estimates([share(METRIC, 1, 0)], table, design)
    subset = {"train": row, "test": column, "shared": str(len(times.keys() & seen))}
    return found.figure(METRIC, f"{signature}|{found.signature}", run=run, subset=subset)
