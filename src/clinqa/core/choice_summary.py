"""What a dataset of multiple-choice items holds, in numbers; `present` draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["ChoiceSummary"]


@dataclass(frozen=True, slots=True)
class ChoiceSummary:
    """All that `show` says of one folder of multiple-choice items."""

    folder: str
    data_class: str
    annotator: str
    flow: Mapping[str, str]
    """Each stage's counts, spelt out."""
    splits: Mapping[str, Mapping[str, int]]
    categories: Mapping[str, Mapping[str, int]]
    """Items by category and split."""
    banks: Mapping[str, int]
    methods: Mapping[str, int]
    options: Mapping[str, int]
    """Items by number of options."""
    gold: Mapping[str, int]
    """Items by the letter that is right as the bank has it."""
    flags: Mapping[str, int]
    """Items that cannot be shuffled, need an image, are garbled, have several specialties."""
    near_duplicates: Mapping[str, int]
    rejects: Mapping[str, int]
    reconciles: bool
    warnings: tuple[str, ...] = field(default=())

    @property
    def items(self) -> int:
        """Items in all."""
        return sum(split["items"] for split in self.splits.values())

    def as_json(self) -> dict[str, Any]:
        """One object for `--json`."""
        return asdict(self)
