"""A folder of multiple-choice items in numbers: splits, specialties, options, flags, rejects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clinqa.core.records import SPLITS
from clinqa.kinds.facets.describes import (
    BarPicture,
    BarRow,
    Describes,
    Description,
    Holding,
    Listed,
    Steps,
    Titled,
    Worded,
    added_up,
    basics,
    most_first,
    percent,
    tallied,
    under,
)
from clinqa.kinds.multiple_choice.choices import is_positional

__all__ = ["DESCRIBES", "specialty_picture", "summarise_choices"]

_COLUMNS = (
    *("group", "category", "source_id", "method", "options", "answer_index", "specialties"),
    *("needs_image", "garbled"),
)
_FLAGS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "options speak of others": lambda row: is_positional(row["options"] or ()),
    "needs an image": lambda row: bool(row["needs_image"]),
    "garbled": lambda row: bool(row["garbled"]),
    "several specialties": lambda row: len(row["specialties"] or ()) > 1,
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _describe(held: Holding, _: int, __: Path | None) -> Description:
    values = summarise_choices(held)
    return Description(values, [*_pieces(held, values)], lambda: specialty_picture(values))


def summarise_choices(held: Holding) -> dict[str, Any]:
    """Everything `show` says of a dataset of multiple-choice items, by name.

    `gold` counts the letter that is right as the bank has it.
    """
    manifest = held.manifest
    splits = {split: held.items(split, _COLUMNS).to_pylist() for split in SPLITS}
    rows = [row for own in splits.values() for row in own]
    options = Counter(len(row["options"] or ()) for row in rows)
    rejects = held.table("rejects.parquet", ["stage", "reason"])
    refused = rejects.to_pylist() if rejects is not None else []
    details = manifest.details
    values, _ = basics(held)
    return values | {
        "annotator": str(manifest.configuration.get("annotator", "")),
        "flow": {stage: counts.sum for stage, counts in manifest.counts.items()},
        "splits": {
            split: {"groups": len({row["group"] for row in own}), "items": len(own)}
            for split, own in splits.items()
        },
        "categories": _by_category(splits),
        "banks": _tally(row["source_id"].partition(":")[0] for row in rows),
        "methods": _tally(row["method"] for row in rows),
        "options": {str(size): options[size] for size in sorted(options)},
        "gold": dict(sorted(_tally(_letter(row["answer_index"]) for row in rows).items())),
        "flags": {name: sum(map(is_flagged, rows)) for name, is_flagged in _FLAGS.items()},
        "near_duplicates": {
            "pairs": int(details.get("near_duplicate_pairs", 0)),
            "across splits": int(details.get("leaking_pairs", 0)),
        },
        "rejects": _tally(f"{row['stage']}: {row['reason']}" for row in refused),
    }


def _by_category(splits: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, int]]:
    """Items of each split by category, the largest first."""
    found: dict[str, Counter[str]] = {}
    for split, own in splits.items():
        for row in own:
            found.setdefault(row["category"] or "none", Counter())[split] += 1
    ordered = sorted(found.items(), key=lambda one: (-one[1].total(), one[0]))
    return {name: {split: own[split] for split in SPLITS} for name, own in ordered}


def _tally(values: Iterable[object]) -> dict[str, int]:
    return most_first(Counter(map(str, values)))


def _letter(place: int | None) -> str:
    return _LETTERS[place] if place is not None and 0 <= place < len(_LETTERS) else "none"


def _pieces(held: Holding, values: Mapping[str, Any]) -> Iterator[Titled | Worded | Listed | Steps]:
    splits, near, gold = values["splits"], values["near_duplicates"], values["gold"]
    items = sum(split["items"] for split in splits.values())
    annotator = values["annotator"]
    yield basics(held, f"annotator {annotator}" if annotator else "")[1]
    yield Titled("Flow")
    yield from (Worded(((f"{stage}: {told}", ""),)) for stage, told in values["flow"].items())
    yield added_up(values["reconciles"])
    yield from under(
        "Splits",
        Listed(
            ("split", "groups", "items", "share"),
            [(name, *own.values(), percent(own["items"], items)) for name, own in splits.items()],
        ),
    )
    yield Worded.dim(
        f"near-duplicates: {near['pairs']:,} pairs, {near['across splits']:,} across splits"
    )
    yield from under(
        "Items by specialty and split",
        Listed(
            ("specialty", *splits, "total", "share"),
            [
                (name, *own.values(), sum(own.values()), percent(sum(own.values()), items))
                for name, own in values["categories"].items()
            ],
            total=("all", *(own["items"] for own in splits.values()), items, percent(1.0)),
        ),
    )
    yield from under(
        "Right option, as the banks have it",
        Listed(
            ("letter", "items", "share"),
            [(letter, n, percent(n, items)) for letter, n in gold.items()],
            bars=list(gold.values()),
        ),
    )
    yield from tallied("Items by number of options", values["options"], whole=items)
    yield from tallied("Items by bank", values["banks"], whole=items)
    yield from tallied("Specialty decided by", values["methods"], whole=items)
    yield from tallied("Flags", values["flags"], whole=items)
    yield from tallied("Rejects by stage and reason", values["rejects"])


def specialty_picture(values: Mapping[str, Any]) -> BarPicture:
    """Questions by specialty and split."""
    rows = [
        BarRow(name, tuple(own.items()), f"{sum(own.values()):,}")
        for name, own in values["categories"].items()
    ]
    items = sum(split["items"] for split in values["splits"].values())
    return BarPicture(f"{items:,} questions by specialty and split", rows)


DESCRIBES = Describes(_describe)
