"""What `clinqa terms` is asked for, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.records import DataClass
from clinqa.core.visible import visible
from clinqa.dataset.splits import SPLITS

__all__ = ["CONCEPTS", "SOURCES", "FindOptions", "TermsResult", "check_split"]

SOURCES = ("hpo", "snomed", "umls", "scispacy")
CONCEPTS = ("paper", "wider")


@dataclass(frozen=True, slots=True)
class FindOptions:
    """Everything that `clinqa terms find` can be told.

    `general` is from how many specialties on a term belongs to nobody in particular.
    """

    source: str = "hpo"
    hpo: Path | None = None
    snomed: Path | None = None
    umls: Path | None = None
    spacy_model: str = "en_core_sci_sm"
    concepts: str = "paper"
    general: int = 4
    train: str = "train"
    test: str = "test"
    options_too: bool = True
    draws: int = 1000
    seed: int = 0
    limit: int | None = None
    data_class: DataClass | None = None
    dry_run: bool = False
    fresh: bool = False

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        if self.source not in SOURCES:
            raise ConfigError(f"--source {self.source}: one of {', '.join(SOURCES)}")
        if self.concepts not in CONCEPTS:
            raise ConfigError(f"--concepts {self.concepts}: one of {', '.join(CONCEPTS)}")
        if self.source == "snomed" and self.snomed is None:
            raise ConfigError("--source snomed: name the release's folder with --snomed DIR")
        if self.source == "umls" and self.umls is None:
            raise ConfigError("--source umls: name the folder of MRCONSO.RRF with --umls DIR")
        if self.source in ("hpo", "snomed") and self.umls is not None:
            raise ConfigError(f"--umls has no part in --source {self.source}")
        if self.source == "hpo" and self.snomed is not None:
            raise ConfigError("--snomed has no part in --source hpo")
        if self.general < 2:
            raise ConfigError("--general: from 2 specialties up; 4 as in the paper")
        for flag, split in (("--train", self.train), ("--test", self.test)):
            check_split(flag, split)
        if self.train == self.test:
            raise ConfigError("--train and --test: two splits; of one every term is in both")


def check_split(flag: str, split: str) -> None:
    """Raise ConfigError for a word that names no split."""
    if split not in SPLITS:
        raise ConfigError(f"{flag} {visible(split)}: one of {', '.join(SPLITS)}")


@dataclass(frozen=True, slots=True)
class TermsResult:
    """What was made. `lines` are for people."""

    counts: Mapping[str, int]
    warnings: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    already_done: bool = False
