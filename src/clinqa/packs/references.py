"""The pack of a builder of references: topics, opposites, units, words that need a picture."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from clinqa.core.errors import ConfigError
from clinqa.packs.loader import line_of, pack_folder, parse_yaml

__all__ = ["PROMPTS", "ReferencePack", "ReferenceSpec", "builtin_reference_pack", "load_references"]

_MAX_BYTES = 2_000_000
PROMPTS = ("draft", "repair", "counterpart", "judge", "transcript")

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Phrases = list[Phrase]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class TopicSpec(_Strict):
    """One of the topics that a statement may be about."""

    name: Phrase
    terms: Phrases


class UnitSpec(_Strict):
    """A unit's spellings, and values one meets with it."""

    spellings: Phrases
    values: list[float]


class VerbsSpec(_Strict):
    """Third person and base form of the verbs that the rules can read."""

    closed: dict[str, Phrase]
    open: dict[str, Phrase]
    functional: Phrases
    moving: Phrases = []
    open_after_be: Phrases
    also_nouns: Phrases = []


class ReferenceSpec(_Strict):
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
    data = _bytes(path)
    digest = hashlib.sha256(data)
    raw, tree = parse_yaml(path, data)
    try:
        spec = ReferenceSpec.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        line = line_of(tree, first["loc"])
        raise ConfigError(f"{path}:{line}: {where}: {first['msg']}") from error
    _check(spec, path)
    prompts = {}
    for name in PROMPTS:
        text = _bytes(folder / "prompts" / f"{name}.txt")
        digest.update(text)
        try:
            prompts[name] = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{folder}/prompts/{name}.txt: not UTF-8") from error
    return ReferencePack(folder, spec, prompts, digest.hexdigest())


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{path}: larger than {_MAX_BYTES:,} bytes, which no pack needs")
    return data


def _check(spec: ReferenceSpec, path: Path) -> None:
    """A word has one opposite in one sense; the same pair twice says nothing new."""
    seen: dict[tuple[str, str], str] = {}
    for kind, pairs in spec.opposites.items():
        for one, other in pairs:
            if one == other:
                raise ConfigError(f"{path}: opposites: {one!r} is set against itself")
            pair = (min(one, other), max(one, other))
            if pair in seen:
                raise ConfigError(f"{path}: opposites: {one!r} and {other!r} stand twice")
            seen[pair] = kind
    spellings: dict[str, str] = {}
    for name, unit in spec.units.items():
        for spelling in unit.spellings:
            if spelling in spellings:
                raise ConfigError(
                    f"{path}: units: {spelling!r} is {spellings[spelling]} and {name}"
                )
            spellings[spelling] = name
