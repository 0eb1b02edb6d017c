"""What `clinqa build bank-tf` is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from clinqa.core.records import DataClass

__all__ = ["BankTfOptions"]


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
