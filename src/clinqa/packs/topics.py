"""The topic by which questions of a bank are chosen: terms of a pack, what counts as about it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clinqa.core.errors import ConfigError
from clinqa.packs.loader import pack_folder

__all__ = ["Topic", "load_topic"]

_MAX_BYTES = 200_000
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_ENOUGH = 2


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    id: str
    title: str
    terms: list[str] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its terms; `fingerprint` is that of the file's bytes."""

    id: str
    title: str
    pattern: re.Pattern[str]
    fingerprint: str

    def of(self, question: str, options: tuple[str, ...]) -> bool:
        """Is a question about it: where it asks or answers, or several times anywhere?"""
        asked = _SENTENCE.split(question.strip())[-1]
        if self.pattern.search(asked) or any(map(self.pattern.search, options)):
            return True
        found = {one.casefold() for one in self.pattern.findall(question)}
        return len(found) >= _ENOUGH


@lru_cache(maxsize=4)
def load_topic(name: str) -> Topic:
    """The topic of the pack `name` (its topic.yaml); ConfigError where it has none."""
    path: Path = pack_folder(name) / "topic.yaml"
    if not path.is_file():
        raise ConfigError(f"--topic {name}: no such topic; there is ecg")
    data = path.read_bytes()[: _MAX_BYTES + 1]
    if len(data) > _MAX_BYTES:
        raise ConfigError(f"{path}: larger than {_MAX_BYTES:,} bytes, which no topic needs")
    try:
        spec = _Spec.model_validate(yaml.safe_load(data))
    except (yaml.YAMLError, ValidationError) as error:
        raise ConfigError(
            f"{path}: id, title and a list of terms ({type(error).__name__})"
        ) from error
    longest = sorted(set(spec.terms), key=lambda term: (-len(term), term))
    ways = "|".join(r"\s+".join(map(re.escape, term.split())) for term in longest)
    pattern = re.compile(rf"(?<![\w-])(?:{ways})(?![\w])", re.I)
    return Topic(spec.id, spec.title, pattern, hashlib.sha256(data).hexdigest())
