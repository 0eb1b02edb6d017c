"""The files of a dataset of multiple-choice questions, inside a partial folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinqa.builders.banks.specialty.votes import Vote
from clinqa.core.cells import csv_text
from clinqa.core.durable import make_folder, write_durably
from clinqa.core.figures import Figure
from clinqa.core.ids import item_id
from clinqa.dataset.parquet import write_table
from clinqa.dataset.written import rows_by_name, write_splits
from clinqa.kinds.multiple_choice.columns import MULTIPLE_CHOICE
from clinqa.sources.banks import BankItem

__all__ = [
    "VOTES",
    "Kept",
    "write_figures",
    "write_items",
    "write_table_csv",
    "write_votes",
]

VOTES = pa.schema(
    [
        ("source_id", pa.string()),
        ("outcome", pa.string()),
        ("voter", pa.string()),
        ("label", pa.string()),
        ("why", pa.string()),
        ("raw", pa.string()),
    ]
)
_PIECE = 8192


@dataclass(frozen=True, slots=True)
class Kept:
    """A question that becomes an item."""

    item: BankItem
    group: str
    split: str
    category: str
    specialties: list[str]
    votes: list[Vote]
    method: str
    needs_image: bool
    garbled: bool

    def row(self) -> dict[str, Any]:
        item = self.item
        kind = "multiple_choice"
        return {
            "id": item_id(kind, item.source_id, "", None, item.question, item.answer),
            "kind": kind,
            "group": self.group,
            "question": item.question,
            "context": "",
            "answer": item.answer,
            "category": self.category,
            "source_id": item.source_id,
            "spans": [],
            "method": self.method,
            "options": list(item.options),
            "answer_index": item.answer_index,
            "specialties": self.specialties,
            "votes": [vote.as_struct() for vote in self.votes],
            "needs_image": self.needs_image,
            "garbled": self.garbled,
        }


def write_items(partial: Path, kept: Sequence[Kept], *, private: bool) -> dict[str, int]:
    """The three splits; rows of a file in the order of their ids, whatever the input's was."""
    own: dict[str, list[dict[str, Any]]] = {}
    for one in kept:
        own.setdefault(one.split, []).append(one.row())
    tables = {split: _pieces(rows) for split, rows in own.items()}
    return write_splits(partial, tables, MULTIPLE_CHOICE, private=private)


def _pieces(rows: list[dict[str, Any]]) -> Iterator[pa.Table]:
    rows.sort(key=lambda row: row["id"])
    for start in range(0, len(rows), _PIECE):
        yield pa.Table.from_pylist(rows[start : start + _PIECE], schema=MULTIPLE_CHOICE)


def write_votes(
    partial: Path,
    items: Sequence[BankItem],
    votes: Sequence[Sequence[Vote]],
    outcomes: Sequence[str],
    *,
    private: bool,
) -> dict[str, int]:
    """Every vote with its raw reply, of items and of rejected questions alike."""
    columns: dict[str, list[str | None]] = {name: [] for name in VOTES.names}
    for item, own, outcome in zip(items, votes, outcomes, strict=True):
        for vote in own:
            values = (item.source_id, outcome, vote.voter, vote.label, vote.why, vote.raw)
            for name, value in zip(VOTES.names, values, strict=True):
                columns[name].append(value)
    table = pa.table(columns, schema=VOTES)
    return rows_by_name(
        partial, write_table(partial / "votes.parquet", table, VOTES, private=private)
    )


def write_table_csv(
    partial: Path, name: str, rows: Sequence[Mapping[str, Any]], *, private: bool
) -> dict[str, int]:
    """`tables/NAME.csv`; no cell is a formula."""
    header = list(rows[0]) if rows else ["nothing"]
    text = csv_text(header, [[row[key] for key in header] for row in rows])
    if not (partial / "tables").exists():
        make_folder(partial / "tables", private=private)
    path = partial / "tables" / f"{name}.csv"
    write_durably(path, text.encode("utf-8"), private=private)
    return {f"tables/{name}.csv": len(rows)}


def write_figures(
    partial: Path, figures: Sequence[Figure], extra: Mapping[str, Any], *, private: bool
) -> None:
    """`figures.json`: every figure with its interval, and what the sets are worth."""
    body = {"figures": [figure.as_json() for figure in figures], **extra}
    text = json.dumps(body, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_durably(partial / "figures.json", text.encode("utf-8"), private=private)
