"""A mean over all items from a judge's verdicts, corrected by people's verdicts on a few.

Prediction-powered inference (Angelopoulos et al. 2023) with the tuned weight of PPI++
(Angelopoulos, Duchi and Zrnic 2023). The judge (a rule, a model) has a verdict on every item,
people only on a sample. The judge's mean is corrected by how far the judge is off on the sample;
the less the judge can be trusted, the less weight its verdicts get, down to none. So the interval
holds whatever the judge is worth, and is hardly ever wider than that of the sample alone.

All of it stands on the sample being like the rest. `unlike` looks for what is not; strata, or the
weights with which items were drawn, mend what they know of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from clinqa.core.arrays import ArrayLike, Bools, Floats, Ints
from clinqa.stats.comparing import holm
from clinqa.stats.design import Design
from clinqa.stats.estimates import Estimate, estimates
from clinqa.stats.intervals import (
    ROUNDING,
    SHARE,
    Bounds,
    effective,
    few_of,
    student,
    unseen,
)
from clinqa.stats.measure import mean

__all__ = ["PredictionPowered", "Unlike", "corrected", "unlike"]

#: So many of the judged must be expected to have a feature, and not to have it, to look at it.
_EXPECTED = 5
#: The sample is called unlike the rest where chance alone would make it so once in a hundred.
UNLIKE = 0.01


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """`corrected` is the figure to quote; the other two show what the correction does."""

    corrected: Estimate
    sample_only: Estimate
    judge_alone: float
    weight: float


@dataclass(frozen=True, slots=True)
class Unlike:
    """What the judged items have more of, or less, than the others: means, and Holm's p."""

    name: str
    judged: float
    others: float
    p: float


@dataclass(frozen=True, slots=True)
class _Sample:
    """Who is of which cluster and stratum, who was looked at, and what each counts for."""

    cluster: Ints
    stratum: Ints
    seen: Bools
    weight: Floats

    def share(self, stratum: int) -> float:
        """The part of all items that a stratum is."""
        return float((self.stratum == stratum).mean())

    def means(self, values: Floats, seen: bool) -> tuple[float, Floats]:
        """The mean over strata of values of the items looked at (or not), and what each cluster
        adds to its error."""
        value, added = 0.0, np.zeros(int(self.cluster.max()) + 1)
        for at in range(int(self.stratum.max()) + 1):
            rows = np.flatnonzero((self.stratum == at) & (self.seen == seen))
            if not len(rows):
                continue
            weight = self.weight[rows] if seen else np.ones(len(rows))
            weight = self.share(at) * weight / weight.sum()
            own = float(weight @ values[rows]) / self.share(at)
            value += self.share(at) * own
            np.add.at(added, self.cluster[rows], weight * (values[rows] - own))
        return value, added


