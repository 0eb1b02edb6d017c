"""How often the intervals of a cross-specialty study hold the truth, by made-up studies.

    python benchmarks/crossed.py [--studies 400]

The table of docs/cross_specialty.md. The studies are those of tests/stats/made_crossed.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

from clinqa.stats.crossed import gap_weights, interaction_weights
from stats.made_crossed import World, crossed

WORLDS = (
    World(training=0.0),
    World(training=0.0, effect=0.8),
    World(training=0.5),
    World(training=0.5, effect=0.8),
    World(k=6, questions=30),
    World(k=6, seeds=5, questions=100, orders=5, effect=0.5),
    World(questions=12),
    World(together=2),
    World(questions=200, training=1.0),
)


def main() -> None:
    """A line a world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=400)
    studies = parser.parse_args().studies
    print(f"{'gap':>6}{'inter':>7}{'pair':>7}{'own':>7}{'other':>7}{'p<.05':>7}  world")
    for world in WORLDS:
        other, own = world.truth()
        k, apart = world.k, own - other
        pair = np.zeros((k, k))
        pair[0, 0], pair[1, 0] = 1, -1
        sums = (
            (gap_weights(k), apart),
            (interaction_weights(k, 0), apart * (1 - 1 / k)),
            (pair, apart),
        )
        held = np.zeros(5)
        rejected = 0
        for seed in range(studies):
            rows, column, groups = world.answers(seed)
            found = crossed(rows, column, groups, seed=seed, draws=400)
            made = [found.combine(weights) for weights, _ in sums]
            ends = [one.estimate for one in made] + [found.cell(0, 0), found.cell(0, 1)]
            truths = [truth for _, truth in sums] + [own, other]
            held += [one.low <= truth <= one.high for one, truth in zip(ends, truths, strict=True)]
            rejected += made[0].p < 0.05
        shares = "".join(f"{share:>7.3f}" for share in held / studies)
        print(f"{shares[1:]}{rejected / studies:>7.3f}  {world}", flush=True)


if __name__ == "__main__":
    main()
