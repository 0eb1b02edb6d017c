"""Questions on what a report does not mention, without which nobody can measure invention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from clinqa.core.arrays import AnyArray, Bools, Int32s, Ints, UInt64s
from clinqa.core.ids import stable_hash, sub_seed

__all__ = ["unmentioned"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def unmentioned(
    ids: Sequence[str],
    abnormalities: Sequence[str],
    mentioned: Iterable[tuple[AnyArray, AnyArray]],
    asked: Bools,
    seed: int,
) -> tuple[Int32s, Ints, UInt64s]:
    """Study and abnormality of every pair that is not `mentioned`, and a draw for each.

    Those of the lowest draws will stay (`DatasetWriter`, `drawn_share`): a draw hangs on the seed,
    the study and the abnormality alone. Only `asked` studies count.
    """
    free = np.repeat(asked[:, None], len(abnormalities), axis=1)
    for study, abnormality in mentioned:
        free[study, abnormality] = False
    study, abnormality = np.nonzero(free)
    study_hash = np.fromiter(
        (sub_seed(seed, "unmentioned", name) for name in ids), np.uint64, count=len(ids)
    )
    own_hash = np.array([stable_hash("abnormality", name) for name in abnormalities], np.uint64)
    draws = _mixed(study_hash[study] ^ own_hash[abnormality])
    return study.astype(np.int32), abnormality.astype(np.int64), draws


def _mixed(values: UInt64s) -> UInt64s:
    """Splitmix64's last step: every bit of the result hangs on every bit of the value."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
