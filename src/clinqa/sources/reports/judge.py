"""From raw rows to studies: out of scope apart, ids as text, text decoded, unusable rows rejected.

All of it by column; only rows that are rejected or hold bad bytes are looked at one by one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bools, Int8s
from clinqa.core.records import Reason, Reject
from clinqa.sources.reports.parquet import is_text
from clinqa.sources.reports.records import (
    MIMIC_III,
    STUDIES,
    BrokenFile,
    RawRows,
    ReportColumns,
    reject,
)

__all__ = ["JudgedRows", "as_ids", "decode", "judge"]

_ISERROR = ["1", "1.0", "true"]


@dataclass(slots=True)
class JudgedRows:
    """Raw rows after judgement; every row is in exactly one of the three."""

    studies: pa.Table
    rejects: list[Reject] = field(default_factory=list)
    out_of_scope: dict[str, int] = field(default_factory=dict)
    bad_bytes: int = 0
    bad_texts: int = 0
    no_group: int = 0


def judge(raw: RawRows, path: Path, layout: ReportColumns, part: str, max_chars: int) -> JudgedRows:
    """Which rows are studies, which are out of scope, which are rejected and why."""
    columns, rows = raw.columns, raw.rows
    out_of_scope: dict[str, int] = {}
    if layout.name == MIMIC_III:
        keep = _in_scope(columns, out_of_scope)
        if not keep.all():
            mask = pa.array(keep)
            columns = {role: column.filter(mask) for role, column in columns.items()}
            rows = rows.filter(mask)
    text, bad_bytes, bad_texts = decode(columns["text"])
    size = len(text)
    fault = np.zeros(size, np.int8)  # 0 is a study
    fault[_too_long(text, max_chars)] = 3
    fault[_blank(text)] = 2
    study = as_ids(columns["study"]) if "study" in columns else None
    if study is not None:
        fault[_blank(study)] = 1
    group = as_ids(columns["subject"]) if "subject" in columns else pa.nulls(size, pa.string())
    no_group = 0
    if "subject" in columns:
        missing = _blank(group)
        if missing.any():
            group = pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), group)
            no_group = int((missing & (fault == 0)).sum())
    rejects = raw.rejects + _rejects(fault, study, rows, path, part)
    if fault.any():
        mask = pa.array(fault == 0)
        text, group, rows = text.filter(mask), group.filter(mask), rows.filter(mask)
        study = study.filter(mask) if study is not None else None
    if study is None:
        study = _ids_from(text)
    parts = pa.repeat(pa.scalar(part, pa.string()), len(text))
    table = pa.Table.from_arrays([study, group, text, rows, parts], schema=STUDIES)
    bad_bytes, bad_texts = bad_bytes + raw.bad_bytes, bad_texts + raw.bad_texts
    return JudgedRows(table, rejects, out_of_scope, bad_bytes, bad_texts, no_group)


def _in_scope(columns: dict[str, pa.Array], counts: dict[str, int]) -> Bools:
    """MIMIC-III: notes of category Echo that nobody marked as an error."""
    category = pc.utf8_lower(pc.utf8_trim_whitespace(as_ids(columns["category"])))
    echo = _bools(pc.equal(category, "echo"))
    error = pc.utf8_lower(pc.utf8_trim_whitespace(as_ids(columns["iserror"])))
    wrong = _bools(pc.is_in(error, value_set=pa.array(_ISERROR)))
    other, iserror = int((~echo).sum()), int((echo & wrong).sum())
    if other:
        counts["other_category"] = other
    if iserror:
        counts["iserror"] = iserror
    return echo & ~wrong


def decode(column: pa.Array) -> tuple[pa.Array, int, int]:
    """Text as large_string; byte sequences that are no UTF-8 become U+FFFD and are counted.

    Gives the text, the number of sequences replaced, and the number of texts that held one.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    raw = column.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string()), 0, 0
    except pa.ArrowInvalid:
        pass
    texts: list[str | None] = []
    bad_bytes = bad_texts = 0
    for value in raw.to_pylist():
        if value is None:
            texts.append(None)
            continue
        try:
            texts.append(value.decode())
        except UnicodeDecodeError:
            mended = value.decode("utf-8", "replace")
            bad_bytes += mended.count("\ufffd") - value.count(b"\xef\xbf\xbd")
            bad_texts += 1
            texts.append(mended)
    return pa.array(texts, pa.large_string()), bad_bytes, bad_texts


def as_ids(column: pa.Array) -> pa.Array:
    """Ids as strings as given; whole numbers of a column of floats lose the ".0" its type put
    there. A CSV has no types: there `1` and `1.0` are two ids."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if is_text(kind):
        return decode(column)[0].cast(pa.string())
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), 2.0**53))
        integers = pc.if_else(whole, column, pa.scalar(None, pa.float64())).cast(pa.int64())
        return pc.coalesce(integers.cast(pa.string()), column.cast(pa.string()))
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BrokenFile(f"an id column is {kind}, which is no id") from error


def _bools(column: pa.Array) -> Bools:
    return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), bool)


def _blank(column: pa.Array) -> Bools:
    """Null, empty or nothing but white space."""
    short = _bools(pc.less(pc.binary_length(column), 1))
    return _bools(column.is_null()) | short | _bools(pc.utf8_is_space(column))


def _too_long(text: pa.Array, max_chars: int) -> Bools:
    # a text has at most as many characters as bytes, so most batches need no counting
    if (pc.max(pc.binary_length(text)).as_py() or 0) <= max_chars:
        return np.zeros(len(text), bool)
    return _bools(pc.greater(pc.utf8_length(text), max_chars))


def _rejects(
    fault: Int8s, study: pa.Array | None, rows: pa.Array, path: Path, part: str
) -> list[Reject]:
    reasons = {1: Reason.NO_STUDY_ID, 2: Reason.EMPTY_TEXT, 3: Reason.TEXT_TOO_LONG}
    found = []
    for place in np.flatnonzero(fault).tolist():
        reason = reasons[int(fault[place])]
        known = study is not None and reason is not Reason.NO_STUDY_ID
        source_id = study[place].as_py() if study is not None and known else ""
        found.append(reject(reason, path, rows[place].as_py(), source_id, part=part))
    return found


def _ids_from(text: pa.Array) -> pa.Array:
    """Ids for studies of a table without an id column: of the text, since a row's number changes
    when rows are sorted."""
    ids = [
        "text-" + hashlib.sha256(memoryview(value.as_buffer())).hexdigest()[:16] for value in text
    ]
    return pa.array(ids, pa.string())
