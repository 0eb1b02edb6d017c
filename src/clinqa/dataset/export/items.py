"""What of an item an export needs, and how a statement is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["INSTRUCTION", "ExportItem", "asked", "lines"]

INSTRUCTION = "Is the following statement true or false? Answer with one word, True or False."


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One statement with its label."""

    id: str
    pair_id: str
    statement: str
    label: bool
    topic: str
    source_id: str


def asked(item: ExportItem) -> str:
    """The question as a model is asked it."""
    return f"{INSTRUCTION}\n\nStatement: {item.statement}"


def lines(rows: Iterable[Mapping[str, object]]) -> str:
    """JSON, one object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
