"""What `clinqa train` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.records import DataClass

__all__ = ["MergeOptions", "TrainOptions", "TrainResult"]


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """Everything that `clinqa train` can be told."""

    model: str
    preset: str
    overrides: Sequence[str] = ()  # KEY=VALUE
    seed: int = 0
    limit: int | None = None
    sample: int = 0  # which items a limit takes
    categories: Sequence[str] = ()  # of train and validation; none: all
    leave_out_long: bool = False
    data_class: DataClass | None = None
    device: str | None = None
    threads: int | None = None
    resume: bool = False
    dry_run: bool = False
    fresh: bool = False
    stop_after: int | None = None  # steps of this call, then as after Ctrl-C


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """Everything that merging an adapter into its model can be told."""

    adapter: Path
    model: str | None = None  # None: the name it was trained under
    dtype: str = "float32"
    items: int = 100  # whose greedy answers are compared
    max_tokens: int = 64
    seed: int = 0
    data_class: DataClass | None = None
    device: str | None = None
    threads: int | None = None
    dry_run: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class TrainResult:
    """What was made. `notes` are lines for people."""

    counts: Mapping[str, object]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    already_done: bool = False
