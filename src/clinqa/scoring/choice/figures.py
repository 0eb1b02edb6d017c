"""Figures of a run in one reading, each with an interval over items (with their near-duplicates).

accuracy          mean over items of the share of its orders (and repeats) that are right
accuracy, order   over the items that were shuffled, in each order by itself
all_orders_right  share of shuffled items that are right in every order; any_order_right in any
same_pick         share of shuffled items of which the same option is picked in every order
recall, picked    by number of options and position: share right where the right option stands
                  there; share of answers that pick what stands there
recall_spread     standard deviation of the recalls of all positions
status_*          shares of all prompts

No answer is a wrong answer; `accuracy` under the other convention stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clinqa.core.figures import Figure
from clinqa.kinds.facets.reads import TOLD
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.scoring.choice.asked import design_of
from clinqa.scoring.choice.questions import Questions
from clinqa.scoring.choice.readers import Reading
from clinqa.stats.bootstrap import bootstrap, cluster_sums
from clinqa.stats.cluster import Estimate

__all__ = [
    "ANSWERED",
    "COMPARED",
    "MEASURES",
    "WRONG",
    "Table",
    "figures_of",
    "signature_of",
    "table_of",
]

Floats = npt.NDArray[np.float64]
WRONG, ANSWERED = "unanswered: wrong", "unanswered: left out"
UNIT = "clusters: item with its near-duplicates"
FIXED = "fixed"
"""The order of items that cannot be shuffled, as a subset."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A share of two columns of summed rows."""

    name: str
    part: str
    whole: str
    convention: str = WRONG


MEASURES = (
    Measure("accuracy", "right", "items"),
    Measure("accuracy", "right_of_answered", "answered", ANSWERED),
    Measure("all_orders_right", "all_right", "shuffled"),
    Measure("any_order_right", "any_right", "shuffled"),
    Measure("same_pick", "same", "shuffled"),
)
COMPARED = ("accuracy", "all_orders_right", "same_pick")


@dataclass(frozen=True, slots=True)
class Table:
    """A row an item that was asked, a column a name: what figures are sums of."""

    items: npt.NDArray[np.int64]  # rows of the questions
    columns: Mapping[str, Floats]

    def rows(self, names: Sequence[str]) -> Floats:
        """Some columns side by side."""
        return np.stack([self.columns[name] for name in names], axis=1)


def table_of(reading: Reading, questions: Questions) -> Table:
    """Means over the prompts of each item."""
    asked = reading.asked
    items, of = np.unique(asked.item, return_inverse=True)
    count = len(items)
    right = reading.right.astype(np.float64)
    answered = (reading.place >= 0).astype(np.float64)

    def summed(values: Floats) -> Floats:
        return np.bincount(of, values, count).astype(np.float64)

    prompts = summed(np.ones(len(asked)))
    columns: dict[str, Floats] = {
        "prompts": prompts,
        "items": np.ones(count),
        "right": summed(right) / prompts,
        "answered": summed(answered),
        "right_of_answered": summed(right),
        **_over_orders(reading, of, count),
    }
    for status in TOLD:
        named = np.array([one == status for one in reading.status], np.float64)
        columns[f"status_{status}"] = summed(named)
    for number in np.unique(asked.variant).tolist():
        own = ((asked.variant == number) & ~asked.positional).astype(np.float64)
        columns[f"asked_{number}"] = summed(own)
        columns[f"right_{number}"] = summed(own * right)
    fixed = asked.positional.astype(np.float64)
    columns[f"asked_{FIXED}"], columns[f"right_{FIXED}"] = summed(fixed), summed(fixed * right)
    gold = _gold_places(reading, questions)
    sizes = np.array([len(own) for own in asked.order])
    for size in np.unique(sizes).tolist():
        for place in range(size):
            there = ((sizes == size) & (gold == place)).astype(np.float64)
            picked = ((sizes == size) & (reading.place == place)).astype(np.float64)
            columns[f"gold_{size}_{place}"] = summed(there)
            columns[f"hit_{size}_{place}"] = summed(there * right)
            columns[f"picked_{size}_{place}"] = summed(picked)
        columns[f"said_{size}"] = summed((sizes == size) * answered)
    return Table(items, columns)


def _over_orders(reading: Reading, of: npt.NDArray[np.int64], count: int) -> dict[str, Floats]:
    """Of items asked in two orders or more: all right, any right, one option picked throughout.

    With repeats each is a mean over them.
    """
    asked = reading.asked
    repeats = int(asked.repeat.max()) + 1 if len(asked) else 1
    key = of * repeats + asked.repeat
    orders = np.bincount(key, minlength=count * repeats)
    hits = np.bincount(key, reading.right, count * repeats)
    lowest = np.full(count * repeats, np.iinfo(np.int64).max)
    highest = np.full(count * repeats, -1)
    np.minimum.at(lowest, key, reading.picked)
    np.maximum.at(highest, key, reading.picked)
    shuffled = orders >= 2
    made = {
        "all_right": shuffled & (hits == orders),
        "any_right": shuffled & (hits > 0),
        "same": shuffled & (lowest == highest) & (lowest >= 0),
    }
    # of the repeats in which it was asked
    times = np.maximum(np.count_nonzero(orders.reshape(count, repeats), axis=1), 1)
    columns: dict[str, Floats] = {
        name: own.reshape(count, repeats).sum(axis=1) / times for name, own in made.items()
    }
    columns["shuffled"] = np.asarray(shuffled.reshape(count, repeats).any(axis=1), np.float64)
    return columns


