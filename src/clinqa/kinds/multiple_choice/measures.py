"""Figures of a run in one reading, each with an interval over items (with their near-duplicates).

accuracy          mean over items of the share of its orders (and repeats) that are right
accuracy, order   over the items that were shuffled, in each order by itself
all_orders_right  share of shuffled items that are right in every order; any_order_right in any
same_pick         share of shuffled items of which the same option is picked in every order
recall, picked    by number of options and position: share right where the right option stands
                  there; share of answers that pick what stands there
recall_spread     standard deviation of the recalls of all positions
positions         a test for each number of options, of the prompts that were shuffled
status_*          shares of all prompts

No answer is a wrong answer; `accuracy` under the other convention stands beside it. Runs are
compared where both asked in the same kind of orders and are read in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, groupby
from typing import Any

import numpy as np

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import Floats
from clinqa.core.cells import csv_text
from clinqa.core.manifest import Manifest
from clinqa.kinds.facets.judges import JudgedRun, SplitItems
from clinqa.kinds.facets.measures import (
    EVERY,
    FigureTables,
    Measured,
    Measures,
    TestedTogether,
    Wording,
)
from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.kinds.multiple_choice.prompted import READERS, Picks, design_of, shuffled
from clinqa.stats.comparing import adjusted
from clinqa.stats.measure import Measure, share
from clinqa.stats.positions import position_test

__all__ = [
    "ANSWERED",
    "MEASURES",
    "WRONG",
    "positions_of",
]

WRONG, ANSWERED = "unanswered: wrong", "unanswered: left out"
UNIT = "clusters: item with its near-duplicates"
PRIMARY = "accuracy"
#: Name, the two columns it is a share of, convention.
_SHARES = (
    (PRIMARY, "right", "items", WRONG),
    (PRIMARY, "right_of_answered", "answered", ANSWERED),
    ("all_orders_right", "all_right", "shuffled", WRONG),
    ("any_order_right", "any_right", "shuffled", WRONG),
    ("same_pick", "same", "shuffled", WRONG),
)
_COMPARED = (PRIMARY, "all_orders_right", "same_pick")
_POSITIONS = (
    *("run", "reader", "options", "items", "prompts", "picks", "chi2", "p", "p_holm", "spread"),
    *("spread_by_chance", "spread_p", "signature"),
)


def _signature(metric: str, judged: JudgedRun, convention: str) -> str:
    """How a figure was computed: what differs here never stands in one column."""
    return f"{metric}|multiple_choice|{judged.way}|{convention}|{judged.how}|{UNIT}"


def _share(
    judged: JudgedRun, metric: str, part: str, whole: str, convention: str = WRONG
) -> Measure:
    over, under = judged.layout.index(part), judged.layout.index(whole)
    return share(metric, over, under, signature=_signature(metric, judged, convention))


def _figures(judged: JudgedRun, items: SplitItems) -> Iterator[Measured]:
    """All figures of one reading."""
    there = {name for name in judged.layout if judged.column(name).any()}
    yield Measured([(_share(judged, *one), EVERY) for one in _SHARES if one[2] in there])
    statuses = [f"status_{status}" for status in STATUSES]
    yield Measured([(_share(judged, one, one, "prompts", "of all"), EVERY) for one in statuses])
    orders = [name.removeprefix("asked_") for name in judged.layout if name in there
              and name.startswith("asked_")]  # fmt: skip
    yield Measured(
        [
            (_share(judged, PRIMARY, f"right_{name}", f"asked_{name}"), {"order": name})
            for name in orders
        ]
    )
    for name in judged.layout:
        if name.startswith("said_") and name in there:
            yield from _of_positions(judged, there, int(name.removeprefix("said_")))
    categories = np.array(items.column("category"), dtype=np.str_)[judged.items]
    accuracy = _share(judged, *_SHARES[0])
    for category in sorted(set(categories.tolist())):
        yield Measured([(accuracy, {"category": category})], categories == category)


def _of_positions(judged: JudgedRun, there: set[str], size: int) -> Iterator[Measured]:
    """Recall and picks of each position of items with so many options, and the spread."""
    wanted: list[tuple[Measure, Mapping[str, str]]] = []
    for place in range(size):
        subset = {"options": str(size), "position": LETTERS[place]}
        part = f"{size}_{place}"
        if f"gold_{part}" in there:
            wanted.append((_share(judged, "recall", f"hit_{part}", f"gold_{part}"), subset))
        picked = _share(judged, "picked", f"picked_{part}", f"said_{size}", ANSWERED)
        wanted.append((picked, subset))
    yield Measured(wanted)
    hits = [judged.layout.index(f"hit_{size}_{place}") for place in range(size)]
    golds = [judged.layout.index(f"gold_{size}_{place}") for place in range(size)]
    items = judged.layout.index("items")

    def spread(rows: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            made: Floats = (rows[..., hits] / rows[..., golds]).std(axis=-1)
        return made

    own = np.sum([judged.column(f"gold_{size}_{place}") for place in range(size)], axis=0) > 0
    measure = Measure(
        "recall_spread",
        spread,
        lambda rows: rows[..., items],
        (*hits, *golds, items),
        signature=_signature("recall_spread", judged, WRONG),
    )
    yield Measured([(measure, {"options": str(size)})], own)


def _tests(_: Any, __: Any, a: JudgedRun, b: JudgedRun, ___: str) -> list[TestedTogether]:
    if a.how != b.how:
        return []
    shares = [_share(a, *one) for one in _SHARES if one[0] in _COMPARED and one[3] == WRONG]
    return [TestedTogether([one]) for one in shares]


def _about_items(items: SplitItems, *_: Any) -> dict[str, Any]:
    sizes = Counter(map(len, items.column("options")))
    return {
        "clusters": items.many(),
        "options": {str(size): sizes[size] for size in sorted(sizes)},
        "unit": "a question with its near-duplicates; its orders and repeats stay together",
    }


def _about_run(judged: Sequence[JudgedRun]) -> dict[str, Any]:
    asked = judged[0].of_kind.asked
    return {
        "orders": judged[0].how,
        "readers": [one.way for one in judged],
        "unshuffled": len(np.unique(asked.item[asked.positional])),
        "prompts": len(asked),
    }


def _about(items: SplitItems, judged: Sequence[JudgedRun], seed: int) -> dict[str, Any]:
    found = [row for one in judged for row in positions_of(one.of_kind, items, seed=seed)]
    holm = adjusted([row["p"] for row in found], ["positions"] * len(found))
    return {
        "positions": [{**row, "p_holm": p} for row, p in zip(found, holm, strict=True)],
        "agreement": [
            _agreement(one, other)
            for _, own in groupby(judged, key=lambda one: one.id)
            for one, other in combinations(own, 2)
        ],
    }


def _agreement(one: JudgedRun, other: JudgedRun) -> dict[str, Any]:
    """How often two readers find the same in one run; no answer is an answer of its own."""
    same = one.of_kind.place == other.of_kind.place
    both = (one.of_kind.place >= 0) & (other.of_kind.place >= 0)
    return {
        "run": one.id,
        "a": one.way,
        "b": other.way,
        "prompts": len(same),
        "same": float(same.mean()),
        "both_answered": int(both.sum()),
        "same_of_both": float(same[both].mean()) if both.any() else None,
        "signature": f"agreement|multiple_choice|{one.way} and {other.way}|share of prompts",
    }


def _more_tables(_: Any, meta: Mapping[str, Any]) -> dict[str, str]:
    rows = [{**one, "picks": " ".join(map(str, one["picks"]))} for one in meta["positions"]]
    body = [[row[key] for key in _POSITIONS] for row in rows]
    return {"positions.csv": csv_text(_POSITIONS, body)}


def _warns_of_run(judged: Sequence[JudgedRun]) -> Iterator[str]:
    name = judged[0].name
    for one in judged:
        ties = list(one.of_kind.status).count("ambiguous") if one.way == "first_token" else 0
        if ties:
            yield (
                f"{name}: the likeliest letters tie {ties:,} times and are no answer; half "
                "precision rounds small differences away (predict --dtype float32)"
            )
    if judged[0].run and not shuffled(judged[0].run):
        yield (
            f"{name}: asked in the bank's order only; nothing can be said of positions "
            "(predict --orders)"
        )


def _warns_of_all(
    judged: Sequence[JudgedRun], _: Manifest, meta: Mapping[str, Any]
) -> Iterator[str]:
    if len({one.how for one in judged}) > 1:
        yield (
            "the runs were asked in different kinds of orders: their figures have different "
            "signatures and they are not compared"
        )
    reader = meta["reader"]
    read = {one.id for one in judged if one.way == reader}
    without = dict.fromkeys(one.name for one in judged if one.id not in read)
    if without:
        yield f"{', '.join(without)}: cannot be read as {reader}; not in the tests"


MEASURES = Measures(
    primary=PRIMARY,
    primaries=_COMPARED,
    figures=_figures,
    tests=_tests,
    wording=Wording(
        drawn="items",
        unit=UNIT,
        test="sign-flip of the summed difference of each item ({flips} random flips, or all)",
        adjusted="Holm over the family, read by the deciding reader; other readers and metrics "
        "are exploratory and not adjusted",
        flipped="|sign-flip of items",
        none="name no option",
        label="{metric:<17} {run:<32} {way:<12}",
    ),
    tables=FigureTables(
        keys=("order", "options", "position", "category"),
        way="reader",
        files={
            "by_order.csv": "order",
            "by_position.csv": "options",
            "by_category.csv": "category",
        },
    ),
    lines=("all_orders_right", "same_pick"),
    main=lambda figure: WRONG in figure.signature.split("|"),
    ways=READERS,
    against=lambda items: f"{len(items):,} questions of {items.many():,} clusters",
    about_items=_about_items,
    about_run=_about_run,
    about=_about,
    more_tables=_more_tables,
    warns_of_run=_warns_of_run,
    warns_of_all=_warns_of_all,
)


REDRAWS = 2000
_LARGE = 40_000  # prompts from which on fewer redraws are made
_FEWER = 500


def positions_of(picks: Picks, items: SplitItems, *, seed: int) -> Iterator[dict[str, Any]]:
    """One for each number of options; none where the orders were not drawn."""
    asked = picks.asked
    if not shuffled(asked.run):
        return
    sizes = np.array([len(own) for own in asked.order]) * ~asked.positional
    for size in sorted(set(sizes.tolist()) - {0}):
        rows = np.flatnonzero(sizes == size)
        orders = np.array([asked.order[row] for row in rows.tolist()], np.int64)
        test = position_test(
            asked.item[rows],
            np.argsort(orders, axis=1),  # of each option, the place where it stood
            picks.picked[rows],
            items.table["answer_index"].to_numpy()[asked.item[rows]],
            seed=seed,
            redraws=_FEWER if len(rows) > _LARGE else REDRAWS,
        )
        signature = f"positions|multiple_choice|{picks.reader}|{design_of(asked.run)}"
        yield {
            "run": asked.run.id,
            "reader": picks.reader,
            **asdict(test),
            "picks": list(test.picks),
            "signature": f"{signature}|{test.signature}|not adjusted",
        }
