"""Questions on what a report does not mention, without which nobody can measure invention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from clinqa.core.ids import stable_hash, sub_seed

__all__ = ["choose_unmentioned"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def choose_unmentioned(
    ids: Sequence[str],
    abnormalities: Sequence[str],
    *,
    mentioned: tuple[npt.NDArray[np.int32], npt.NDArray[np.int16]],
    items: npt.NDArray[np.int64],
    share: float,
    seed: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The (study, abnormality) pairs to ask about, of those without any label.

    Of a study with m other items and c abnormalities it does not mention, each is asked with
    probability min(1, m s / (1 - s) / c), so that `share` s of all items is unmentioned in
    expectation wherever enough is left unsaid. Whether a pair is asked hangs on the seed, the
    study and the abnormality alone.
    """
    free = np.ones((len(ids), len(abnormalities)), bool)
    free[mentioned[0], mentioned[1]] = False
    # a study that says nothing at all is rejected
    free[items == 0] = False
    left = np.maximum(free.sum(axis=1), 1)
    chance = np.minimum(1.0, items * (share / (1 - share)) / left)
    study_hash = np.fromiter(
        (sub_seed(seed, "unmentioned", name) for name in ids), np.uint64, count=len(ids)
    )
    own_hash = np.array([stable_hash("abnormality", name) for name in abnormalities], np.uint64)
    drawn = _mixed(study_hash[:, None] ^ own_hash[None, :])
    uniform = (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53
    study, abnormality = np.nonzero(free & (uniform < chance[:, None]))
    return study.astype(np.int32), abnormality.astype(np.int64)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Splitmix64's last step: every bit of the result hangs on every bit of the value."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
