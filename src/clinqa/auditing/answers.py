"""The answers of all runs in one metric, as what is above and below the line of a mean.

Scored by `score`, answer by answer; here they are only laid side by side. Any score that is a mean
over answers can be audited: token F1, level accuracy, each kind of error, dangerous errors (each
over the items that could run into it). Corpus BLEU, macro-F1 and kappa are no means: refused.

Runs become `Means`: judged anew, or read from SCORES that `clinqa score` wrote of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bools, Floats, Ints
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.finished import Finished
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.core.stage import Progress
from clinqa.kinds.facets.audited import Audited
from clinqa.kinds.facets.judges import JudgedAnswers, OpenJudge, SplitItems
from clinqa.scoring.inputs import ITEMS_FILE, SCORES_FILE
from clinqa.stats.intervals import SHARE, Bounds
from clinqa.stats.measure import Measure

__all__ = [
    "Column",
    "Means",
    "check_metrics",
    "judged_means",
    "label_of",
    "lay_out",
    "means_of",
    "strata_of",
]


@dataclass(frozen=True, slots=True)
class Column:
    """One run, or one repeat of it: `repeat` is None for the mean over its repeats."""

    run: int
    repeat: int | None


@dataclass(frozen=True, slots=True)
class Means:
    """One metric of every run and repeat over the same rows (items, or patients once summed).

    `over` has a column for each of `columns`; those of `under` are the distinct ones, and
    `under_of` says which belongs to which. The first columns are the means over repeats, one a run.
    `lower`: a low mean is the good one. It lies between `bounds`; `counted`: of all or nothing.
    """

    metric: str
    signature: str
    columns: tuple[Column, ...]
    over: Floats
    under: Floats
    under_of: Ints
    lower: bool = False
    bounds: Bounds = SHARE
    counted: bool = False

    @property
    def runs(self) -> int:
        """How many runs."""
        return sum(column.repeat is None for column in self.columns)

    def repeats_of(self, run: int) -> list[int]:
        """The columns of a run's repeats."""
        return [
            at
            for at, column in enumerate(self.columns)
            if column.run == run and column.repeat is not None
        ]

    def summed(self, places: Ints, size: int) -> Means:
        """The same, summed over the rows of each place; rows of place -1 are left out."""
        kept = np.flatnonzero(places >= 0)
        order = kept[np.argsort(places[kept], kind="stable")]
        over, under = np.zeros((size, self.over.shape[1])), np.zeros((size, self.under.shape[1]))
        if len(order):
            first = np.flatnonzero(np.diff(places[order], prepend=-1))
            at = places[order][first]
            over[at] = np.add.reduceat(self.over[order], first, axis=0)
            under[at] = np.add.reduceat(self.under[order], first, axis=0)
        return replace(self, over=over, under=under)

    def rows(self, chosen: Bools | Ints) -> Means:
        """Some of the rows."""
        return replace(self, over=self.over[chosen], under=self.under[chosen])

    def of_runs(self) -> Means:
        """The means over repeats only."""
        runs = self.runs
        used, under_of = np.unique(self.under_of[:runs], return_inverse=True)
        return replace(
            self,
            columns=self.columns[:runs],
            over=self.over[:, :runs],
            under=self.under[:, used],
            under_of=under_of,
        )


def means_of(
    item: Ints, repeat: Ints, above: Floats, below: Floats, items: int
) -> tuple[list[Floats], list[Floats]]:
    """Above and below the line by item: the mean over the repeats first, then each repeat.

    `item` and `repeat` say whose each answer is; `above` and `below` are its two numbers.
    """
    numbers = np.unique(repeat)
    which = np.searchsorted(numbers, repeat)
    asked = np.zeros((items, len(numbers)))
    asked[item, which] = 1
    times = np.maximum(asked.sum(axis=1), 1)
    made: list[list[Floats]] = []
    for values in (above, below):
        table = np.zeros((items, len(numbers)))
        table[item, which] = values
        made.append([table.sum(axis=1) / times, *table.T])
    return made[0], made[1]


def lay_out(
    runs: Sequence[tuple[list[Floats], list[Floats]]],
    metric: str,
    signature: str,
    lower: bool = False,
    bounds: Bounds = SHARE,
    counted: bool = False,
) -> Means:
    """The runs side by side. One repeat only is its own mean: it has no columns of repeats."""
    columns = [Column(run, None) for run in range(len(runs))]
    over, under = [above[0] for above, _ in runs], [below[0] for _, below in runs]
    for run, (above, below) in enumerate(runs):
        if len(above) > 2:
            columns += [Column(run, at) for at in range(len(above) - 1)]
            over += above[1:]
            under += below[1:]
    known: dict[bytes, int] = {}
    under_of = [known.setdefault(one.tobytes(), len(known)) for one in under]
    distinct = dict(zip(under_of, under, strict=True))
    return Means(
        metric,
        signature,
        tuple(columns),
        np.stack(over, axis=1),
        np.stack([distinct[code] for code in range(len(known))], axis=1),
        np.array(under_of, np.int64),
        lower,
        bounds,
        counted,
    )


def label_of(run: FinishedRun) -> str:
    """How a run is called in words."""
    return f"{run.model}, {run.shots}-shot"


