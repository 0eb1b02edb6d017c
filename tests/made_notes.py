"""Small notes for the tests of a build, and ways to build them: in memory, or into a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.builders.reports.batch_items import ItemOptions
from clinqa.builders.reports.batches import BatchBuilder, Built, Recipe
from clinqa.sources.reports import STUDIES, ReportBatch

THYROID = Path(__file__).parent / "data" / "thyroid"

Note = tuple[str, str | None, str]
"""Study, patient, text."""

FULL = ItemOptions(full=True, unmentioned=True)
BY_SECTION = ItemOptions(full=True, by_section=True)


def batch_of(notes: Sequence[Note]) -> ReportBatch:
    """What a reader would hand on."""
    studies, groups, texts = zip(*notes, strict=True) if notes else ((), (), ())
    columns = [studies, groups, texts, range(1, len(notes) + 1), ["text"] * len(notes)]
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, STUDIES, strict=True)]
    return ReportBatch(pa.Table.from_arrays(arrays, schema=STUDIES), [])


@cache
def builder(profile: str = "default", items: ItemOptions = FULL) -> BatchBuilder:
    """One builder for many tests: what it has read before changes nothing."""
    return BatchBuilder(Recipe(profile=profile, engine="python", items=items))


def built(notes: Sequence[Note], profile: str = "default", items: ItemOptions = FULL) -> Built:
    """The tables of some notes."""
    return builder(profile, items).build(batch_of(notes))


def labels_of(text: str, profile: str = "default") -> dict[str, int]:
    """A report's own labels, those of the baseline."""
    rows = built([("s", "p", text)], profile).tables.labels.to_pylist()
    return {row["abnormality"]: row["level"] for row in rows if row["phase"] == "baseline"}


def answers_of(text: str) -> set[tuple[str, int, str]]:
    """Abnormality, level and answer of each item of a report's findings."""
    rows = built([("s", "p", text)]).tables.items.to_pylist()
    return {
        (row["category"], row["level"], row["answer"])
        for row in rows
        if row["question_type"] == "finding"
    }


def write_csv(path: Path, notes: Iterable[Note], *, subjects: bool = True) -> Path:
    """Notes as a table a user might have."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["study_id", "subject_id", "text"] if subjects else ["study_id", "text"])
        for study, patient, text in notes:
            writer.writerow([study, patient, text] if subjects else [study, text])
    return path


def rows_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of a dataset, in an order of its own."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for split in ("train", "validation", "test"):
        files = sorted((folder / "data").glob(f"{split}-*.parquet"))
        found = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        tables[split] = sorted(found, key=lambda row: row["id"])
    for name in ("labels", "statements", "rejects"):
        found = pq.ParquetFile(folder / f"{name}.parquet").read().to_pylist()
        tables[name] = sorted(found, key=lambda row: json.dumps(row, sort_keys=True))
    return tables
