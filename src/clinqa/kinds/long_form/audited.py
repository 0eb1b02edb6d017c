"""Groups of patients compared by the answers on their reports, judged anew or read from scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Floats, Ints
from clinqa.core.predictions import FinishedRun
from clinqa.kinds.facets.audited import PATIENTS, Audited
from clinqa.kinds.facets.judges import JudgedAnswers, SplitItems
from clinqa.kinds.long_form.answer_measures import (
    clinical_measures,
    status_measures,
    text_measures,
)
from clinqa.kinds.long_form.judges import COLUMNS, JudgedWith
from clinqa.kinds.long_form.text.metrics import METRICS
from clinqa.stats.measure import Measure

__all__ = ["AUDITED"]

_METEOR = METRICS[-1]
_WITHOUT_SYNONYMS = f"{_METEOR}_exact_stem"
#: Columns of items.parquet by the start of a column of statistics.
_KEPT = {
    "kind:": "error_kind",
    "is:": "dangers",
    "at:": "at_risk",
    "status:": "answer_status",
}


def _measures(signatures: Mapping[str, str], labeller: str) -> list[Measure]:
    nothing = np.zeros(len(COLUMNS))
    made = [
        *text_measures(signatures),
        *clinical_measures(nothing, labeller, classes=False),
        *status_measures(),
    ]
    return [one for one in made if one.parts is not None]


def _means(told: JudgedWith | Mapping[str, str]) -> list[Measure]:
    """Of answers judged anew; or by the signatures of scores, with which of the two METEORs."""
    if isinstance(told, JudgedWith):
        return _measures(told.signatures, told.labeller)
    last = _METEOR if _METEOR in told else _WITHOUT_SYNONYMS
    found = _measures(dict.fromkeys((*METRICS[:-1], last), ""), "")
    return [replace(one, signature=told.get(one.name, "")) for one in found]


def _kept_with(
    figures: Sequence[Mapping[str, str]], _: Sequence[FinishedRun]
) -> Mapping[str, str] | None:
    """The signature of each metric; None where a metric has two."""
    found = {one["metric"]: one["signature"] for one in figures}
    alike = all(found[one["metric"]] == one["signature"] for one in figures)
    return found if alike else None


def _columns(measures: Sequence[Measure], there: Sequence[str]) -> list[str]:
    """Those that the measures stand on."""
    made = {"level", "question_type"}
    for name in _parts(measures).values():
        made |= {column for start, column in _KEPT.items() if name.startswith(start)}
        if name == "is:abstained":
            made.add("read_class")
        if name == "at:abstained":
            made.add("answer_status")
        text = {name, _WITHOUT_SYNONYMS} if name == _METEOR else {name}
        made |= text & set(there)
    return sorted(made)


def _parts(measures: Sequence[Measure]) -> dict[int, str]:
    return {part: COLUMNS[part] for measure in measures for part in measure.parts or ()}


def _kept(rows: pa.Table, found: Ints, _: SplitItems, measures: Sequence[Measure]) -> JudgedAnswers:
    parts = dict(sorted(_parts(measures).items()))
    columns = np.array(list(parts), np.int64)
    values = [_from_row(rows, name) for name in parts.values()]
    repeat = rows["repeat"].to_numpy().astype(np.int64)
    return JudgedAnswers(found, repeat, columns, np.stack(values, axis=1))


def _from_row(rows: pa.Table, name: str) -> Floats:
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
        answered = pc.equal(_words(rows, "answer_status"), "answered")
        return _flags(pc.and_(pc.is_valid(levels), answered))
    if name == "is:abstained":
        said = pc.equal(_words(rows, "read_class"), "unmentioned")
        return _flags(pc.and_(pc.is_valid(levels), said))
    if name == "is:any":
        return _flags(pc.greater(pc.list_value_length(rows["dangers"]), 0))
    if kind in ("is", "at"):
        column = rows["dangers" if kind == "is" else "at_risk"]
        return np.array([what in found for found in column.to_pylist()], np.float64)
    there = name in rows.column_names
    column = rows[name if there else _WITHOUT_SYNONYMS]
    return _flags(column) if column.type == pa.bool_() else column.to_numpy().astype(np.float64)


def _words(rows: pa.Table, name: str) -> pa.ChunkedArray:
    return rows[name].cast(pa.string())


def _flags(column: pa.ChunkedArray) -> Floats:
    made: Floats = column.to_numpy(zero_copy_only=False).astype(np.float64)
    return made


AUDITED = Audited(
    metric="token_f1",
    who=PATIENTS,
    subject="group",
    asks=("category", "level"),
    strata="abnormality × level of the reference",
    over="answers",
    means=_means,
    known=lambda: _means(dict.fromkeys(METRICS, "")),
    later=(_WITHOUT_SYNONYMS,),
    kept_with=_kept_with,
    kept=_kept,
    columns=_columns,
)
