"""What a dataset of statement pairs holds, in numbers: made by `dataset`, drawn by `present`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["DocumentRow", "PairSummary", "RejectRow"]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document: its pages by mode and its pairs by topic. `name` is for people at the screen,
    and stands in no item."""

    md5: str
    name: str
    outcome: str
    pages: int
    modes: Mapping[str, int]
    pairs: int
    topics: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RejectRow:
    """One reason at one stage: how often, and where a few of them stand."""

    stage: str
    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairSummary:
    """All that `show` says of one folder of statement pairs."""

    folder: str
    data_class: str
    generator: str
    funnel: Mapping[str, int]
    sums: Mapping[str, str]
    """Each stage's counts, spelt out."""
    splits: Mapping[str, Mapping[str, int]]
    topics: Mapping[str, int]
    edits: Mapping[str, int]
    denials: Mapping[str, float]
    probe: Mapping[str, Any]
    across: float
    documents: tuple[DocumentRow, ...]
    rejects: tuple[RejectRow, ...]
    reconciles: bool
    warnings: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """One object for `--json`."""
        return asdict(self)
