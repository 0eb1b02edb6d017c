"""Pairs of true and false statements as a dataset's files: two items a pair, never divided.

Splits are drawn by group (a cluster of like source texts, or a whole document), so that both
statements of a pair are in one split and every split is half True, half False, to the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.core.durable import writing
from clinqa.core.errors import CheckFailed
from clinqa.core.ids import item_id
from clinqa.core.manifest import StageCounts
from clinqa.core.records import SPLITS, Reject
from clinqa.dataset.splits import split_groups
from clinqa.dataset.written import write_rejects, write_splits
from clinqa.kinds.true_false.columns import TRUE_FALSE
from clinqa.kinds.true_false.pairs import FEWEST_PAIRS

__all__ = [
    "CUTS",
    "PAIRS_CHECKED",
    "PAIR_TASKS",
    "PairRow",
    "PairsWritten",
    "probe_section",
    "write_pairs",
]

CUTS = (0.8, 0.9)
PAIR_TASKS = ("question-answering", "text-classification")
PAIRS_CHECKED = (
    "that each pair is whole, balanced and in one split, that its source text is the page's "
    "(`pages.parquet`), and runs the shortcut probe again; with `--source INPUT` what was read is "
    "compared too"
)
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
    own = {
        name: [pair for pair in ordered if places[pair.group] == number]
        for number, name in enumerate(SPLITS)
    }
    ids: list[str] = []
    tables = {name: _pieces(pairs, ids) for name, pairs in own.items()}
    with writing(partial):
        rows = write_splits(partial, tables, TRUE_FALSE, private=private)
        rows |= write_rejects(partial, rejects, private=private)
    if len(set(ids)) < len(ids):
        raise CheckFailed("two items have one id: the same statement twice of one page")
    splits = {
        name: {
            "groups": len({pair.group for pair in pairs}),
            "pairs": len(pairs),
            "items": 2 * len(pairs),
        }
        for name, pairs in own.items()
    }
    items = StageCounts(read=2 * len(pairs), kept=sum(one["items"] for one in splits.values()))
    items.check("items")
    return PairsWritten(rows, {"items": items}, splits)


def _pieces(pairs: Sequence[PairRow], ids: list[str]) -> Iterator[pa.Table]:
    """Two items of each pair, which of them comes first by its id; `ids` gets those of all."""
    for start in range(0, len(pairs), _ROWS_AT_ONCE):
        rows = []
        for pair in pairs[start : start + _ROWS_AT_ONCE]:
            both = (_item(pair, label) for label in (True, False))
            rows += sorted(both, key=lambda item: str(item["id"]))
        table = pa.Table.from_pylist(rows, schema=TRUE_FALSE)
        ids += table["id"].to_pylist()
        yield table


def probe_section(found: Mapping[str, Any]) -> str:
    """What the card says of the shortcut probe."""
    head = (
        "A bag-of-words classifier that sees the statement alone, cross-validated by pair. At 0.5 "
        "the wording gives no label away; above it, a model may score without knowing anything. "
        "Below 0.5 is no shortcut: where each word is as often true as false, what is left after "
        "some pairs are taken out leans the other way.\n\n"
    )
    if not isinstance(found["accuracy"], float):
        return f"{head}Not run: fewer than {FEWEST_PAIRS} pairs.\n"
    return (
        f"{head}Accuracy **{found['accuracy']:.3f}** (95 % interval over pairs {found['low']:.3f} "
        f"to {found['high']:.3f}; {found['n']:,} items, {found['clusters']:,} pairs; "
        f"{found['signature']}).\n"
    )


def _item(pair: PairRow, label: bool) -> dict[str, object]:
    question, answer = (pair.true, "True") if label else (pair.false, "False")
    kind = "true_false"
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
