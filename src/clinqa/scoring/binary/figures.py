"""Figures of a run on statements, each with an interval over pairs and one over documents.

An unanswered statement counts as wrong: True that is not answered is a false negative, False that
is not answered a false positive. Beside it stands the other convention, over answered items only,
under a signature of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.core.figures import Figure
from clinqa.core.statuses import STATUSES
from clinqa.scoring.binary.judged import COLUMNS, Judged
from clinqa.scoring.binary.statements import Statements
from clinqa.stats.binary import MEASURES, Cells, true_share
from clinqa.stats.bootstrap import SHARE, SIGNED, bootstrap_sums
from clinqa.stats.cluster import Estimate

__all__ = [
    "ANSWERED",
    "BY_PAIR",
    "BY_SOURCE",
    "WRONG",
    "Measure",
    "figures_of",
    "measures",
    "signature_of",
]

Floats = npt.NDArray[np.float64]
_PLACE = {name: place for place, name in enumerate(COLUMNS)}
WRONG, ANSWERED = "unanswered: wrong", "unanswered: left out"
BY_PAIR, BY_SOURCE = "clusters: pair", "clusters: source"
_SHARES = frozenset({"accuracy", "sensitivity", "specificity", "precision", "true_share"})


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure as a function of summed rows, and how many items it is of."""

    name: str
    convention: str
    of: Callable[[Floats], Floats]
    count: Callable[[Floats], Floats]
    is_share: bool = False


def measures() -> list[Measure]:
    """Every figure of a run, under both conventions."""
    made = []
    for convention in (WRONG, ANSWERED):
        for name, of in {**MEASURES, "true_share": true_share}.items():
            if name == "true_share" and convention == WRONG:
                continue  # what was not said has no direction
            made.append(
                Measure(name, convention, _of_cells(of, convention),
                        _count_of(name, convention), name in _SHARES)
            )  # fmt: skip
    made += [
        Measure(name, WRONG, _share(name, ("pairs",)), _sum(("pairs",)), True)
        for name in ("pair_both", "pair_one", "pair_none")
    ]
    made += [
        Measure(f"status_{status}", "of all items", _share(status, STATUSES), _sum(STATUSES), True)
        for status in STATUSES
    ]
    return made


def cells(rows: Floats, convention: str) -> Cells:
    """The four cells of summed rows."""
    silent = convention == WRONG
    column = {name: rows[..., _PLACE[name]] for name in COLUMNS[:6]}
    return Cells(
        tp=column["true_right"],
        fn=column["true_wrong"] + (column["true_silent"] if silent else 0),
        tn=column["false_right"],
        fp=column["false_wrong"] + (column["false_silent"] if silent else 0),
    )


def figures_of(
    judged: Judged, statements: Statements, *, seed: int, draws: int
) -> Iterator[Figure]:
    """All figures over all items, by pair and by source; accuracy and pairs by category."""
    every = measures()
    for unit, groups in ((BY_PAIR, statements.pair), (BY_SOURCE, statements.source)):
        yield from _figures(judged, every, groups, unit, judged.asked, {}, seed, draws)
    few = [m for m in every if m.convention == WRONG and m.name in _BY_CATEGORY]
    for category in sorted(set(statements.category[judged.asked].tolist())):
        mask = judged.asked & (statements.category == category)
        subset = {"category": category}
        yield from _figures(judged, few, statements.pair, BY_PAIR, mask, subset, seed, draws)


_BY_CATEGORY = ("accuracy", "sensitivity", "specificity", "macro_f1", "pair_both")


def signature_of(measure: Measure, unit: str, how: str) -> str:
    """How a figure was computed: what differs here never stands in one column."""
    return f"{measure.name}|true_false|{measure.convention}|{unit}|{how}"


def _figures(
    judged: Judged,
    found: list[Measure],
    groups: npt.NDArray[np.int64],
    unit: str,
    mask: npt.NDArray[np.bool_],
    subset: Mapping[str, str],
    seed: int,
    draws: int,
) -> Iterator[Figure]:
    rows = np.flatnonzero(mask)
    if not len(rows):
        return
    sums = summed(judged.rows[rows], groups[rows])
    total = sums.sum(axis=0)
    estimates = bootstrap_sums(
        sums,
        lambda totals: np.stack([m.of(totals) for m in found], axis=-1),
        n=len(rows),
        seed=seed,
        draws=draws,
        bounds=[SHARE if m.is_share else SIGNED for m in found],
    )
    for measure, estimate in zip(found, estimates, strict=True):
        estimate = _settled(measure, estimate)
        yield Figure(
            run=judged.id,
            model=judged.model,
            shots=judged.shots,
            metric=measure.name,
            value=_number(estimate.value),
            low=_number(estimate.low),
            high=_number(estimate.high),
            n=round(float(measure.count(total))),
            clusters=int((measure.count(sums) > 0).sum()),
            signature=signature_of(measure, unit, judged.how),
            subset=subset,
        )


def summed(rows: Floats, groups: npt.NDArray[np.int64]) -> Floats:
    """The sum of the rows of each group, groups in order."""
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=-1))
    made: Floats = np.add.reduceat(rows[order], first, axis=0)
    return made


def _settled(measure: Measure, estimate: Estimate) -> Estimate:
    """Where no resample differs, only none or all of something has an exact bound.

    Whoever gives one answer to everything has one of each pair right: 0.5 without any width, which
    is right on pairs and is explained where it is shown. Kappa or J at its end has no interval.
    """
    if not estimate.signature.startswith("exact"):
        return estimate
    value, at_end = estimate.value, abs(estimate.value) == 1
    if measure.is_share and (at_end or value == 0):
        return estimate
    low, high = (math.nan, math.nan) if at_end else (value, value)
    return Estimate(value, low, high, estimate.n, estimate.clusters, "no spread between clusters")


def _of_cells(of: Callable[[Cells], Floats], convention: str) -> Callable[[Floats], Floats]:
    return lambda rows: of(cells(rows, convention))


def _count_of(name: str, convention: str) -> Callable[[Floats], Floats]:
    def count(rows: Floats) -> Floats:
        c = cells(rows, convention)
        if name == "sensitivity":
            return c.tp + c.fn
        if name == "specificity":
            return c.tn + c.fp
        return c.tp + c.fp if name == "precision" else c.n

    return count


def _share(name: str, of: tuple[str, ...]) -> Callable[[Floats], Floats]:
    whole = _sum(of)

    def share(rows: Floats) -> Floats:
        under = whole(rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(under > 0, rows[..., _PLACE[name]] / under, np.nan)

    return share


def _sum(names: tuple[str, ...]) -> Callable[[Floats], Floats]:
    places = [_PLACE[name] for name in names]
    return lambda rows: rows[..., places].sum(axis=-1)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
