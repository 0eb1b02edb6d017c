"""Is one run better than another? Paired tests over the statements that both were asked.

Sign flips of the summed difference of each pair of statements; McNemar's exact test stands in only
where no two statements share a pair. Holm over the family, which is declared beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clinqa.core.errors import ConfigError
from clinqa.core.figures import PairedTest
from clinqa.scoring.binary.figures import BY_PAIR, WRONG, Measure, measures, signature_of
from clinqa.scoring.binary.judged import Judged
from clinqa.scoring.binary.statements import Statements
from clinqa.scoring.comparisons import FLIPS, Family
from clinqa.stats.holm import holm
from clinqa.stats.mcnemar import mcnemar
from clinqa.stats.paired import compare

__all__ = ["PRIMARY", "tested_metrics", "tests_of"]

PRIMARY = "accuracy"
_OTHERS = ("macro_f1", "youden_j", "mcc", "pair_both")


def tested_metrics(primary: str) -> list[Measure]:
    """The primary metric first, then those that are explored."""
    found = {m.name: m for m in measures() if m.convention == WRONG}
    if primary not in found:
        raise ConfigError(f"--primary {primary!r}: no such metric; there are {', '.join(found)}")
    return [found[primary], *(found[name] for name in _OTHERS if name != primary)]


def tests_of(
    family: Family,
    judged: Sequence[Judged],
    statements: Statements,
    *,
    seed: int,
    draws: int,
) -> list[PairedTest]:
    """The family's tests with adjusted p, then the same pairs on other metrics, unadjusted."""
    by_id = {one.id: one for one in judged}
    chosen = tested_metrics(family.primary)
    tests = [
        test
        for a, b in family.pairs
        for test in _compared(by_id[a], by_id[b], chosen, statements, seed, draws)
    ]
    first = [test for test in tests if test.metric == family.primary]
    adjusted = [
        replace(t, p_holm=p) for t, p in zip(first, holm([t.p for t in first]), strict=True)
    ]
    return adjusted + [test for test in tests if test.metric != family.primary]


def _compared(
    a: Judged,
    b: Judged,
    chosen: Sequence[Measure],
    statements: Statements,
    seed: int,
    draws: int,
) -> list[PairedTest]:
    common = np.flatnonzero(a.asked & b.asked)
    if not len(common):
        return []
    pairs = statements.pair[common]
    made = compare(
        a.rows[common],
        b.rows[common],
        pairs,
        lambda totals: np.stack([m.of(totals) for m in chosen], axis=-1),
        seed=seed,
        flips=FLIPS,
        draws=draws,
    )
    alone = len(np.unique(pairs)) == len(pairs) and a.repeats == b.repeats == 1
    tests = []
    for measure, found in zip(chosen, made, strict=True):
        if not np.isfinite([found.difference, found.low, found.high, found.p]).all():
            continue
        p, how = found.p, "sign-flip of pairs"
        if alone and measure.name == PRIMARY:
            ours, theirs = (one.right[common] > 0 for one in (a, b))
            p, how = mcnemar(int((ours & ~theirs).sum()), int((theirs & ~ours).sum())), "McNemar"
        tests.append(
            PairedTest(
                a.id, b.id, measure.name, found.difference, found.low, found.high, p, None,
                found.n, found.clusters, f"{signature_of(measure, BY_PAIR, '')}{how}",
            )
        )  # fmt: skip
    return tests