def _gold_places(reading: Reading, questions: Questions) -> npt.NDArray[np.int64]:
    gold = questions.gold[reading.asked.item].tolist()
    return np.array(
        [own.index(at) for own, at in zip(reading.asked.order, gold, strict=True)], np.int64
    )


def signature_of(metric: str, reading: Reading, convention: str = WRONG) -> str:
    """How a figure was computed: what differs here never stands in one column."""
    design = design_of(reading.asked.run)
    return f"{metric}|multiple_choice|{reading.reader}|{convention}|{design}|{UNIT}"


def figures_of(
    reading: Reading, table: Table, questions: Questions, *, seed: int, draws: int
) -> Iterator[Figure]:
    """All figures of one reading."""
    making = _Making(reading, table, questions.cluster[table.items], seed, draws)
    yield from making.shares([(m, {}) for m in MEASURES if table.columns[m.whole].any()])
    statuses = [Measure(f"status_{s}", f"status_{s}", "prompts", "of all") for s in TOLD]
    yield from making.shares([(measure, {}) for measure in statuses])
    orders = [name.removeprefix("asked_") for name in table.columns if name.startswith("asked_")]
    by_order = [
        (Measure("accuracy", f"right_{name}", f"asked_{name}"), {"order": name})
        for name in orders
        if table.columns[f"asked_{name}"].any()
    ]
    yield from making.shares(by_order)
    for name in table.columns:
        if name.startswith("said_") and table.columns[name].any():
            yield from making.positions(int(name.removeprefix("said_")))
    accuracy = MEASURES[0]
    categories = questions.category[table.items]
    for category in sorted(set(categories.tolist())):
        yield from making.shares([(accuracy, {"category": category})], categories == category)


class _Making:
    """Intervals over the rows of one table."""

    def __init__(
        self, reading: Reading, table: Table, cluster: npt.NDArray[np.int64], seed: int, draws: int
    ) -> None:
        self._reading, self._table, self._cluster = reading, table, cluster
        self._seed, self._draws = seed, draws

    def shares(
        self,
        wanted: Sequence[tuple[Measure, Mapping[str, str]]],
        mask: npt.NDArray[np.bool_] | None = None,
    ) -> Iterator[Figure]:
        """Each measure with its subset, over the rows of the mask."""
        if not wanted:
            return
        names = list(dict.fromkeys(n for m, _ in wanted for n in (m.part, m.whole)))
        at = {name: place for place, name in enumerate(names)}
        pairs = [(at[m.part], at[m.whole]) for m, _ in wanted]

        def statistic(totals: Floats) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.stack([totals[..., a] / totals[..., b] for a, b in pairs], axis=-1)

        found = self._estimates(names, statistic, mask)
        for (measure, subset), (_, whole), one in zip(wanted, pairs, found, strict=True):
            yield self._figure(measure.name, measure.convention, subset, one, names[whole], mask)

    def positions(self, size: int) -> Iterator[Figure]:
        """Recall and picks of each position of items with so many options, and the spread."""
        wanted = []
        for place in range(size):
            subset = {"options": str(size), "position": LETTERS[place]}
            part = f"{size}_{place}"
            if self._table.columns[f"gold_{part}"].any():
                wanted.append((Measure("recall", f"hit_{part}", f"gold_{part}"), subset))
            share = Measure("picked", f"picked_{part}", f"said_{size}", ANSWERED)
            wanted.append((share, subset))
        yield from self.shares(wanted)
        hits = [f"hit_{size}_{place}" for place in range(size)]
        golds = [f"gold_{size}_{place}" for place in range(size)]

        def spread(totals: Floats) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                made: Floats = (totals[..., :size] / totals[..., size:]).std(axis=-1)
            return made

        mask = np.asarray(self._table.rows(golds).sum(axis=1) > 0)
        for one in self._estimates([*hits, *golds], spread, mask):
            yield self._figure("recall_spread", WRONG, {"options": str(size)}, one, "items", mask)

    def _estimates(
        self,
        names: Sequence[str],
        statistic: Callable[[Floats], Floats],
        mask: npt.NDArray[np.bool_] | None,
    ) -> list[Estimate]:
        rows, cluster = self._table.rows(names), self._cluster
        if mask is not None:
            rows, cluster = rows[mask], cluster[mask]
        return bootstrap(rows, cluster, statistic, seed=self._seed, draws=self._draws)

    def _figure(
        self,
        metric: str,
        convention: str,
        subset: Mapping[str, str],
        estimate: Estimate,
        whole: str,
        mask: npt.NDArray[np.bool_] | None,
    ) -> Figure:
        column, cluster = self._table.columns[whole], self._cluster
        if mask is not None:
            column, cluster = column[mask], cluster[mask]
        sums = cluster_sums(column[:, None], cluster)
        low, high = estimate.low, estimate.high
        run = self._reading.asked.run
        return Figure(
            run=run.id,
            model=run.model,
            shots=run.shots,
            metric=metric,
            value=_number(estimate.value),
            low=_number(low),
            high=_number(high),
            n=round(float(column.sum())),
            clusters=int((sums > 0).sum()),
            signature=signature_of(metric, self._reading, convention),
            subset=dict(subset),
        )


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
