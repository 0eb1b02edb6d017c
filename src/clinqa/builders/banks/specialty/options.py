"""What a build of questions by specialty is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.builders.banks.gather import NEAR
from clinqa.builders.banks.specialty.multi import SetOptions
from clinqa.builders.banks.specialty.votes import QUORUMS
from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass

__all__ = ["ANNOTATORS", "SpecialtyOptions", "SpecialtyResult"]

ANNOTATORS = ("classifier", "llm", "metadata")


@dataclass(frozen=True, slots=True)
class SpecialtyOptions:
    """Everything that `clinqa build specialty` can be told."""

    annotator: str = "classifier"
    expert: tuple[Path, ...] = ()
    annotations: tuple[Path, ...] = ()
    metadata_first: bool = False
    quorum: int = 3
    min_specialty_size: int = 1
    sets: SetOptions = field(default_factory=SetOptions)
    near: float = NEAR
    drop_leaks: bool = False
    drop_flagged: bool = False
    meaning: bool = True  # sentence embeddings where the package is installed
    answer_base: int | None = None
    limit: int | None = None
    seed: int = 0
    data_class: DataClass = DataClass.PUBLIC
    dry_run: bool = False
    fresh: bool = False
    # of the annotator `llm`
    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    max_parallel: int = 32
    timeout: float = 120.0
    max_cost: float | None = None
    price_file: Path | None = None
    attestations: Path | None = None

    def check(self) -> None:
        """Raise ConfigError for what cannot be."""
        if self.annotator not in ANNOTATORS:
            raise ConfigError(f"--annotator must be one of {', '.join(ANNOTATORS)}")
        if self.annotator == "llm" and not self.model:
            raise ConfigError(
                "--annotator llm needs a model: --model embedded:smollm2, openai:NAME"
            )
        if self.annotator != "llm" and self.model:
            raise ConfigError("--model goes with --annotator llm")
        if self.annotator == "classifier" and not self.expert:
            raise ConfigError(
                "the classifier learns from questions that an expert has labelled: give "
                "--expert FILE (with a column specialty), or --annotator llm or metadata"
            )
        if self.quorum not in QUORUMS:
            raise ConfigError(f"--quorum must be one of {', '.join(map(str, QUORUMS))}")
        if self.min_specialty_size < 1:
            raise ConfigError("--min-specialty-size must be at least 1")
        if not 0 < self.near <= 1:
            raise ConfigError("--near must be above 0 and at most 1")
        if self.max_cost is not None and self.price_file is None:
            raise ConfigError("--max-cost needs --prices")
        self.sets.check()


@dataclass(frozen=True, slots=True)
class SpecialtyResult:
    """What was made. `notes` are lines for people."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    already_done: bool = False
