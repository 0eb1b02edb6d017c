"""Contender: the loop of `loop.py` writing the rows of the whole dataset.

Items with ids, contexts, spans and splits, and the table of labels. It leaves out what is no row of
these: the screen, duplicates and conflicts, rejects, the table of statements, the card, hashes.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clinqa.core.schema import SPAN
from clinqa.dataset.splits import SPLITS, split_groups
from clinqa.kinds.long_form.columns import LABELS, LONG_FORM
from clinqa.kinds.long_form.questions import questionnaire
from clinqa.kinds.long_form.statements import folded, template_key
from clinqa.reading.readings import PHASES
from loop import BATCH, POST, Decided, Reports, answer_of, reports
from measure import say
from statements import Statement

_WORD = re.compile(r"[^\W_]")
_PART = "TEXT"


def context_of(text: str, found: list[Statement]) -> str:
    """The sections that hold statements, but for those on what was found after an intervention;
    what lies between two of them where it is no words."""
    parts: list[str] = []
    start = end = last = -1
    for _, stop, _, _, _, phase, number, head in found:
        if phase == POST:
            continue
        if number == last:
            end = stop
            continue
        if end >= 0 and (number == last + 1 or not _WORD.search(text, end, head)):
            end = stop
        else:
            if end >= 0:
                parts.append(text[start:end])
            start, end = head, stop
        last = number
    if end >= 0:
        parts.append(text[start:end])
    return "\n\n".join(parts)


class Spans:
    """A column of lists of spans."""

    def __init__(self) -> None:
        self.offsets = [0]
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.texts: list[str] = []

    def add(self, decided: Decided) -> None:
        for _, start, end, words, _, _, _ in decided[3]:
            self.starts.append(start)
            self.ends.append(end)
            self.texts.append(words.replace("\t", " "))
        self.offsets.append(len(self.starts))

    def array(self) -> pa.Array:
        size = len(self.starts)
        parts = [
            pa.repeat(_PART, size),
            pa.nulls(size, pa.int32()),
            pa.array(self.starts, pa.int64()),
            pa.array(self.ends, pa.int64()),
            pa.array(self.texts, pa.string()),
        ]
        return pa.ListArray.from_arrays(
            pa.array(self.offsets, pa.int32()),
            pa.StructArray.from_arrays(parts, fields=list(SPAN)),
        )


class Batch:
    """Some thousand studies' rows, as lists; contexts are kept once a study."""

    def __init__(self) -> None:
        self.items: dict[str, list[object]] = {n: [] for n in LONG_FORM.names if n != "spans"}
        self.keys: list[int] = []
        self.item_spans = Spans()
        self.labels: dict[str, list[object]] = {n: [] for n in LABELS.names if n != "spans"}
        self.label_spans = Spans()
        self.contexts: list[str] = []

    def tables(self) -> tuple[pa.Table, pa.Table]:
        fixed = {
            "context": pa.DictionaryArray.from_arrays(
                pa.array(self.items["context"], pa.int32()), pa.array(self.contexts, pa.string())
            ),
            "spans": self.item_spans.array(),
        }
        size = len(self.items["id"])
        for name, value in (("kind", "long_form"), ("question_type", "finding")):
            fixed[name] = pa.repeat(value, size)
        items = {
            f.name: fixed.get(f.name) if f.name in fixed else pa.array(self.items[f.name], f.type)
            for f in LONG_FORM
            if f.name not in ("statement_seen", "nearest_in_train")
        }
        items["key"] = pa.array(self.keys, pa.uint64())
        labels = {
            f.name: self.label_spans.array()
            if f.name == "spans"
            else pa.array(self.labels[f.name], f.type)
            for f in LABELS
        }
        return pa.table(items), pa.table(labels)


def build(source: Path, out: Path, job: Reports) -> dict[str, int]:
    """Write the dataset's rows; gives how many."""
    pack = job.pack
    names = job.names
    structures = [spec.structure for spec in pack.abnormalities.values()]
    questions = questionnaire(pack).questions[0]
    phases = [phase.value for phase in PHASES]
    sha256 = hashlib.sha256
    tables: list[tuple[pa.Table, pa.Table]] = []
    groups: set[str] = set()
    batch = Batch()
    for number, (_, study, group, text) in enumerate(reports(source), start=1):
        found = job.statements(text)
        decisions = job.resolver.decide(found)
        if decisions:
            groups.add(group)
            context = len(batch.contexts)
            batch.contexts.append(context_of(text, found))
        for decided in decisions:
            abnormality, phase, level, deciding, flags = decided
            method = "lexicon" if all(one[5] for one in deciding) else "grammar"
            row = batch.labels
            row["study_id"].append(study)
            row["group"].append(group)
            row["abnormality"].append(names[abnormality])
            row["level"].append(level)
            row["method"].append(method)
            row["explicit"].append(bool(flags & 1))
            row["hedged"].append(bool(flags & 2))
            row["phase"].append(phases[phase])
            row["section"].append(deciding[0][4])
            row["prosthesis"].append(bool(flags & 4))
            batch.label_spans.add(decided)
            if phase or level == -50:
                continue
            answer = answer_of(level, deciding)
            question = questions[abnormality]
            parts = ("long_form", study, _PART, "", question, answer)
            row = batch.items
            row["id"].append(sha256("\x1f".join(parts).encode()).hexdigest()[:16])
            row["group"].append(group)
            row["question"].append(question)
            row["context"].append(context)
            row["answer"].append(answer)
            row["category"].append(names[abnormality])
            row["source_id"].append(study)
            row["method"].append(method)
            row["structure"].append(structures[abnormality])
            row["level"].append(level)
            batch.keys.append(
                deciding[0][6] if len(deciding) == 1 else template_key(folded(answer))
            )
            batch.item_spans.add(decided)
        if number % BATCH == 0:
            tables.append(batch.tables())
            batch = Batch()
    tables.append(batch.tables())
    return write(out, tables, split_groups(groups, 0))


def write(
    out: Path, tables: Sequence[tuple[pa.Table, pa.Table]], places: dict[str, int]
) -> dict[str, int]:
    """Divide by patient, say what train has seen, and write."""
    options = {"compression": "zstd", "compression_level": 1, "store_schema": False}
    (out / "data").mkdir(parents=True, exist_ok=True)
    splits = [
        np.array([places[group] for group in items["group"].to_pylist()]) for items, _ in tables
    ]
    train = pc.unique(
        pa.chunked_array(
            [
                chunk
                for (items, _), split in zip(tables, splits, strict=True)
                for chunk in items["key"].filter(pa.array(split == 0)).chunks
            ]
        )
    )
    rows = {}
    for number, name in enumerate(SPLITS):
        writer: pq.ParquetWriter | None = None
        rows[name] = 0
        for (items, _), split in zip(tables, splits, strict=True):
            seen = pc.is_in(items["key"], value_set=train)
            table = items.drop_columns(["key"]).append_column("statement_seen", seen)
            table = table.filter(pa.array(split == number))
            path = out / "data" / f"{name}-00000-of-00001.parquet"
            writer = writer or pq.ParquetWriter(path, table.schema, **options)
            writer.write_table(table)
            rows[name] += len(table)
        if writer is not None:
            writer.close()
    labels = pa.concat_tables([labels for _, labels in tables])
    pq.write_table(labels, out / "labels.parquet", **options)
    return {**rows, "labels": len(labels)}


def main(source: Path, out: Path, given: Path) -> None:
    job = Reports(given)
    say(**build(source, out, job), **job.given)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
