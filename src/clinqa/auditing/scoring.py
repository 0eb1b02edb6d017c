"""Runs become `Means`: scored by `score`, or read from SCORES that `clinqa score` wrote of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.auditing.answers import Means, lay_out, means_of
from clinqa.core.errors import CheckFailed, ConfigError
from clinqa.core.manifest import Manifest, sha256_file
from clinqa.core.outfolder import MANIFEST
from clinqa.core.progress import Progress
from clinqa.kinds.long_form.answer_reader import AnswerReader
from clinqa.kinds.long_form.clinical import ClinicalScorer, at_risk
from clinqa.kinds.long_form.text.signatures import METRICS
from clinqa.packs.loader import Pack
from clinqa.scoring.identity import labeller_of
from clinqa.scoring.inputs import PREDICTIONS_FILE, Items, Run
from clinqa.scoring.measures import Measure, clinical_measures, status_measures, text_measures
from clinqa.scoring.scored import COLUMNS, ScoredAnswers, score_answers

__all__ = ["check_metrics", "check_scores", "from_runs", "from_scores"]

Floats = npt.NDArray[np.float64]
Sides = tuple[list[Floats], list[Floats]]
_ITEMS, _SCORES = "items.parquet", "scores.json"


def from_runs(
    runs: Sequence[Run], items: Items, pack: Pack, metrics: Sequence[str], progress: Progress
) -> list[Means]:
    """Score every answer of every run; keep what the metrics need."""
    scorer = ClinicalScorer(AnswerReader(pack))
    parts: dict[str, list[Sides]] = {name: [] for name in metrics}
    measures: dict[str, Measure] = {}
    for number, run in enumerate(runs):
        progress("scoring", number, len(runs))
        scored = score_answers(run, items, scorer)
        known = [*text_measures(scored.text.signatures), *_clinical(labeller_of(pack))]
        for name in metrics:
            measures[name] = _named(name, known)
            over, under = (_column(scored, part) for part in _parts(measures[name]))
            parts[name].append(means_of(scored.item, scored.repeat, over, under, len(items)))
    progress("scoring", len(runs), len(runs))
    return [lay_out(parts[name], name, measures[name].signature) for name in metrics]


def check_metrics(metrics: Sequence[str]) -> None:
    """ConfigError for a metric that groups can't be compared by, before anything is scored."""
    for last in (METRICS[-1], f"{METRICS[-1]}_exact_stem"):
        known = [*text_measures(dict.fromkeys((*METRICS[:-1], last), "")), *_clinical("")]
        for name in metrics:
            if not name.startswith(METRICS[-1]):  # which of the two there is, the machine says
                _named(name, known)


def _clinical(labeller: str) -> list[Measure]:
    nothing = np.zeros(len(COLUMNS))
    return [*clinical_measures(nothing, labeller, classes=False), *status_measures()]


def _named(name: str, measures: Sequence[Measure]) -> Measure:
    for measure in measures:
        if measure.name == name and measure.parts is not None:
            return measure
    means = ", ".join(measure.name for measure in measures if measure.parts is not None)
    raise ConfigError(
        f"--metric {name!r}: no mean over answers, so groups have no share in it; there are {means}"
    )


def _parts(measure: Measure) -> tuple[int, int]:
    assert measure.parts is not None
    return measure.parts


def _column(scored: ScoredAnswers, part: int) -> Floats:
    found = np.flatnonzero(scored.columns == part)
    made: Floats = scored.statistics[:, found[0]] if len(found) else np.zeros(len(scored.item))
    return made


