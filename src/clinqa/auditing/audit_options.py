"""What `clinqa audit` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.scoring.score_options import ScoreOptions

__all__ = ["OVER", "AuditOptions", "AuditResult"]

OVER = ("patients", "tracts", "items")


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Everything that `clinqa audit` can be told."""

    groups: Sequence[Path] = ()
    tract_map: Path | None = None
    metrics: Sequence[str] = ()  # token_f1, or accuracy of statements, unless given
    dimensions: Sequence[str] = ()
    intersect: Sequence[Sequence[str]] = ()
    continuous: Sequence[str] = ()
    categorical: Sequence[str] = ()
    quantiles_over: str = "patients"
    min_patients: int = 10
    patient_column: str | None = None
    tract_column: str | None = None
    missing: Sequence[str] = ()
    scores: Path | None = None
    draws: int = 1000
    permutations: int = 1000
    pack_dir: Path | None = None
    data_class: DataClass | None = None
    seed: int = 0
    limit: int | None = None
    dry_run: bool = False
    fresh: bool = False

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if not self.groups:
            raise ConfigError("--groups: give at least one table of patients, tracts or documents")
        if self.quantiles_over not in OVER:
            raise ConfigError(f"--quantiles-over: one of {', '.join(OVER)}")
        if self.min_patients < 2:
            raise ConfigError("--min-patients: at least 2, or a figure is one person's")
        if self.draws < 100 or self.permutations < 100:
            raise ConfigError("--resamples and --permutations: at least 100 each")
        if len(set(self.metrics)) < len(self.metrics):
            raise ConfigError("--metric: give each metric once")

    @property
    def scoring(self) -> ScoreOptions:
        """The same for the functions of `score`."""
        return ScoreOptions(
            pack_dir=self.pack_dir,
            draws=self.draws,
            seed=self.seed,
            limit=self.limit,
            data_class=self.data_class,
        )


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What was made. `lines` are for people."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    already_done: bool = False
