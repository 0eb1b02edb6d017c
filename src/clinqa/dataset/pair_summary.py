"""A folder of statement pairs in numbers: the funnel, rejects, topics and modes by document."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import Manifest
from clinqa.core.pair_summary import DocumentRow, PairSummary, RejectRow
from clinqa.dataset.reader import open_dataset
from clinqa.dataset.splits import SPLITS
from clinqa.sources.pdf import DOCUMENTS, PAGES

__all__ = ["summarise_pairs"]

_NAMED = 3


def summarise_pairs(folder: Path, examples: int = 0) -> PairSummary:
    """Everything `show` says of a dataset of statement pairs.

    With `examples`, as many places a reason are quoted from the pages.
    """
    dataset = open_dataset(folder)
    manifest = dataset.manifest
    try:
        items = {s: dataset.items(s, ["group", "category", "source_id", "pair_id"]) for s in SPLITS}
        # of statements from banks there are no pages
        listed = {record.name for record in manifest.outputs}
        pages, documents = (
            pq.ParquetFile(folder / name).read() if name in listed else schema.empty_table()
            for name, schema in (("pages.parquet", PAGES), ("documents.parquet", DOCUMENTS))
        )
        rejects = dataset.rejects()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ConfigError(
            f"{folder}: a Parquet file is damaged or lacks a column ({type(error).__name__}); "
            "run `clinqa verify` on the folder"
        ) from error
    topics = manifest.details.get("topics")
    names = topics if isinstance(topics, dict) else {}
    rows = [row for table in items.values() for row in table.to_pylist()]
    return PairSummary(
        folder=str(folder),
        data_class=manifest.data_class,
        generator=str(manifest.configuration.get("generator", "")),
        funnel=dict(manifest.details.get("funnel", {})),
        sums={stage: counts.sum for stage, counts in manifest.counts.items()},
        splits={
            split: {
                "groups": len(set(table["group"].to_pylist())),
                "pairs": len(set(table["pair_id"].to_pylist())),
                "items": table.num_rows,
            }
            for split, table in items.items()
        },
        topics=_pairs_by(rows, "category", names),
        edits=dict(manifest.details.get("edits", {})),
        denials=dict(manifest.details.get("denials", {})),
        probe=dict(manifest.details.get("probe", {})),
        across=float(manifest.details.get("across_splits", 0.0)),
        documents=_documents(documents, pages, rows, names),
        rejects=_rejects(rejects, pages, examples),
        reconciles=not any(counts.problems() for counts in manifest.counts.values()),
        warnings=tuple(_told(manifest)),
    )


def _told(manifest: Manifest) -> list[str]:
    return [str(text) for text in manifest.warnings]


def _pairs_by(rows: list[dict[str, str]], column: str, names: dict[str, str]) -> dict[str, int]:
    pairs = {row["pair_id"]: row[column] for row in rows}
    tally = Counter(names.get(value, value) for value in pairs.values())
    return dict(tally.most_common())


def _documents(
    documents: pa.Table, pages: pa.Table, rows: list[dict[str, str]], names: dict[str, str]
) -> tuple[DocumentRow, ...]:
    modes: dict[str, Counter[str]] = defaultdict(Counter)
    columns = (pages["md5"].to_pylist(), pages["mode"].to_pylist())
    for md5, mode in zip(*columns, strict=True):
        modes[md5][mode] += 1
    own: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        own[row["source_id"]].append(row)
    made = []
    for one in documents.to_pylist():
        topics = _pairs_by(own[one["md5"]], "category", names)
        made.append(
            DocumentRow(
                one["md5"],
                one["name"],
                one["outcome"],
                one["pages"],
                dict(modes[one["md5"]]),
                sum(topics.values()),
                topics,
            )
        )
    return tuple(sorted(made, key=lambda row: (-row.pairs, row.md5, row.name)))


def _rejects(rejects: pa.Table, pages: pa.Table, examples: int) -> tuple[RejectRow, ...]:
    texts = {}
    if examples:
        for row in pages.select(["md5", "page", "text"]).to_pylist():
            texts[row["md5"], row["page"]] = row["text"]
    by_reason: dict[tuple[str, str], list[dict[str, object]]] = defaultdict(list)
    for row in rejects.to_pylist():
        by_reason[row["stage"], row["reason"]].append(row)
    made = [
        RejectRow(
            stage,
            reason,
            len(rows),
            tuple(_example(row, texts) for row in rows[: examples or _NAMED]),
        )
        for (stage, reason), rows in by_reason.items()
    ]
    return tuple(sorted(made, key=lambda row: (-row.count, row.stage, row.reason)))


def _example(row: dict[str, object], texts: dict[tuple[object, object], str]) -> str:
    """Where it stands; with texts also the beginning of what stands there."""
    place = str(row["source_id"])[:8]
    if row["page"] is not None:
        place += f" p.{row['page']}"
    start = row["row"]
    text = texts.get((row["source_id"], row["page"]))
    if text and isinstance(start, int):
        return f"{place}: {' '.join(text[start : start + 160].split())}"
    return f"{place} ({row['detail']})" if row["detail"] and texts else place
