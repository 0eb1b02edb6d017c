"""What `clinqa score` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = ["ScoreOptions", "ScoreResult"]


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Everything that `clinqa score` can be told."""

    primary: str = "token_f1"
    family: str = "all"
    human: Path | None = None
    pack_dir: Path | None = None
    draws: int = 1000
    seed: int = 0
    limit: int | None = None
    data_class: DataClass | None = None
    # of true_false items
    ensembles: tuple[str, ...] = ()
    search: int | None = None
    ensemble_from: Path | None = None
    against: tuple[Path, ...] = ()
    # of multiple_choice items
    reader: str = ""  # the reading that decides the declared tests; "": the first all runs have
    annotated: Path | None = None  # outputs that the matcher is trained on
    dry_run: bool = False
    fresh: bool = False

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if self.draws < 100:
            raise ConfigError("--resamples must be at least 100")
        if self.family != "all" and not self.family.startswith("vs:"):
            raise ConfigError("--family must be all or vs:RUN")


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """What was made. `lines` are for people: the main figures, or "already done"."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    already_done: bool = False
