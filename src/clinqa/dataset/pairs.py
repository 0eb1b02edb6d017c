"""Pairs of true and false statements as a dataset's files: two items a pair, never divided.

Splits are drawn by group (a cluster of like source texts, or a whole document), so that both
statements of a pair are in one split and every split is half True, half False, to the item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from clinqa.core.errors import CheckFailed
from clinqa.core.ids import item_id
from clinqa.core.manifest import StageCounts
from clinqa.core.outfolder import make_folder, writing
from clinqa.core.records import Kind, Reject
from clinqa.core.schema import REJECTS
from clinqa.dataset.parquet import ShardedWriter, write_table
from clinqa.dataset.splits import SPLITS, split_groups
from clinqa.kinds.true_false.columns import TRUE_FALSE

__all__ = ["CUTS", "PairRow", "PairsWritten", "pair_items", "write_pairs"]

CUTS = (0.8, 0.9)
_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class PairRow:
    """One pair: its source text with its place, and its two statements."""

    id: str
    group: str
    source_id: str
    part: str
    page: int | None
    start: int
    end: int
    source_text: str
    category: str
    mode: str
    method: str
    true: str
    false: str


@dataclass(frozen=True, slots=True)
class PairsWritten:
    """What was written: rows by file, counts that reconcile, and each split's numbers."""

    rows: Mapping[str, int]
    counts: Mapping[str, StageCounts]
    splits: Mapping[str, Mapping[str, int]]
    """Groups, pairs and items of each split."""


def write_pairs(
    partial: Path,
    pairs: Sequence[PairRow],
    rejects: Sequence[Reject],
    *,
    seed: int,
    private: bool,
    cuts: tuple[float, float] = CUTS,
) -> PairsWritten:
    """Write `data/*.parquet` and `rejects.parquet` into `partial`."""
    places = split_groups((pair.group for pair in pairs), seed, cuts)
    ordered = sorted(pairs, key=lambda pair: (pair.source_id, pair.page or 0, pair.start, pair.id))
    splits: dict[str, dict[str, int]] = {}
    rows: dict[Path, int] = {}
    seen: Counter[str] = Counter()
    with writing(partial):
        make_folder(partial / "data", private=private)
        for number, name in enumerate(SPLITS):
            own = [pair for pair in ordered if places[pair.group] == number]
            file = ShardedWriter(partial / "data", name, TRUE_FALSE, private=private)
            for start in range(0, len(own), _ROWS_AT_ONCE):
                items = pair_items(own[start : start + _ROWS_AT_ONCE])
                seen.update(items["id"].to_pylist())
                file.write(items)
            rows |= file.close()
            splits[name] = {
                "groups": len({pair.group for pair in own}),
                "pairs": len(own),
                "items": file.rows,
            }
        table = pa.Table.from_pylist([asdict(one) for one in _ordered(rejects)], schema=REJECTS)
        rows |= write_table(partial / "rejects.parquet", table, REJECTS, private=private)
    if any(times > 1 for times in seen.values()):
        raise CheckFailed("two items have one id: the same statement twice of one page")
    items = StageCounts(read=2 * len(pairs), kept=sum(one["items"] for one in splits.values()))
    items.check("items")
    named = {path.relative_to(partial).as_posix(): count for path, count in rows.items()}
    return PairsWritten(named, {"items": items}, splits)


def pair_items(pairs: Sequence[PairRow]) -> pa.Table:
    """Two items of each pair, which of them comes first by its id."""
    rows = []
    for pair in pairs:
        own = [_item(pair, label) for label in (True, False)]
        rows += sorted(own, key=lambda item: str(item["id"]))
    return pa.Table.from_pylist(rows, schema=TRUE_FALSE)


def _item(pair: PairRow, label: bool) -> dict[str, object]:
    question, answer = (pair.true, "True") if label else (pair.false, "False")
    kind = Kind.TRUE_FALSE.value
    span = {
        "part": pair.part,
        "page": pair.page,
        "start": pair.start,
        "end": pair.end,
        "text": pair.source_text,
    }
    return {
        "id": item_id(kind, pair.source_id, pair.part, pair.page, question, answer),
        "kind": kind,
        "group": pair.group,
        "question": question,
        "context": "",
        "answer": answer,
        "category": pair.category,
        "source_id": pair.source_id,
        "spans": [span],
        "method": pair.method,
        "label": label,
        "pair_id": pair.id,
        "mode": pair.mode,
        "source_text": " ".join(pair.source_text.split()),
    }


def _ordered(rejects: Sequence[Reject]) -> list[Reject]:
    return sorted(
        rejects,
        key=lambda one: (
            one.stage,
            one.reason.value,
            one.source_id,
            one.part,
            one.page or 0,
            -1 if one.row is None else one.row,
            one.detail,
        ),
    )
