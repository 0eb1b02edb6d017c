"""What `clinqa build bank-tf` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clinqa.core.records import DataClass

__all__ = ["BankTfOptions", "BankTfResult"]


@dataclass(frozen=True, slots=True)
class BankTfOptions:
    """Everything that it can be told."""

    topic: str = "ecg"
    answer_base: int | None = None
    limit: int | None = None
    seed: int = 0
    data_class: DataClass = DataClass.PUBLIC
    dry_run: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class BankTfResult:
    """What was made. `notes` are lines for people."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    already_done: bool = False
