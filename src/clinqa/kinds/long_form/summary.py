"""A dataset of reports in numbers: flow, splits, abnormalities, levels, methods, discord.

Columns are read, never the contexts, so that a million studies are summed in little memory. All
levels are counted in labels.parquet (one baseline label a study and abnormality); items would
count a study several times under `--questions full`, and hold no -50. No text of a record stands
in a summary, so that it may be shown where the reports may not; study ids only in `DiscordCase`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest, StageCounts
from clinqa.core.records import SPLITS, Method, Phase
from clinqa.kinds.facets.describes import Holding, most_first
from clinqa.kinds.long_form.discord import DiscordCase, DiscordRow, DiscordTable, find_discord
from clinqa.kinds.long_form.levels import LEVELS

__all__ = [
    "AbnormalityRow",
    "Flow",
    "SplitRow",
    "Summary",
    "baseline_labels",
    "summarise",
]

STUDY_STAGE, ITEM_STAGE = "studies", "items"


@dataclass(frozen=True, slots=True)
class SplitRow:
    """One split. `seen` counts the items whose deciding statement also decides one in train."""

    name: str
    patients: int
    studies: int
    items: int
    seen: int


@dataclass(frozen=True, slots=True)
class Flow:
    """From notes to items (EchoQA, Figure 1): read = kept + rejected + duplicates + out_of_scope.

    None where the folder does not say.
    """

    read: int | None
    out_of_scope: int | None
    duplicates: int | None
    rejected: int | None
    kept: int | None
    statements: int
    occurrences: int
    labels: int
    items: int
    out_of_scope_by_reason: dict[str, int] = field(default_factory=dict)
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    items_left_out: dict[str, int] = field(default_factory=dict)

    @property
    def reconciles(self) -> bool | None:
        """Whether every note read is accounted for; None where the folder does not say."""
        parts = (self.kept, self.rejected, self.duplicates, self.out_of_scope)
        known = [part for part in parts if part is not None]
        if self.read is None or len(known) < len(parts):
            return None
        return self.read == sum(known)


@dataclass(frozen=True, slots=True)
class AbnormalityRow:
    """One abnormality: items by split, studies by level, and how the studies were labelled."""

    abnormality: str
    items: dict[str, int]
    levels: dict[int, int]
    studies: int
    coverage: float | None
    methods: dict[str, int]
    inferred: int
    hedged: int
    prosthesis: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All that `show` says of one folder."""

    folder: str
    data_class: str
    profile: str
    flow: Flow
    splits: tuple[SplitRow, ...]
    abnormalities: tuple[AbnormalityRow, ...]
    methods: dict[str, int]
    statement_methods: dict[str, int]
    question_types: dict[str, int]
    phases: dict[str, int]
    rejects: dict[str, int]
    discord: tuple[DiscordRow, ...]
    discord_cases: tuple[DiscordCase, ...]
    warnings: tuple[str, ...] = ()
    two_valued: tuple[str, ...] = ()
    """Abnormalities without degrees: of them 1 means present, and not mild."""

    def as_json(self) -> dict[str, Any]:
        """One object for `--json`; level keys become strings, as JSON has them."""
        return {**asdict(self), "reconciles": self.flow.reconciles}


def summarise(held: Holding, discord: DiscordTable | None = None) -> Summary:
    """Everything `show` says of a dataset of reports; ConfigError where a part is missing."""
    folder, manifest = held.folder, held.manifest
    items = _items(folder)
    labels = baseline_labels(folder)
    statements = _table(folder, "statements.parquet")
    per_split = _splits(items)
    counts = _study_counts(manifest)
    rows = _abnormalities(items, labels, counts.kept if counts else None)
    found, cases = find_discord(folder, discord) if discord else ((), ())
    return Summary(
        folder=str(folder),
        data_class=manifest.data_class,
        profile=manifest.told("profile"),
        flow=_flow(manifest, statements, labels, per_split),
        splits=per_split,
        abnormalities=rows,
        methods=_tally(labels, "method"),
        statement_methods=_tally(statements, "method", pl.col("count").sum()),
        question_types=_tally(items, "question_type"),
        phases=_tally(_table(folder, "labels.parquet"), "phase"),
        discord=found,
        discord_cases=cases,
        rejects=_rejects(folder),
        warnings=tuple(manifest.warnings),
        two_valued=_two_valued(manifest),
    )


def baseline_labels(folder: Path) -> pl.LazyFrame:
    """The labels of the studies themselves, without what was found after an intervention."""
    labels = _table(folder, "labels.parquet")
    return labels.filter(pl.col("phase") == Phase.BASELINE.value)


def _table(folder: Path, name: str) -> pl.LazyFrame:
    path = folder / name
    if not path.is_file():
        raise ConfigError(f"{folder}: {name} is missing, so this is no dataset of reports")
    return pl.scan_parquet(path, glob=False)  # a folder may be named [a]


