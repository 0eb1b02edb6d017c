"""The measures of judged statements, as functions of summed rows of `codes.COLUMNS`."""

from __future__ import annotations

from collections.abc import Callable

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Floats
from clinqa.kinds.true_false.codes import COLUMNS
from clinqa.kinds.true_false.judges import PAIR, SOURCE
from clinqa.stats.intervals import SHARE, SIGNED
from clinqa.stats.measure import Measure, ratio
from clinqa.stats.two_way import MEASURES as TWO_WAY
from clinqa.stats.two_way import Cells, true_share

__all__ = ["ANSWERED", "BY_PAIR", "BY_SOURCE", "PRIMARY", "WRONG", "measures_of"]

_PLACE = {name: place for place, name in enumerate(COLUMNS)}
WRONG, ANSWERED = "unanswered: wrong", "unanswered: left out"
BY_PAIR, BY_SOURCE = f"clusters: {PAIR}", f"clusters: {SOURCE}"
PRIMARY = "accuracy"
_SHARES = frozenset({"accuracy", "sensitivity", "specificity", "precision", "true_share"})
_NO_ANSWER = frozenset(f"status_{status}" for status in STATUSES if status != "answered")
_PAIRS = ("pair_both", "pair_one", "pair_none")


def measures_of(unit: str, how: str) -> dict[tuple[str, str], Measure]:
    """Every figure of a run by name and convention; `unit` and `how` stand in the signatures."""
    made: dict[tuple[str, str], Measure] = {}

    def add(
        name: str,
        convention: str,
        of: Callable[[Floats], Floats],
        count: Callable[[Floats], Floats],
        shares: bool,
    ) -> None:
        made[name, convention] = Measure(
            name,
            of,
            count,
            bounds=SHARE if shares else SIGNED,
            signature=f"{name}|true_false|{convention}|{unit}|{how}",
            rule="ends",
            lower=name in _NO_ANSWER,
        )

    for convention in (WRONG, ANSWERED):
        for name, of in {**TWO_WAY, "true_share": true_share}.items():
            if name == "true_share" and convention == WRONG:
                continue  # what was not said has no direction
            of_cells, count = _of_cells(of, convention), _count_of(name, convention)
            add(name, convention, of_cells, count, name in _SHARES)
    for name in _PAIRS:
        add(name, WRONG, _share(name, ("pairs",)), _sum(("pairs",)), True)
    for status in STATUSES:
        add(f"status_{status}", "of all items", _share(status, STATUSES), _sum(STATUSES), True)
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
