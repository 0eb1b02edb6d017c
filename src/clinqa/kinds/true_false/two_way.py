"""The measures of judged statements, as functions of summed rows of `codes.COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Floats
from clinqa.kinds.true_false.codes import COLUMNS
from clinqa.kinds.true_false.judges import PAIR, SOURCE
from clinqa.stats.intervals import SIGNED
from clinqa.stats.measure import Measure, Of, ratio
from clinqa.stats.two_way import MEASURES as TWO_WAY
from clinqa.stats.two_way import Cells, true_share

__all__ = ["ANSWERED", "BY_PAIR", "BY_SOURCE", "PRIMARY", "WRONG", "measures_of"]

_PLACE = {name: place for place, name in enumerate(COLUMNS)}
WRONG, ANSWERED = "unanswered: wrong", "unanswered: left out"
BY_PAIR, BY_SOURCE = f"clusters: {PAIR}", f"clusters: {SOURCE}"
PRIMARY = "accuracy"
#: Of a share, what stands above the line.
_OVER: dict[str, Callable[[Cells], Floats]] = {
    "accuracy": lambda c: c.tp + c.tn,
    "sensitivity": lambda c: c.tp,
    "specificity": lambda c: c.tn,
    "precision": lambda c: c.tp,
    "true_share": lambda c: c.tp + c.fp,
}


def _by_chance(c: Cells) -> Floats:
    """How far kappa moves where all judgements turn out otherwise; Matthews' is much like it."""
    agreed = ((c.tp + c.fn) * (c.tp + c.fp) + (c.tn + c.fp) * (c.tn + c.fn)) / c.n**2
    return 1 / np.maximum(1 - agreed, 1e-9)


#: How far what is no share moves where all judgements turn out otherwise; 1 where it is not here.
_MOVES: dict[str, Callable[[Cells], Floats]] = {
    "kappa": _by_chance,
    "mcc": _by_chance,
    "youden_j": lambda c: np.full_like(c.n, 2.0),
}
_NO_ANSWER = frozenset(f"status_{status}" for status in STATUSES if status != "answered")
_PAIRS = ("pair_both", "pair_one", "pair_none")


def measures_of(unit: str, how: str) -> dict[tuple[str, str], Measure]:
    """Every figure of a run by name and convention; `unit` and `how` stand in the signatures."""
    made: dict[tuple[str, str], Measure] = {}

    def add(
        name: str,
        convention: str,
        of: Of,
        count: Of,
        over: Of | None = None,
        **more: Any,
    ) -> None:
        made[name, convention] = Measure(
            name,
            of,
            count,
            signature=f"{name}|true_false|{convention}|{unit}|{how}",
            over=over,
            counted=over is not None,
            lower=name in _NO_ANSWER,
            **more,
        )

    for convention in (WRONG, ANSWERED):
        for name, of in {**TWO_WAY, "true_share": true_share}.items():
            if name == "true_share" and convention == WRONG:
                continue  # what was not said has no direction
            of_cells, count = _of_cells(of, convention), _count_of(name, convention)
            if name in _OVER:
                add(name, convention, of_cells, count, _of_cells(_OVER[name], convention))
            elif name == "macro_f1":
                add(name, convention, of_cells, count, classes=_of_cells(_classes, convention))
            else:
                moves = _of_cells(_MOVES[name], convention) if name in _MOVES else None
                add(name, convention, of_cells, count, bounds=SIGNED, reach=moves)
    for name in _PAIRS:
        add(name, WRONG, _share(name, ("pairs",)), _sum(("pairs",)), _sum((name,)))
    for status in STATUSES:
        whole = _sum(STATUSES)
        add(f"status_{status}", "of all items", _share(status, STATUSES), whole, _sum((status,)))
    return made


def _classes(c: Cells) -> Floats:
    return np.stack([c.tp + c.fn, c.tn + c.fp], axis=-1)


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
    return lambda rows: ratio(rows[..., _PLACE[name]], whole(rows))


def _sum(names: tuple[str, ...]) -> Callable[[Floats], Floats]:
    places = [_PLACE[name] for name in names]
    return lambda rows: rows[..., places].sum(axis=-1)
