"""Which split a group belongs to, and which groups a sample holds.

Both depend on the seed and the group alone: not on the order of input, nor on how many items a
group has. Splits are cut by rank, so that their sizes are exact and not only expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from clinqa.core.ids import stable_hash
from clinqa.core.manifest import Manifest
from clinqa.core.records import SPLITS

__all__ = [
    "DEFAULT_CUTS",
    "SPLITS",
    "items_of_splits",
    "rank_groups",
    "sample_groups",
    "split_groups",
]

DEFAULT_CUTS = (0.7, 0.8)


def rank_groups(groups: Iterable[str], seed: int, purpose: str) -> list[str]:
    """The distinct groups in the order of their hash; equal hashes in the order of their names."""
    names = sorted(set(groups))
    hashes = np.fromiter(
        (stable_hash(seed, purpose, name) for name in names), dtype=np.uint64, count=len(names)
    )
    return [names[i] for i in np.argsort(hashes, kind="stable")]


def sample_groups(groups: Iterable[str], seed: int, size: int) -> set[str]:
    """The `size` groups that the seed picks, or all of them if there are fewer."""
    return set(rank_groups(groups, seed, "sample")[:size])


def split_groups(
    groups: Iterable[str], seed: int, cuts: Sequence[float] = DEFAULT_CUTS
) -> dict[str, int]:
    """The split (0 train, 1 validation, 2 test) of each group.

    Of n groups, the first floor(0.7 n) by rank are train, up to floor(0.8 n) validation.

    >>> sorted(split_groups("abcdefghij", seed=1).values())
    [0, 0, 0, 0, 0, 0, 0, 1, 2, 2]
    """
    ranked = rank_groups(groups, seed, "split")
    # As fractions: 0.7 is not 7/10 in binary, and floor would now and then lose a group.
    train, validation = (int(Fraction(str(cut)) * len(ranked)) for cut in cuts)
    places = dict.fromkeys(ranked[:train], 0)
    places.update((name, 1) for name in ranked[train:validation])
    places.update((name, 2) for name in ranked[validation:])
    return places


def items_of_splits(manifest: Manifest) -> dict[str, int]:
    """How many items each split of a finished dataset has."""
    found = dict.fromkeys(SPLITS, 0)
    for name, rows in manifest.rows.items():
        folder, _, file = name.partition("/")
        if folder == "data":
            found[file.partition("-")[0]] += rows
    return found
