"""What a build of reports is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.progress import Progress, silent
from clinqa.core.records import DataClass

__all__ = ["CONTEXTS", "QUESTIONS", "BuildOptions", "BuildResult", "Progress", "silent"]

QUESTIONS = ("paper", "full")
CONTEXTS = ("findings", "section")


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Everything that `clinqa build echo` can be told."""

    pack: str = "echo"
    pack_dir: Path | None = None
    profile: str = "default"
    questions: str = "paper"
    context: str = "findings"
    text_col: str | None = None
    subject_col: str | None = None
    study_col: str | None = None
    sample_subjects: int | None = None
    # of all items, under `full`: those whose right answer is that the report does not say
    unmentioned_share: float = 0.1
    max_chars: int = 2_000_000
    workers: int | None = None
    engine: str = "auto"
    seed: int = 0
    limit: int | None = None
    data_class: DataClass = DataClass.RESTRICTED
    dry_run: bool = False
    fresh: bool = False
    # reports handled at once; rows do not depend on it
    batch_rows: int = 4096

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if self.questions not in QUESTIONS:
            raise ConfigError(f"--questions must be one of {', '.join(QUESTIONS)}")
        if self.context not in CONTEXTS:
            raise ConfigError(f"--context must be one of {', '.join(CONTEXTS)}")
        if not 0 <= self.unmentioned_share < 1:
            raise ConfigError("--unmentioned-share must be at least 0 and below 1")
        if self.workers is not None and self.workers < 1:
            raise ConfigError("--workers must be at least 1")


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What was made. `notes` are lines for people: what a dry run found, or "already done"."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    already_done: bool = False
