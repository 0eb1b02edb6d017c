"""The pack of a builder of references: topics, opposites, units, words that need a picture."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import Strict
from clinqa.packs.loader import pack_folder, read_spec, read_text
from clinqa.packs.schema import Phrase, Phrases

__all__ = ["PROMPTS", "ReferencePack", "ReferenceSpec", "builtin_reference_pack", "load_references"]

_MAX_BYTES = 2_000_000
PROMPTS = ("draft", "repair", "counterpart", "judge", "transcript")


class TopicSpec(Strict):
    """One of the topics that a statement may be about."""

    name: Phrase
    terms: Phrases


class UnitSpec(Strict):
    """A unit's spellings, and values one meets with it."""

    spellings: Phrases
    values: list[float]


class VerbsSpec(Strict):
    """Third person and base form of the verbs that the rules can read."""

    closed: dict[str, Phrase]
    open: dict[str, Phrase]
    functional: Phrases
    moving: Phrases = []
    open_after_be: Phrases
    also_nouns: Phrases = []


class ReferenceSpec(Strict):
    """`pack.yaml` of a pack of references."""

    id: Phrase
    title: Phrase
    document: Phrase
    topics: dict[str, TopicSpec] = Field(min_length=1)
    abbreviations: Phrases
    context_words: Phrases
    first_words: Phrases
    openings: Phrases
    paper_words: Phrases
    hedges: Phrases
    image_phrases: Phrases
    negation: Phrases
    verbs: VerbsSpec
    opposites: dict[str, list[tuple[Phrase, Phrase]]]
    kin: list[Phrases] = []
    ordinals: Phrases
    degrees: Phrases
    number_words: Phrases
    units: dict[str, UnitSpec]


@dataclass(frozen=True)
class ReferencePack:
    """A checked pack. `fingerprint` is the SHA-256 of its files' bytes."""

    folder: Path
    spec: ReferenceSpec
    prompts: dict[str, str]
    fingerprint: str

    def __hash__(self) -> int:
        return hash(self.fingerprint)


@lru_cache(maxsize=4)
def builtin_reference_pack(name: str = "ecg") -> ReferencePack:
    """A pack that comes with clinqa, loaded once."""
    return load_references(pack_folder(name))


def load_references(folder: Path) -> ReferencePack:
    """Load and check the pack in `folder`; a mistake is a ConfigError with file and line."""
    path = folder / "pack.yaml"
    digest = hashlib.sha256()
    spec = read_spec(path, ReferenceSpec, digest, _MAX_BYTES)
    _check(spec, path)
    prompts = {
        name: read_text(folder / "prompts" / f"{name}.txt", digest, _MAX_BYTES) for name in PROMPTS
    }
    return ReferencePack(folder, spec, prompts, digest.hexdigest())


def _check(spec: ReferenceSpec, path: Path) -> None:
    """A word has one opposite in one sense; the same pair twice says nothing new."""
    seen: set[tuple[str, str]] = set()
    for one, other in (pair for pairs in spec.opposites.values() for pair in pairs):
        if one == other:
            raise ConfigError(f"{path}: opposites: {one!r} is set against itself")
        pair = (min(one, other), max(one, other))
        if pair in seen:
            raise ConfigError(f"{path}: opposites: {one!r} and {other!r} stand twice")
        seen.add(pair)
    spellings: dict[str, str] = {}
    for name, unit in spec.units.items():
        for spelling in unit.spellings:
            if spelling in spellings:
                raise ConfigError(
                    f"{path}: units: {spelling!r} is {spellings[spelling]} and {name}"
                )
            spellings[spelling] = name
