"""A folder of multiple-choice items in numbers: splits, specialties, options, flags, rejects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.core.choice_summary import ChoiceSummary
from clinqa.core.errors import ConfigError
from clinqa.dataset.reader import Dataset, open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.multiple_choice.positional import is_positional

__all__ = ["summarise_choices"]

_COLUMNS = (
    *("group", "category", "source_id", "method", "options", "answer_index", "specialties"),
    *("needs_image", "garbled"),
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def summarise_choices(folder: Path) -> ChoiceSummary:
    """Everything `show` says of a dataset of multiple-choice items."""
    dataset = open_dataset(folder)
    manifest = dataset.manifest
    try:
        tables = {split: dataset.items(split, list(_COLUMNS)) for split in SPLITS}
        rejects = _rejects(dataset)
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ConfigError(
            f"{folder}: a Parquet file is damaged or lacks a column ({type(error).__name__}); "
            "run `clinqa verify` on the folder"
        ) from error
    rows = [row for table in tables.values() for row in table.to_pylist()]
    categories: dict[str, Counter[str]] = {}
    for split, table in tables.items():
        for category in table["category"].to_pylist():
            categories.setdefault(category or "none", Counter())[split] += 1
    options = Counter(len(row["options"] or ()) for row in rows)
    details = manifest.details
    return ChoiceSummary(
        folder=str(folder),
        data_class=manifest.data_class,
        annotator=str(manifest.configuration.get("annotator", "")),
        flow={stage: counts.sum for stage, counts in manifest.counts.items()},
        splits={
            split: {"groups": len(set(table["group"].to_pylist())), "items": table.num_rows}
            for split, table in tables.items()
        },
        categories={
            name: {split: own[split] for split in SPLITS}
            for name, own in sorted(categories.items(), key=lambda one: (-one[1].total(), one[0]))
        },
        banks=_tally(str(row["source_id"]).partition(":")[0] for row in rows),
        methods=_tally(row["method"] for row in rows),
        options={str(size): options[size] for size in sorted(options)},
        gold=dict(sorted(_tally(_letter(row["answer_index"]) for row in rows).items())),
        flags={
            "options speak of others": sum(is_positional(row["options"] or ()) for row in rows),
            "needs an image": sum(bool(row["needs_image"]) for row in rows),
            "garbled": sum(bool(row["garbled"]) for row in rows),
            "several specialties": sum(len(row["specialties"] or ()) > 1 for row in rows),
        },
        near_duplicates={
            "pairs": int(details.get("near_duplicate_pairs", 0)),
            "across splits": int(details.get("leaking_pairs", 0)),
        },
        rejects=rejects,
        reconciles=not any(counts.problems() for counts in manifest.counts.values()),
        warnings=tuple(map(str, manifest.warnings)),
    )


def _rejects(dataset: Dataset) -> dict[str, int]:
    if not any(record.name == "rejects.parquet" for record in dataset.manifest.outputs):
        return {}
    rows = dataset.rejects().select(["stage", "reason"]).to_pylist()
    return _tally(f"{row['stage']}: {row['reason']}" for row in rows)


def _tally(values: Any) -> dict[str, int]:
    counts = Counter(map(str, values))
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _letter(place: int | None) -> str:
    return _LETTERS[place] if place is not None and 0 <= place < len(_LETTERS) else "none"
