"""Is one run better than another? Paired tests over the items that both were asked.

Both must have asked in the same kind of orders and are read in the same way. Sign flips of the
summed difference of each item with its near-duplicates; Holm over the declared family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.figures import PairedTest
from clinqa.scoring.choice.figures import COMPARED, MEASURES, WRONG, Table, signature_of
from clinqa.scoring.choice.questions import Questions
from clinqa.scoring.choice.readers import READERS, Reading
from clinqa.scoring.comparisons import FLIPS, Family
from clinqa.stats.bootstrap import Floats
from clinqa.stats.holm import holm
from clinqa.stats.paired import compare

__all__ = ["PRIMARY", "Read", "check_primary", "main_reader", "tests_of"]

PRIMARY = "accuracy"


@dataclass(frozen=True, slots=True)
class Read:
    """A reading with its sums."""

    reading: Reading
    table: Table


def check_primary(primary: str) -> None:
    """ConfigError for a metric on which runs are not compared."""
    if primary not in COMPARED:
        raise ConfigError(f"--primary {primary!r}: no such metric; there are {', '.join(COMPARED)}")


def main_reader(runs: Sequence[Mapping[str, Read]], wanted: str) -> str:
    """The reader that decides: the one asked for, else the first that every run has."""
    shared = [name for name in READERS if all(name in own for own in runs)]
    if wanted and not any(wanted in own for own in runs):
        raise ConfigError(
            f"--reader {wanted}: no run can be read so; there are {', '.join(READERS)}"
        )
    if wanted:
        return wanted
    return shared[0] if shared else next(name for name in READERS if name in runs[0])


def tests_of(
    family: Family,
    runs: Mapping[str, Mapping[str, Read]],
    questions: Questions,
    reader: str,
    *,
    seed: int,
    draws: int,
) -> list[PairedTest]:
    """The family's tests on the deciding reader with adjusted p, then all others, unadjusted."""
    tests: list[tuple[bool, PairedTest]] = []
    for a, b in family.pairs:
        for name in READERS:
            if name in runs[a] and name in runs[b]:
                for test in _compared(runs[a][name], runs[b][name], questions, seed, draws):
                    tests.append((name == reader and test.metric == family.primary, test))
    first = [test for declared, test in tests if declared]
    adjusted = [
        replace(test, p_holm=p)
        for test, p in zip(first, holm([test.p for test in first]), strict=True)
    ]
    return adjusted + [test for declared, test in tests if not declared]


def _compared(a: Read, b: Read, questions: Questions, seed: int, draws: int) -> list[PairedTest]:
    common, ours, theirs = np.intersect1d(
        a.table.items, b.table.items, assume_unique=True, return_indices=True
    )
    tests = []
    for measure in MEASURES:
        if measure.name not in COMPARED or measure.convention != WRONG:
            continue
        signature = signature_of(measure.name, a.reading)
        if signature != signature_of(measure.name, b.reading):
            continue
        names = (measure.whole, measure.part)
        one, two = a.table.rows(names)[ours], b.table.rows(names)[theirs]
        both = (one[:, 0] > 0) & (two[:, 0] > 0)
        if not both.any():
            continue
        [found] = compare(
            one[both], two[both], questions.cluster[common[both]], _share,
            seed=seed, flips=FLIPS, draws=draws,
        )  # fmt: skip
        if not np.isfinite([found.difference, found.low, found.high, found.p]).all():
            continue
        tests.append(
            PairedTest(
                a.reading.asked.run.id, b.reading.asked.run.id, measure.name, found.difference,
                found.low, found.high, found.p, None, found.n, found.clusters,
                f"{signature}|sign-flip of items",
            )
        )  # fmt: skip
    return tests


def _share(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Floats = totals[..., 1] / totals[..., 0]
    return made
