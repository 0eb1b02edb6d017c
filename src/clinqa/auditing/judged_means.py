"""Runs become `Means`: judged anew, or read from SCORES that `clinqa score` wrote of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.auditing.answers import Means, lay_out, means_of
from clinqa.core.arrays import Floats
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.inputs import open_parquet, read_parquet, readable
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST
from clinqa.core.predictions import PREDICTIONS_FILE, FinishedRun
from clinqa.core.stage import Progress
from clinqa.kinds.facets.audited import Audited
from clinqa.kinds.facets.judges import JudgedAnswers, OpenJudge, SplitItems
from clinqa.scoring.inputs import SCORES_FILE
from clinqa.scoring.score_runs import ITEMS_FILE
from clinqa.stats.measure import Measure

__all__ = ["check_metrics", "judged_means"]

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
    scores: Path | None,
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
        lay_out(parts[name], name, one.signature, one.lower, one.bounds)
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
        folder: Path,
        runs: Sequence[FinishedRun],
        items: SplitItems,
        dataset: str,
        audited: Audited,
        metrics: Sequence[str],
    ) -> None:
        _check_scores(folder, runs, dataset)
        told = audited.kept_with(_figures(folder, runs), runs)
        if told is None:
            raise ConfigError(f"--scores {folder}: its runs were scored in different ways")
        known = audited.means(told)
        self.measures = {name: _named(name, known, audited) for name in metrics}
        self._items, self._audited = items, audited
        self._place = {name: row for row, name in enumerate(items.column("id"))}
        path = folder / ITEMS_FILE
        with readable(path, advice="score again", error=CheckFailed), open_parquet(path) as file:
            schema = file.schema_arrow
        # a million words of such columns are a few different ones
        few = [one.name for one in schema if one.type == pa.string() and one.name != "item_id"]
        own = audited.columns(list(self.measures.values()), schema.names)
        self._table = read_parquet(
            path,
            sorted({*_OF_ALL, *own}),
            dictionaries=few,
            advice="score again",
            error=CheckFailed,
        )

    def answers(self, run: FinishedRun) -> JudgedAnswers:
        """The answers of a run, judged as they were."""
        rows = self._table.filter(pc.equal(self._table["run"], run.id))
        item = np.array(
            [self._place.get(name, -1) for name in rows["item_id"].to_pylist()], np.int64
        )
        rows, item = rows.filter(pa.array(item >= 0)), item[item >= 0]
        return self._audited.kept(rows, item, self._items, list(self.measures.values()))


def _check_scores(folder: Path, runs: Sequence[FinishedRun], dataset: str) -> None:
    """An error unless the scores are of these runs as they are."""
    if not (folder / MANIFEST).is_file():
        raise ConfigError(f"--scores {folder}: no {MANIFEST}; give the --out of clinqa score")
    manifest = Manifest.read(folder / MANIFEST)
    if manifest.verb != "score":
        raise ConfigError(f"--scores {folder}: made by {manifest.verb!r}, not by clinqa score")
    if manifest.configuration.get("dataset") != dataset:
        raise ConfigError(f"--scores {folder}: scores on another dataset")
    inputs = {record.name: record.sha256 for record in manifest.inputs}
    for run in runs:
        if inputs.get(f"{run.id}/{PREDICTIONS_FILE}") != run.sha256:
            raise ConfigError(
                f"--scores {folder}: does not hold run {run.name} as it is now; score it, or leave "
                "--scores out"
            )
    stated = {record.name: record.sha256 for record in manifest.outputs}
    for name in (ITEMS_FILE, SCORES_FILE):
        path = folder / name
        if not path.is_file() or sha256_file(path) != stated.get(name):
            raise CheckFailed(f"{path}: not as it was made (SHA-256); score again")


def _figures(folder: Path, runs: Sequence[FinishedRun]) -> list[Mapping[str, Any]]:
    """Those of these runs over all items."""
    ids = {run.id for run in runs}
    try:
        figures = json.loads((folder / SCORES_FILE).read_text(encoding="utf-8"))["figures"]
        return [
            {name: str(one[name]) for name in ("metric", "signature")}
            for one in figures
            if not one["subset"] and one["run"] in ids
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckFailed(f"{folder / SCORES_FILE}: cannot be read; score again") from error
