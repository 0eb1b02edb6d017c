"""A panel's heavy parts beside the plain way and the floor, in one run.

    python benchmarks/panel.py [models] [items] [resamples]

Kappa of all pairs of models with clustered resamples, and every ensemble of five. `plain` is what
one writes first: scikit-learn's kappa of each pair and resample (timed on a few of them and
scaled), and numpy's vote of each ensemble (likewise). `floor` only reads the answers once per
resample, or once per ensemble's last member. Wall and CPU seconds; the ratio is what travels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import combinations, islice
from math import comb

import numpy as np
from sklearn.metrics import cohen_kappa_score

from clinqa.stats.agreement import agreement, majority, search


def timed(name: str, work: Callable[[], object], scale: float = 1.0) -> float:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    cpu = (time.process_time() - cpu) * scale
    wall = (time.perf_counter() - wall) * scale
    print(f"{name:<44}{wall:>12.2f} s wall{cpu:>12.2f} s CPU{'  (scaled)' if scale != 1 else ''}")
    return cpu


def main(models: int = 30, items: int = 22_000, draws: int = 1_000) -> None:
    random = np.random.default_rng(0)
    gold = np.tile([True, False], items // 2)
    pairs = np.repeat(np.arange(items // 2), 2)
    skill = np.linspace(0.5, 0.9, models)[:, None]
    codes = np.where(random.random((models, items)) < skill, gold, ~gold).astype(np.int8)
    judges = np.concatenate([codes, gold[None].astype(np.int8)])
    print(f"{models} models, {items:,} items in {items // 2:,} pairs, {draws:,} resamples")

    ours = timed("kappa, all pairs, with intervals", lambda: agreement(judges, pairs))
    some = list(islice(combinations(range(models + 1), 2), 3))
    share = comb(models + 1, 2) * draws / len(some)
    drawn = random.integers(0, items // 2, items // 2)
    rows = np.concatenate([2 * drawn, 2 * drawn + 1])
    plain = timed(
        "  plain: scikit-learn each time",
        lambda: [cohen_kappa_score(judges[a, rows], judges[b, rows]) for a, b in some],
        share,
    )
    floor = timed(
        "  floor: every answer added up once a resample",
        lambda: [judges.sum(dtype=np.int64) for _ in range(draws)],
    )
    print(f"  plain / ours {plain / ours:,.0f} ×, ours / floor {ours / floor:.1f} ×\n")

    right = codes == gold
    sets = comb(models, 5)
    ours = timed(f"all {sets:,} ensembles of five", lambda: search(right, gold, 5))
    few = list(islice(combinations(range(models), 5), 200))
    plain = timed(
        "  plain: a vote each",
        lambda: [(majority(codes[list(members)]) == gold).mean() for members in few],
        sets / len(few),
    )
    words = np.packbits(right, axis=1)[:, : items // 64 * 8].view(np.uint64)
    floor = timed(
        "  floor: the bits of the last member counted",
        lambda: [
            np.bitwise_count(words[at]).sum(dtype=np.int32) for at in range(models)
            for _ in range(sets // models)
        ],
    )  # fmt: skip
    print(f"  plain / ours {plain / ours:,.0f} ×, ours / floor {ours / floor:.1f} ×")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
