"""What a build of references is told, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = ["GENERATORS", "SPLIT_BY", "ReferenceOptions", "ReferenceResult"]

GENERATORS = ("rules", "llm")
SPLIT_BY = ("cluster", "document")


@dataclass(frozen=True, slots=True)
class ReferenceOptions:
    """Everything a user can choose; see the help of `clinqa build ecg`."""

    generator: str = "rules"
    model: str | None = None
    vision_model: str | None = None
    judge: bool = False
    pack: str = "ecg"
    pack_dir: Path | None = None
    per_page: int = 20
    negation_cap: float = 0.25
    accept_vision: bool = False
    split_by: str = "cluster"
    password_file: Path | None = None
    workers: int | None = None
    seed: int = 0
    limit: int | None = None
    data_class: DataClass = DataClass.LICENSED
    # of a model
    max_tokens: int = 2048
    base_url: str | None = None
    api_key_env: str | None = None
    max_parallel: int = 16
    timeout: float = 300.0
    attestations: Path | None = None
    cache_dir: Path | None = None
    context_window: int | None = None
    dry_run: bool = False
    fresh: bool = False

    def check(self) -> None:
        """Raise ConfigError for choices that cannot be."""
        if self.generator not in GENERATORS:
            raise ConfigError(f"--generator must be one of {', '.join(GENERATORS)}")
        if self.split_by not in SPLIT_BY:
            raise ConfigError(f"--split-by must be one of {', '.join(SPLIT_BY)}")
        if self.generator == "llm" and not self.model:
            raise ConfigError("--generator llm needs --model, such as openai:NAME with --base-url")
        if self.generator == "rules" and self.model:
            raise ConfigError("--model goes with --generator llm; rules ask no model")
        if self.judge and not self.model:
            raise ConfigError("--judge needs --generator llm and --model")
        if self.accept_vision and not self.vision_model:
            raise ConfigError("--accept-vision goes with --vision-model")
        if not 0 <= self.negation_cap <= 1:
            raise ConfigError("--negation-cap: a share from 0 to 1")
        for name, value in (("--per-page", self.per_page), ("--max-tokens", self.max_tokens)):
            if value < 1:
                raise ConfigError(f"{name} must be at least 1")


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """What was made. `notes` are lines for people: what a dry run found, or "already done"."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    already_done: bool = False
