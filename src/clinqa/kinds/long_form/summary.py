"""A dataset of reports in numbers: flow, splits, abnormalities, levels, methods, discord.

Columns are read, never the contexts, so that a million studies are summed in little memory. All
levels are counted in labels.parquet (one baseline label a study and abnormality); items would
count a study several times under `--questions full`, and hold no -50. No text of a record stands
in a summary, so that it may be shown where the reports may not; study ids only among its cases of
discord.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.origin import with_origin
from clinqa.core.records import SPLITS, Method, Phase
from clinqa.kinds.facets.describes import Holding, most_first
from clinqa.kinds.long_form.discord import DiscordTable, find_discord
from clinqa.kinds.long_form.levels import LEVELS

__all__ = [
    "Values",
    "baseline_labels",
    "reconciles",
    "summarise",
]

STUDY_STAGE, ITEM_STAGE = "studies", "items"


Values = Mapping[str, Any]
"""A record of the summary, by the names that stand in --json."""


def reconciles(flow: Values) -> bool | None:
    """Whether every note read is accounted for (EchoQA, Figure 1); None where none is told of."""
    if flow["read"] is None:
        return None
    parts = ("kept", "rejected", "duplicates", "out_of_scope")
    return bool(flow["read"] == sum(flow[part] for part in parts))


def summarise(held: Holding, discord: DiscordTable | None = None) -> dict[str, Any]:
    """Everything `show` says of a dataset of reports; ConfigError where a part is missing.

    `splits` count the items whose deciding statement also decides one in train as `seen`;
    `two_valued` are abnormalities without degrees: of them 1 means present, and not mild.
    """
    manifest = held.manifest
    items = _items(held)
    labels = baseline_labels(held)
    statements = _table(held, "statements.parquet")
    splits = _splits(items)
    counts = _study_counts(manifest)
    found, cases = find_discord(held, discord) if discord else ([], [])
    why = pl.concat_str("stage", "reason", separator=": ", ignore_nulls=True).alias("why")
    flow = _flow(manifest, statements, labels, sum(split["items"] for split in splits))
    return {
        "folder": str(held.folder),
        "data_class": held.data_class.value,
        **with_origin(manifest.origin),
        "profile": manifest.told("profile"),
        "flow": flow,
        "reconciles": reconciles(flow),
        "splits": splits,
        "abnormalities": _abnormalities(items, labels, counts.kept if counts else None),
        "methods": _tally(labels, "method"),
        "statement_methods": _tally(statements, "method", pl.col("count").sum()),
        "question_types": _tally(items, "question_type"),
        "phases": _tally(_table(held, "labels.parquet"), "phase"),
        "discord": found,
        "discord_cases": cases,
        # studies, and what fell out of kept ones
        "rejects": _tally(_table(held, "rejects.parquet").select(why), "why"),
        "warnings": list(manifest.warnings),
        "two_valued": [str(name) for name in manifest.details.get("two_valued", [])],
    }


def baseline_labels(held: Holding) -> pl.LazyFrame:
    """The labels of the studies themselves, without what was found after an intervention."""
    labels = _table(held, "labels.parquet")
    return labels.filter(pl.col("phase") == Phase.BASELINE.value)


def _table(held: Holding, name: str) -> pl.LazyFrame:
    if not any(record.name == name for record in held.manifest.outputs):
        raise ConfigError(f"{held.folder}: {name} is missing, so this is no dataset of reports")
    return held.scan(name)


def _items(held: Holding) -> pl.LazyFrame:
    wanted = ["group", "category", "source_id", "question_type", "statement_seen"]
    frames = []
    for split in SPLITS:
        for name in held.files(split):
            frame = held.scan(name).select(wanted)
            frames.append(frame.with_columns(split=pl.lit(split)))
    if not frames:
        raise ConfigError(f"{held.folder}: data/ holds no Parquet file; build the dataset again")
    return pl.concat(frames)


def _tally(frame: pl.LazyFrame, column: str, count: pl.Expr | None = None) -> dict[str, int]:
    """How many rows (or how much of `count`) each value has; most first, then by name."""
    counted = frame.group_by(column).agg(n=pl.len() if count is None else count)
    rows = counted.collect(engine="streaming").rows()
    named = [("none" if name in (None, "") else str(name), int(n or 0)) for name, n in rows]
    return dict(sorted(named, key=lambda row: (-row[1], row[0])))


def _splits(items: pl.LazyFrame) -> list[dict[str, Any]]:
    counted = items.group_by("split").agg(
        patients=pl.col("group").n_unique(),
        studies=pl.col("source_id").n_unique(),
        items=pl.len(),
        seen=pl.col("statement_seen").fill_null(False).sum(),
    )
    rows = {row.pop("split"): row for row in counted.collect(engine="streaming").to_dicts()}
    empty = {"patients": 0, "studies": 0, "items": 0, "seen": 0}
    return [{"name": split, **rows.get(split, empty)} for split in SPLITS]


_METHODS = (Method.LEXICON, Method.GRAMMAR)  # what decides the labels of reports


def _abnormalities(
    items: pl.LazyFrame, labels: pl.LazyFrame, kept: int | None
) -> list[dict[str, Any]]:
    """Each abnormality: items by split, studies by level, and how the studies were labelled."""
    by_split: dict[str, dict[str, int]] = {}
    counted_items = items.group_by("category", "split").agg(n=pl.len()).collect(engine="streaming")
    for category, split, n in counted_items.iter_rows():
        by_split.setdefault(category, {})[split] = int(n)
    flags = [
        (~pl.col("explicit")).sum().alias("inferred"),
        pl.col("hedged").sum(),
        pl.col("prosthesis").sum(),
        *((pl.col("method") == method.value).sum().alias(method.value) for method in _METHODS),
    ]
    levels = [(pl.col("level") == level).sum().alias(f"level{level}") for level in LEVELS]
    counted = (
        labels.group_by("abnormality")
        .agg(pl.len().alias("studies"), *flags, *levels)
        .collect(engine="streaming")
    )
    labelled = {row["abnormality"]: row for row in counted.iter_rows(named=True)}
    nothing: dict[str, int] = dict.fromkeys(counted.columns, 0)
    return [
        {
            "abnormality": name,
            "items": {split: by_split.get(name, {}).get(split, 0) for split in SPLITS},
            "levels": {level: row[f"level{level}"] for level in LEVELS},
            "studies": row["studies"],
            "coverage": row["studies"] / kept if kept else None,
            "methods": {method.value: row[method.value] for method in _METHODS},
            **{flag: row[flag] for flag in ("inferred", "hedged", "prosthesis")},
        }
        for name in sorted({*by_split, *labelled})
        for row in [labelled.get(name, nothing)]
    ]


def _flow(
    manifest: Manifest, statements: pl.LazyFrame, labels: pl.LazyFrame, items: int
) -> dict[str, Any]:
    """From notes to items; None where the folder does not say."""
    counts, left_out = _study_counts(manifest), manifest.counts.get(ITEM_STAGE)
    distinct, occurrences = (
        statements.select(pl.len(), pl.col("count").sum()).collect(engine="streaming").row(0)
    )
    told = ("read", "out_of_scope", "duplicates", "rejected", "kept")
    reasons = ("out_of_scope_by_reason", "rejected_by_reason")
    return {
        **{name: getattr(counts, name, None) for name in told},
        "statements": distinct,
        "occurrences": occurrences or 0,
        "labels": labels.select(pl.len()).collect(engine="streaming").item(),
        "items": items,
        **{name: most_first(getattr(counts, name, {})) for name in reasons},
        "items_left_out": _left_out(left_out) if left_out else {},
    }


def _left_out(counts: StageCounts) -> dict[str, int]:
    """Why items that were made are not in the dataset."""
    tally = {**counts.rejected_by_reason, **counts.out_of_scope_by_reason}
    return most_first(tally | ({"duplicates": counts.duplicates} if counts.duplicates else {}))


def _study_counts(manifest: Manifest) -> StageCounts | None:
    """The counts of notes and studies: the stage of that name, or else the first there is."""
    stages = manifest.counts
    return stages.get(STUDY_STAGE) or next(iter(stages.values()), None)