def corrected(
    people: ArrayLike,
    judge: ArrayLike,
    design: Design,
    *,
    weight: float | None = None,
    bounds: Bounds = SHARE,
) -> PredictionPowered:
    """The mean that people would give over all items, with a t interval over clusters.

    `judge` and `people` have a verdict for each item, people's NaN where nobody looked. Within the
    design's `strata` those they looked at are taken for a random sample, drawn with chances as
    1 / `weights`. A patient may have items of both sorts: the error is summed within each patient.
    `weight` is the judge's, tuned to the least variance if None, and then between 0 and 1. The
    interval is made on the logit scale where the verdicts have `bounds`; where people and judge
    differ in few patients, the exact bound of what more of them could hide is added.

    ValueError where lengths differ, people looked at nothing, or at nothing of a stratum.
    """
    said, judged = (np.asarray(values, dtype=np.float64) for values in (people, judge))
    sample = _sample(said, judged, design)
    if (
        bounds is not None
        and not (((said >= bounds[0]) & (said <= bounds[1])) | np.isnan(said)).all()
    ):
        raise ValueError(f"verdicts between {bounds[0]:g} and {bounds[1]:g}")
    seen, sizes = sample.seen, _sizes(sample)
    y = np.where(seen, said, 0.0)
    value, of_people = sample.means(y, True)
    ours, added = sample.means(judged, True)
    others, more = sample.means(judged, False)
    of_judge = more - added
    spread = float(of_judge @ of_judge)
    if seen.all():
        weight, others = 0.0, ours
    elif weight is None:
        weight = min(1.0, max(0.0, -float(of_people @ of_judge) / spread)) if spread > 0 else 0.0
    alone = _alone(said, judged, design, sample, bounds)
    made = alone
    if weight:
        value += weight * (others - ours)
        error = of_people + weight * of_judge
        few = weight * few_of(of_people - added) + (1 - weight) * few_of(of_people)
        many = len(judged), int(sample.cluster.max()) + 1
        how = f"ppi|weight {weight:.3f}|t over clusters"
        made = _estimate(value, error, few, sizes, many, design.level, bounds, how)
    elif not seen.all():
        made = Estimate(
            alone.value, alone.low, alone.high, len(judged), int(sample.cluster.max()) + 1,
            f"ppi|weight 0.000|{alone.signature}",
        )  # fmt: skip
    return PredictionPowered(made, alone, float(judged.mean()), weight)


def _sample(people: Floats, judge: Floats, design: Design) -> _Sample:
    many = len(judge)
    groups = np.asarray(range(many) if design.clusters is None else design.clusters)
    strata = np.asarray(np.zeros(many) if design.strata is None else design.strata)
    weights = np.ones(many) if design.weights is None else np.asarray(design.weights, np.float64)
    if not len(people) == many == len(groups) == len(strata) == len(weights):
        raise ValueError("a verdict and a group for each item")
    seen = ~np.isnan(people)
    if not seen.any():
        raise ValueError("people's verdicts on at least one item are needed")
    if not (np.isfinite(weights[seen]) & (weights[seen] > 0)).all():
        raise ValueError("weights above 0")
    if not np.isfinite(judge).all() or np.isinf(people).any():
        raise ValueError("the judge's verdict on every item, in numbers")
    weights = weights / weights[seen].mean()  # as many items as were looked at
    _, cluster = np.unique(groups, return_inverse=True)
    _, stratum = np.unique(strata, return_inverse=True)
    if len(np.unique(stratum[seen])) <= int(stratum.max()):
        raise ValueError("people's verdicts on at least one item of every stratum are needed")
    return _Sample(cluster.astype(np.int64), stratum.astype(np.int64), seen, weights)


def _sizes(sample: _Sample) -> Floats:
    """What the items looked at count for, by cluster that has one."""
    sizes = np.bincount(sample.cluster[sample.seen], sample.weight[sample.seen])
    return sizes[sizes > 0].astype(np.float64)


def _alone(
    people: Floats, judge: Floats, design: Design, sample: _Sample, bounds: Bounds
) -> Estimate:
    """The mean of the sample, as if there were no judge."""
    seen = sample.seen
    said, whole = people[seen], bool(np.isin(people[seen], (0.0, 1.0)).all())
    if design.strata is None:
        rows = np.stack([np.ones(len(said)), said], axis=1)
        own = Design(sample.cluster[seen], weights=sample.weight[seen], level=design.level)
        (found,) = estimates([mean(bounds=bounds, counted=whole)], rows, own)
        return Estimate(found.value, found.low, found.high, len(said), found.clusters,
                        f"sample mean|{found.signature}")  # fmt: skip
    value, error = sample.means(np.where(seen, people, 0.0), True)
    sizes = _sizes(sample)
    many = len(said), len(sizes)
    return _estimate(value, error, few_of(error), sizes, many, design.level, bounds,
                     "sample mean over strata|t over clusters")  # fmt: skip


