"""A run's answers to multiple-choice items, in each way that they can be read: sums by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from clinqa.core.answers import STATUSES
from clinqa.core.arrays import AnyArray, Floats, Ints, Places
from clinqa.core.manifest import Manifest
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.judges import (
    JudgedRun,
    JudgeOptions,
    Judges,
    OpenJudge,
    SplitItems,
)
from clinqa.kinds.multiple_choice.matching import TrainedMatcher, trained_matcher
from clinqa.kinds.multiple_choice.prompted import (
    Picks,
    by_order,
    design_of,
    load_questions,
    picks_of,
    prompted_by,
    rows_of,
)

__all__ = ["COMMON", "FIXED", "JUDGES"]

MATCHER_FILE = "matcher.json"
FIXED = "fixed"
"""The order of items that cannot be shuffled, as a subset."""
COMMON = (
    *("prompts", "items", "right", "answered", "right_of_answered"),
    *("all_right", "any_right", "same", "shuffled"),
    *(f"status_{status}" for status in STATUSES),
)
"""The first columns of an item, whatever orders and numbers of options there are."""


class ChoiceJudge(OpenJudge):
    """Reads what answers pick: letters by rules, log-probabilities, and a trained matcher."""

    def __init__(self, matcher: TrainedMatcher | None, plan: Sequence[str]) -> None:
        self.matcher, self.plan = matcher, plan
        self.decides = {"matcher": matcher.fingerprint if matcher else None}
        self.about = {"matcher": matcher.as_json() if matcher else None}
        if matcher is not None:
            self.inputs, self.files = matcher.inputs, {MATCHER_FILE: matcher.weights}

    def runs(self, run: FinishedRun, items: SplitItems) -> Iterator[tuple[JudgedRun, pa.Table]]:
        """The run once for each reader of its answers."""
        asked = prompted_by(run, items)
        match = self.matcher.match if self.matcher else None
        for picks in picks_of(asked, items, match):
            rows, columns = columns_of(picks)
            yield (
                JudgedRun(
                    id=run.id,
                    name=run.name,
                    model=run.model,
                    shots=run.shots,
                    items=rows,
                    layout=tuple(columns),
                    columns=np.arange(len(columns)),
                    statistics=np.stack(list(columns.values()), axis=1),
                    statuses=asked.statuses,
                    repeats=len(np.unique(asked.repeat)),
                    unknown=asked.unknown,
                    run=run,
                    way=picks.reader,
                    how=design_of(run),
                    of_kind=picks,
                ),
                rows_of(picks, items),
            )


def columns_of(picks: Picks) -> tuple[Ints, dict[str, Floats]]:
    """The items that were asked, and by name a number of each: COMMON, then by order and place."""
    asked = picks.asked
    items, of = np.unique(asked.item, return_inverse=True)
    count = len(items)
    right = picks.right.astype(np.float64)
    answered = (picks.place >= 0).astype(np.float64)

    def summed(values: AnyArray) -> Floats:
        return np.bincount(of, values, count).astype(np.float64)

    prompts = summed(np.ones(len(asked)))
    status = np.array(picks.status)
    columns: dict[str, Floats] = {
        "prompts": prompts,
        "items": np.ones(count),
        "right": summed(right) / prompts,
        "answered": summed(answered),
        "right_of_answered": summed(right),
        **_over_orders(picks, of, count),
        **{f"status_{name}": summed(status == name) for name in STATUSES},
    }
    for number in np.unique(asked.variant).tolist():
        own = ((asked.variant == number) & ~asked.positional).astype(np.float64)
        columns[f"asked_{number}"] = summed(own)
        columns[f"right_{number}"] = summed(own * right)
    columns[f"asked_{FIXED}"] = summed(asked.positional)
    columns[f"right_{FIXED}"] = summed(asked.positional * right)
    sizes = np.array([len(own) for own in asked.order])
    for size in np.unique(sizes).tolist():
        for place in range(size):
            there = (sizes == size) & (picks.gold == place)
            columns[f"gold_{size}_{place}"] = summed(there)
            columns[f"hit_{size}_{place}"] = summed(there * right)
            columns[f"picked_{size}_{place}"] = summed((sizes == size) & (picks.place == place))
        columns[f"said_{size}"] = summed((sizes == size) * answered)
    return items, columns


def _over_orders(picks: Picks, of: Places, count: int) -> dict[str, Floats]:
    """Of items asked in two orders or more: all right, any right, one option picked throughout.

    With repeats each is a mean over them.
    """
    asked = picks.asked
    repeats = int(asked.repeat.max()) + 1 if len(asked) else 1
    key = of * repeats + asked.repeat
    orders = np.bincount(key, minlength=count * repeats)
    hits = np.bincount(key, picks.right, count * repeats)
    lowest = np.full(count * repeats, np.iinfo(np.int64).max)
    highest = np.full(count * repeats, -1)
    np.minimum.at(lowest, key, picks.picked)
    np.maximum.at(highest, key, picks.picked)
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


def _open(_: Path, __: Manifest, runs: Sequence[FinishedRun], options: JudgeOptions) -> ChoiceJudge:
    annotated = options.annotated or "the bundled annotated outputs"
    # nothing is trained for a dry run
    needed = not all(run.constrained for run in runs) and not options.dry_run
    matcher = trained_matcher(options.annotated, options.seed) if needed else None
    return ChoiceJudge(matcher, [f"would train the matcher on {annotated}"])


JUDGES = Judges(
    columns=("options", "answer_index"),
    load=load_questions,
    open=_open,
    libraries=("scikit-learn",),
    by_order=by_order,
)