def strata_of(items: SplitItems, asks: Sequence[str]) -> Ints:
    """What each item asks, as a number: the columns that say it, together."""
    told = list(zip(*(map(str, items.column(name)) for name in asks), strict=True))
    number = {one: at for at, one in enumerate(sorted(set(told)))}
    return np.array([number[one] for one in told], np.int64)


_OF_ALL = ("run", "repeat", "item_id")


def check_metrics(metrics: Sequence[str], audited: Audited) -> None:
    """ConfigError for a metric that groups can't be compared by, before anything is judged."""
    known = audited.known()
    for name in metrics:
        if name not in audited.later:
            _named(name, known, audited)


def judged_means(
    runs: Sequence[FinishedRun],
    items: SplitItems,
    judge: OpenJudge,
    audited: Audited,
    metrics: Sequence[str],
    scores: Finished | None,
    dataset: str,
    progress: Progress,
) -> list[Means]:
    """Every metric of every run. With `scores`, of these very runs, nothing is judged again: a row
    of items.parquet holds what the numbers of an answer are made of."""
    audited.check(runs)
    kept = None if scores is None else _Kept(scores, runs, items, dataset, audited, metrics)
    parts: dict[str, list[tuple[list[Floats], list[Floats]]]] = {name: [] for name in metrics}
    measures: dict[str, Measure] = {}
    for number, run in enumerate(runs):
        progress("scoring", number, len(runs))
        if kept is None:
            judged = judge.answers(run, items)
            known = audited.means(judged.of_kind)
            measures = {name: _named(name, known, audited) for name in metrics}
        else:
            judged, measures = kept.answers(run), kept.measures
        for name, measure in measures.items():
            above, below = _sides(judged, measure)
            parts[name].append(means_of(judged.item, judged.repeat, above, below, len(items)))
    progress("scoring", len(runs), len(runs))
    return [
        lay_out(parts[name], name, one.signature, one.lower, one.bounds, one.counted)
        for name, one in measures.items()
    ]


def _named(name: str, measures: Sequence[Measure], audited: Audited) -> Measure:
    for measure in measures:
        if measure.name == name:
            return measure
    raise ConfigError(
        f"--metric {name!r}: no mean over {audited.over}, so groups have no share in it; "
        f"{audited.there_are} {', '.join(measure.name for measure in measures)}"
    )


def _sides(judged: JudgedAnswers, measure: Measure) -> tuple[Floats, Floats]:
    """Above and below the line of each answer."""
    if measure.parts is not None:
        above, below = (judged.column(part) for part in measure.parts)
        return above, below
    below = measure.count(judged.statistics)
    # of one answer a measure is 0, 1, or nothing where it is not of those it is over
    return np.where(below > 0, measure.of(judged.statistics), 0.0), below


class _Kept:
    """What `clinqa score` has written of these very runs."""

    def __init__(
        self,
        scores: Finished,
        runs: Sequence[FinishedRun],
        items: SplitItems,
        dataset: str,
        audited: Audited,
        metrics: Sequence[str],
    ) -> None:
        _check_scores(scores, runs, dataset)
        told = audited.kept_with(_figures(scores, runs), runs)
        if told is None:
            raise ConfigError(f"--scores {scores.folder}: its runs were scored in different ways")
        known = audited.means(told)
        self.measures = {name: _named(name, known, audited) for name in metrics}
        self._items, self._audited = items, audited
        self._place = {name: row for row, name in enumerate(items.column("id"))}
        with scores.parquet_file(ITEMS_FILE) as file:
            schema = file.schema_arrow
        # a million words of such columns are a few different ones
        few = [one.name for one in schema if one.type == pa.string() and one.name != "item_id"]
        own = audited.columns(list(self.measures.values()), schema.names)
        self._table = scores.parquet(ITEMS_FILE, sorted({*_OF_ALL, *own}), dictionaries=few)

    def answers(self, run: FinishedRun) -> JudgedAnswers:
        """The answers of a run, judged as they were."""
        rows = self._table.filter(pc.equal(self._table["run"], run.id))
        item = np.array(
            [self._place.get(name, -1) for name in rows["item_id"].to_pylist()], np.int64
        )
        rows, item = rows.filter(pa.array(item >= 0)), item[item >= 0]
        return self._audited.kept(rows, item, self._items, list(self.measures.values()))


def _check_scores(scores: Finished, runs: Sequence[FinishedRun], dataset: str) -> None:
    """An error unless the scores are of these runs as they are."""
    folder, manifest = scores.folder, scores.manifest
    if manifest.configuration.get("dataset") != dataset:
        raise ConfigError(f"--scores {folder}: scores on another dataset")
    inputs = {record.name: record.sha256 for record in manifest.inputs}
    for run in runs:
        if inputs.get(f"{run.id}/{PREDICTIONS_FILE}") != run.record.sha256:
            raise ConfigError(
                f"--scores {folder}: does not hold run {run.name} as it is now; score it, or leave "
                "--scores out"
            )


def _figures(scores: Finished, runs: Sequence[FinishedRun]) -> list[Mapping[str, Any]]:
    """Those of these runs over all items."""
    ids = {run.id for run in runs}
    try:
        return [
            {name: str(one[name]) for name in ("metric", "signature")}
            for one in scores.json(SCORES_FILE)["figures"]
            if not one["subset"] and one["run"] in ids
        ]
    except (KeyError, TypeError) as error:
        path = scores.folder / SCORES_FILE
        raise CheckFailed(f"{path}: lacks or garbles a key; score again") from error
