"""What tuning does to a panel of models: who gains, and whether models become alike.

Gain against the base
    Do models gain the more, the less their base could, or the more it leaned to one answer?
    Gain is tuned less base, so base and gain share the base's error: even where tuning does nothing
    for anybody, the luckiest bases seem to lose and the unluckiest to gain. That is regression to
    the mean, and the plain correlation is negative without any cause. Here the base is measured on
    one half of the clusters and the gain on the other, so that no error is in both; the correlation
    is the mean over many halvings. The errors of halves draw it towards 0: it is no exaggeration,
    and may be too small. Units are models: p is the share of arrangements of bases among gains that
    give as much (all of them up to seven models), and the interval reaches as far on the scale of
    Fisher's z as arrangements do. What one halving has apart another has together, which spreads a
    model's own product somewhat more than that of two models; what arrangements give is widened by
    that.

Alike after tuning
    The mean kappa of some pairs of judges less that of others, with an interval over clusters and
    p by Student's t with the jackknife's error over clusters. It speaks of these judges: other
    models are not drawn. Kappa of answers rises with accuracy alone, so the same is asked of errors
    (code 1 where a judge is right).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from clinqa.core.arrays import ArrayLike, Floats, Int8s, Ints
from clinqa.stats.design import Design
from clinqa.stats.estimates import estimates
from clinqa.stats.intervals import ROUNDING, spread, two_sided
from clinqa.stats.measure import Measure

__all__ = ["FEWEST_MODELS", "KappaApart", "Related", "alike", "related"]

#: Of fewer models no arrangement test can have a two-sided p below 0.05: 4! arrangements have 1/12.
FEWEST_MODELS = 5
_HALVINGS = 100
_ALL_ARRANGEMENTS = 7
_ARRANGEMENTS = 9_999


@dataclass(frozen=True, slots=True)
class Related:
    """A correlation over models, with interval and p; NaN where it does not exist."""

    value: float
    low: float
    high: float
    p: float
    models: int
    n: int
    clusters: int
    signature: str


def related(
    told: Measure, gained: Measure, bases: Sequence[ArrayLike], tuned: Sequence[ArrayLike],
    design: Design,
) -> Related | None:  # fmt: skip
    """Does the gain in one measure go with the base's figure of another? None of too few models.

    `bases` and `tuned` hold the rows of each base model and of what was tuned from it, over the
    same items; two that were tuned from one base are two units with one base figure.
    """
    if len(bases) < FEWEST_MODELS:
        return None
    before, after = (np.stack([design.sums(rows) for rows in own]) for own in (bases, tuned))
    models, clusters = before.shape[:2]
    n = round(float(gained.count(before[0].sum(axis=0)[None])[0]))
    how = (
        f"pearson|{told.name} of the base on one half of the clusters, gain in {gained.name} on the"
        f" other, mean of {_HALVINGS} halvings both ways|over models|"
    )
    crossed = _crossed(told, gained, before, after, design.seed) if clusters > 3 else None
    if crossed is None:
        nothing = math.nan, math.nan, math.nan, math.nan
        return Related(*nothing, models, n, clusters, f"{how}no spread between models")
    value = float(np.trace(crossed))
    wider = _widened(told, gained, before, after)
    found = np.array([crossed[list(one), range(models)].sum() for one in _arranged(models, design)])
    found[1:] *= wider
    p = float((np.abs(found) >= abs(value) - ROUNDING).mean())
    kind = "all" if models <= _ALL_ARRANGEMENTS else f"{len(found):,} random"
    low, high = _around(value, np.abs(found), 1 - design.level)
    how = f"{how}{kind} arrangements, and the interval that they give|{design.level:g}"
    return Related(value, low, high, p, models, n, clusters, how)


def _around(value: float, found: Floats, alpha: float) -> tuple[float, float]:
    """The correlations that are no further from `value`, by Fisher's z, than arrangements are from
    none but for a share `alpha` of them: 0 is within just where p is above alpha."""
    farthest = float(np.sort(found)[::-1][int(alpha * len(found))])
    if not (abs(value) < 1 and farthest < 1):
        return -1.0, 1.0
    z, reach = math.atanh(value), math.atanh(farthest)
    return math.tanh(z - reach), math.tanh(z + reach)


def _crossed(
    told: Measure, gained: Measure, before: Floats, after: Floats, seed: int
) -> Floats | None:
    """Of each base (row) and gain (column) the mean product of their places among the models: the
    sum over the diagonal is the mean correlation. None where models do not differ."""
    models, clusters = before.shape[:2]
    random = np.random.default_rng([seed, clusters])
    order = np.argsort(random.random((_HALVINGS, clusters)), axis=1)
    first = np.zeros((_HALVINGS, clusters))
    np.put_along_axis(first, order[:, : clusters // 2], 1.0, axis=1)
    made = np.zeros((models, models))
    known = 0
    for chosen in (first, 1 - first):
        one, other = (
            [np.einsum("hc,mck->mhk", half, own) for own in (before, after)]
            for half in (chosen, 1 - chosen)
        )
        base, gain = told.of(one[0]), gained.of(other[1]) - gained.of(other[0])
        for b, g in zip(_standard(base.T), _standard(gain.T), strict=True):
            if np.isfinite(b).all() and np.isfinite(g).all():
                made += np.outer(b, g)
                known += 1
    return made / known if 2 * known > 2 * _HALVINGS // 2 else None


def _widened(told: Measure, gained: Measure, before: Floats, after: Floats) -> float:
    """How much more the product of a model's own base and gain varies than that of two models: by
    the covariance of their errors, beside what they vary by in all."""

    def apart(own: Floats) -> Floats:
        """From the mean of the models, as a gain of one model stands beside others."""
        made: Floats = own - own.mean(axis=0)
        return made

    def figures(one: Floats, other: Floats) -> tuple[Floats, Floats]:
        return apart(told.of(one)), apart(gained.of(other) - gained.of(one))

    totals = [own.sum(axis=1) for own in (before, after)]
    base, gain = figures(*totals)
    pairs = zip(totals, (before, after), strict=True)
    left_out = figures(*(total[:, None] - own for total, own in pairs))
    b, g = (one - one.mean(axis=1, keepdims=True) for one in left_out)
    shared = (b.shape[1] - 1) / b.shape[1] * (b * g).sum(axis=1)
    spread = float((base**2).sum() * (gain**2).sum()) / (len(base) - 1)
    found = math.sqrt(1 + float((shared**2).sum()) / spread) if spread > 0 else 1.0
    return found if math.isfinite(found) else 1.0


def _standard(values: Floats) -> Floats:
    """Each row with mean 0 and length 1; NaN where nothing differs."""
    apart = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((apart**2).sum(axis=1, keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        made: Floats = np.where(size > ROUNDING, apart / size, np.nan)
    return made


def _arranged(models: int, design: Design) -> Iterator[Sequence[int]]:
    """Arrangements of the models, the one that was found among them."""
    if models <= _ALL_ARRANGEMENTS:
        yield from permutations(range(models))
        return
    yield tuple(range(models))
    random = np.random.default_rng([design.seed, models])
    for _ in range(_ARRANGEMENTS):
        yield random.permutation(models).tolist()


@dataclass(frozen=True, slots=True)
class KappaApart:
    """Mean kappa of some pairs less that of others; NaN where it does not exist."""

    value: float
    low: float
    high: float
    p: float
    pairs: int
    others: int
    n: int
    clusters: int
    signature: str


Pairs = Sequence[tuple[int, int]]


def alike(codes: Int8s, pairs: Pairs, others: Pairs, design: Design) -> KappaApart:
    """Do the judges (rows of `codes`) of `pairs` agree more than those of `others`, beyond chance?

    A code is a class of its own. Pairs whose kappa does not exist are left out.
    """
    measure, rows = _difference(codes, pairs, others)
    (found,) = estimates([measure], rows, design)
    sums = design.sums(rows)
    left_out = measure.of(sums.sum(axis=0) - sums)
    p = math.nan
    if len(sums) > 1 and np.isfinite(left_out).all() and math.isfinite(found.value):
        seen = spread(left_out, measure.count(sums))
        if seen.error > ROUNDING:
            p = two_sided(found.value, seen.error, seen.freedom)
    how = f"{found.signature}|p: t over clusters, jackknife"
    return KappaApart(
        found.value, found.low, found.high, p, len(pairs), len(others), found.n, found.clusters, how
    )


def _difference(codes: Int8s, pairs: Pairs, others: Pairs) -> tuple[Measure, Floats]:
    """The measure, and the rows that it sums: 1, who agrees with whom, who says what."""
    wanted = [*pairs, *others]
    said = np.unique(codes)
    rows = [np.ones(codes.shape[1])]
    rows += [codes[a] == codes[b] for a, b in wanted]
    rows += [judge == code for judge in codes for code in said]
    many, classes = len(wanted), len(said)
    a, b = (np.array([pair[end] for pair in wanted], np.int64) for end in (0, 1))

    def of(sums: Floats) -> Floats:
        kappa = _kappas(sums, a, b, many, classes)
        with np.errstate(invalid="ignore", divide="ignore"):
            return _mean(kappa[..., : len(pairs)]) - _mean(kappa[..., len(pairs) :])

    name = "mean_kappa_difference"
    return (
        Measure(name, of, lambda sums: sums[..., 0], bounds=(-2.0, 2.0), signature=name),
        np.stack(rows, axis=1).astype(np.float64),
    )


def _kappas(sums: Floats, a: Ints, b: Ints, many: int, classes: int) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[..., 1:] / sums[..., :1]
        margins = shares[..., many:].reshape(*sums.shape[:-1], -1, classes)
        chance = (margins[..., a, :] * margins[..., b, :]).sum(axis=-1)
        made: Floats = np.where(
            chance < 1 - ROUNDING, (shares[..., :many] - chance) / (1 - chance), np.nan
        )
    return made


def _mean(values: Floats) -> Floats:
    known = np.isfinite(values)
    made: Floats = np.where(known, values, 0).sum(axis=-1) / known.sum(axis=-1)
    return made