def from_scores(
    folder: Path, runs: Sequence[Run], items: Items, dataset: str, metrics: Sequence[str]
) -> list[Means]:
    """What `clinqa score` has written of these very runs; nothing is scored again.

    The figures are those of scoring anew: a row of `items.parquet` holds what the statistics of
    an answer are made of.
    """
    check_scores(folder, runs, dataset)
    signatures = _signatures(folder, runs)
    texts = {name: signatures.get(name, "") for name in METRICS[:-1]}
    last = METRICS[-1] if METRICS[-1] in signatures else f"{METRICS[-1]}_exact_stem"
    known = [*text_measures({**texts, last: signatures.get(last, "")}), *_clinical("")]
    measures = {name: _named(name, known) for name in metrics}
    place = {name: row for row, name in enumerate(items.column("id"))}
    parts: dict[str, list[Sides]] = {name: [] for name in metrics}
    needed = {COLUMNS[part] for measure in measures.values() for part in _parts(measure)}
    table = _rows(folder, {last if name == METRICS[-1] else name for name in needed})
    for run in runs:
        rows = table.filter(pc.equal(table["run"], run.id))
        item = np.array([place.get(name, -1) for name in rows["item_id"].to_pylist()], np.int64)
        rows, item = rows.filter(pa.array(item >= 0)), item[item >= 0]
        repeat = rows["repeat"].to_numpy().astype(np.int64)
        for name, measure in measures.items():
            over, under = (_from_row(rows, COLUMNS[part], last) for part in _parts(measure))
            parts[name].append(means_of(item, repeat, over, under, len(items)))
    return [lay_out(parts[name], name, signatures[name]) for name in metrics]


def check_scores(folder: Path, runs: Sequence[Run], dataset: str) -> None:
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
    for name in (_ITEMS, _SCORES):
        path = folder / name
        if not path.is_file() or sha256_file(path) != stated.get(name):
            raise CheckFailed(f"{path}: not as it was made (SHA-256); score again")


def _signatures(folder: Path, runs: Sequence[Run]) -> dict[str, str]:
    """The signature of each metric."""
    try:
        figures = json.loads((folder / _SCORES).read_text(encoding="utf-8"))["figures"]
        whole = [f for f in figures if not f["subset"] and f["run"] in {run.id for run in runs}]
        found = {str(f["metric"]): str(f["signature"]) for f in whole}
        alike = all(found[f["metric"]] == f["signature"] for f in whole)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckFailed(f"{folder / _SCORES}: cannot be read; score again") from error
    if not alike:
        raise ConfigError(f"--scores {folder}: its runs were scored in different ways")
    return found


def _rows(folder: Path, names: set[str]) -> pa.Table:
    plain = {"run", "repeat", "item_id", "level", "question_type"}
    kinds = {"kind:": "error_kind", "is:": "dangers", "status:": "answer_status"}
    for name in names:
        for start, column in kinds.items():
            if name.startswith(start):
                plain.add(column)
        if name == "is:abstained":
            plain.add("read_class")
    path = folder / _ITEMS
    there = set(pq.read_schema(path).names)
    try:
        # a dictionary for what repeats: a million ids are some thousand
        wide = ["run", "error_kind", "answer_status", "question_type", "read_class"]
        return pq.read_table(path, columns=sorted(plain | (names & there)), read_dictionary=wide)
    except (OSError, pa.ArrowException) as error:
        raise CheckFailed(f"{path}: cannot be read as Parquet; score again") from error


def _from_row(rows: pa.Table, name: str, meteor: str) -> Floats:
    """One of COLUMNS for each row of `items.parquet`."""
    kind, _, what = name.partition(":")
    if name == "pairs":
        return np.ones(len(rows))
    if kind == "kind":
        return _flags(pc.equal(_words(rows, "error_kind"), what))
    if kind == "status":
        return _flags(pc.equal(_words(rows, "answer_status"), what))
    levels = rows["level"]
    if name == "at:abstained":
        return _flags(pc.is_valid(levels))
    if name == "is:abstained":
        said = pc.equal(_words(rows, "read_class"), "unmentioned")
        return _flags(pc.and_(pc.is_valid(levels), said))
    if name == "is:any":
        return _flags(pc.greater(pc.list_value_length(rows["dangers"]), 0))
    if kind == "is":
        return np.array([what in found for found in rows["dangers"].to_pylist()], np.float64)
    if kind == "at":
        pairs = zip(levels.to_pylist(), _words(rows, "question_type").to_pylist(), strict=True)
        return np.array([what in at_risk(*pair) for pair in pairs], np.float64)
    column = rows[meteor if name == METRICS[-1] else name]
    return _flags(column) if column.type == pa.bool_() else column.to_numpy().astype(np.float64)


def _words(rows: pa.Table, name: str) -> pa.ChunkedArray:
    return rows[name].cast(pa.string())


def _flags(column: pa.ChunkedArray) -> Floats:
    made: Floats = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return made