def _items(folder: Path) -> pl.LazyFrame:
    wanted = ["group", "category", "source_id", "question_type", "statement_seen"]
    frames = []
    for split in SPLITS:
        for path in sorted((folder / "data").glob(f"{split}-*.parquet")):
            frame = pl.scan_parquet(path, glob=False).select(wanted)
            frames.append(frame.with_columns(split=pl.lit(split)))
    if not frames:
        raise ConfigError(f"{folder}: data/ holds no Parquet file; build the dataset again")
    return pl.concat(frames)


def _rejects(folder: Path) -> dict[str, int]:
    """Rows of rejects.parquet by stage and reason: studies, and what fell out of kept ones."""
    rows = _table(folder, "rejects.parquet").select(
        pl.concat_str("stage", "reason", separator=": ", ignore_nulls=True).alias("why")
    )
    return _tally(rows, "why")


def _tally(frame: pl.LazyFrame, column: str, count: pl.Expr | None = None) -> dict[str, int]:
    """How many rows (or how much of `count`) each value has; most first, then by name."""
    counted = frame.group_by(column).agg(n=pl.len() if count is None else count)
    rows = counted.collect(engine="streaming").rows()
    named = [("none" if name in (None, "") else str(name), int(n or 0)) for name, n in rows]
    return dict(sorted(named, key=lambda row: (-row[1], row[0])))


def _splits(items: pl.LazyFrame) -> tuple[SplitRow, ...]:
    counted = (
        items.group_by("split")
        .agg(
            patients=pl.col("group").n_unique(),
            studies=pl.col("source_id").n_unique(),
            items=pl.len(),
            seen=pl.col("statement_seen").fill_null(False).sum(),
        )
        .collect(engine="streaming")
    )
    rows = {row["split"]: row for row in counted.iter_rows(named=True)}
    empty = {"patients": 0, "studies": 0, "items": 0, "seen": 0}
    return tuple(
        SplitRow(
            name=split,
            patients=int(row["patients"]),
            studies=int(row["studies"]),
            items=int(row["items"]),
            seen=int(row["seen"]),
        )
        for split in SPLITS
        for row in [rows.get(split, empty)]
    )


_METHODS = (Method.LEXICON, Method.GRAMMAR)  # what decides the labels of reports


def _abnormalities(
    items: pl.LazyFrame, labels: pl.LazyFrame, kept: int | None
) -> tuple[AbnormalityRow, ...]:
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
    rows = []
    for name in sorted({*by_split, *labelled}):
        row = labelled.get(name, nothing)
        studies = int(row["studies"])
        rows.append(
            AbnormalityRow(
                abnormality=name,
                items={split: by_split.get(name, {}).get(split, 0) for split in SPLITS},
                levels={level: int(row[f"level{level}"]) for level in LEVELS},
                studies=studies,
                coverage=studies / kept if kept else None,
                methods={method.value: int(row[method.value]) for method in _METHODS},
                inferred=int(row["inferred"]),
                hedged=int(row["hedged"]),
                prosthesis=int(row["prosthesis"]),
            )
        )
    return tuple(rows)


def _flow(
    manifest: Manifest,
    statements: pl.LazyFrame,
    labels: pl.LazyFrame,
    splits: tuple[SplitRow, ...],
) -> Flow:
    counts = _study_counts(manifest)
    distinct, occurrences = (
        statements.select(pl.len(), pl.col("count").sum()).collect(engine="streaming").row(0)
    )
    return Flow(
        read=counts.read if counts else None,
        out_of_scope=counts.out_of_scope if counts else None,
        duplicates=counts.duplicates if counts else None,
        rejected=counts.rejected if counts else None,
        kept=counts.kept if counts else None,
        statements=int(distinct),
        occurrences=int(occurrences or 0),
        labels=int(labels.select(pl.len()).collect(engine="streaming").item()),
        items=sum(split.items for split in splits),
        out_of_scope_by_reason=most_first(counts.out_of_scope_by_reason if counts else {}),
        rejected_by_reason=most_first(counts.rejected_by_reason if counts else {}),
        items_left_out=_left_out(manifest.counts.get(ITEM_STAGE)),
    )


def _left_out(counts: StageCounts | None) -> dict[str, int]:
    """Why items that were made are not in the dataset."""
    if counts is None:
        return {}
    tally = {**counts.rejected_by_reason, **counts.out_of_scope_by_reason}
    if counts.duplicates:
        tally["duplicates"] = counts.duplicates
    return most_first(tally)


def _study_counts(manifest: Manifest) -> StageCounts | None:
    """The counts of notes and studies: the stage of that name, or else the first there is."""
    for stage in (STUDY_STAGE, *manifest.counts):
        if stage in manifest.counts:
            return manifest.counts[stage]
    return None


def _two_valued(manifest: Manifest) -> tuple[str, ...]:
    names = manifest.details.get("two_valued")
    return tuple(map(str, names)) if isinstance(names, list) else ()
