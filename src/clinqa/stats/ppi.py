"""Prediction-powered means, by the name that they had."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clinqa.stats.correcting import PredictionPowered, corrected
from clinqa.stats.design import Design, Labels

__all__ = ["prediction_powered_mean"]


def prediction_powered_mean(
    people: npt.ArrayLike,
    judge_on_sample: npt.ArrayLike,
    sample_groups: Labels,
    judge_elsewhere: npt.ArrayLike,
    other_groups: Labels,
) -> PredictionPowered:
    """`corrected`, of items that were sampled and others."""
    rest = np.asarray(judge_elsewhere, dtype=np.float64)
    said = np.concatenate([np.asarray(people, dtype=np.float64), np.full(len(rest), np.nan)])
    judge = np.concatenate([np.asarray(judge_on_sample, dtype=np.float64), rest])
    return corrected(said, judge, Design([*sample_groups, *other_groups]))