def _estimate(
    value: float,
    added: Floats,
    few: float,
    sizes: Floats,
    many: tuple[int, int],
    level: float,
    bounds: Bounds,
    how: str,
) -> Estimate:
    """value ± t × the standard error from what each cluster adds.

    `few` is 1 where no cluster tells people and judge apart, 0 where enough do: what more clusters
    could hide is added.
    """
    nan = float("nan")
    sampled = len(sizes)
    if sampled < 2:
        return Estimate(value, nan, nan, *many, "one sampled cluster: no interval")
    square = added**2
    second, fourth = float(square.sum()), float(square @ square)
    error = float(np.sqrt(sampled / (sampled - 1) * second))
    freedom = max(1.0, effective(sizes) - 1)
    if second > 0 and fourth > second**2 / len(square):
        freedom = max(1.0, min(freedom, 2 * second**2 / (fourth - second**2 / len(square))))
    bottom, top = bounds or (-np.inf, np.inf)
    value = min(max(value, bottom), top)
    low, high = student(value, error, freedom, level, bounds) if error > 0 else (value, value)
    if bounds is not None:
        hidden = few * unseen(sizes, level) * (top - bottom)
        low = max(value - float(np.hypot(value - low, hidden)), bottom)
        high = min(value + float(np.hypot(high - value, hidden)), top)
    elif error == 0:
        low = high = nan
    return Estimate(value, low, high, *many, f"{how}|{level:g}")


def unlike(features: Mapping[str, Floats], seen: Bools, design: Design) -> list[Unlike]:
    """In what the judged items are unlike the others, the surest first; nothing where in nothing.

    `features` are numbers of all items (the judge's verdict, whether the level is 3, …), compared
    within the design's strata, adjusted by Holm for their number.
    """
    people = np.where(seen, 0.0, np.nan)
    sample = _sample(people, np.zeros(len(seen)), design)
    if seen.all():
        return []
    found = []
    for name, values in features.items():
        judged, others, error = _apart(sample, values)
        # of a rare feature so few are expected among the judged that none of them says nothing
        expected = values.mean() * _sizes(sample).sum()
        common = min(expected, sample.seen.sum() - expected) >= _EXPECTED
        if common and error > ROUNDING:
            p = float(2 * ndtr(-abs(judged - others) / error))
            found.append(Unlike(name, judged, others, p))
    adjusted = holm([one.p for one in found])
    made = [
        Unlike(one.name, one.judged, one.others, p) for one, p in zip(found, adjusted, strict=True)
    ]
    return sorted((one for one in made if one.p < UNLIKE), key=lambda one: (one.p, one.name))


def _apart(sample: _Sample, values: Floats) -> tuple[float, float, float]:
    """The means of judged and other items, and the error of their difference if they are alike.

    Within a stratum the variance is that of all items, and so is how alike those of a cluster are:
    the judged alone, where none has the feature, would seem to vary by nothing.
    """
    judged, _ = sample.means(values, True)
    others, _ = sample.means(values, False)
    variance = 0.0
    for at in range(int(sample.stratum.max()) + 1):
        own = sample.stratum == at
        cluster, apart = sample.cluster[own], values[own] - values[own].mean()
        each = float(apart @ apart) / len(apart)
        sums, sizes = np.bincount(cluster, apart), np.bincount(cluster)
        pairs = float((sizes * (sizes - 1)).sum())
        alike = (float(sums @ sums) - float(apart @ apart)) / pairs if pairs else 0.0
        alike = max(0.0, alike)
        for side in (True, False):
            rows = np.flatnonzero(sample.seen[own] == side)
            if len(rows):
                weight = sample.weight[own][rows] if side else np.ones(len(rows))
                weight = sample.share(at) * weight / weight.sum()
                together = np.bincount(cluster[rows], weight)
                alone = float(weight @ weight)
                variance += max(0.0, each - alike) * alone + alike * float(together @ together)
    return judged, others, float(np.sqrt(variance))
