"""The topic by which questions of a bank are chosen: terms of a pack, what counts as about it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from pydantic import Field, StringConstraints

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import Strict
from clinqa.packs.loader import SHIPPED, pack_folder, read_spec

__all__ = ["Topic", "load_topic"]

_MAX_BYTES = 200_000
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_ENOUGH = 2


Phrase = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class _Spec(Strict):
    id: str
    title: str
    itself: list[Phrase] = []
    topics: dict[str, Annotated[list[Phrase], Field(min_length=1)]] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, its terms, and those of what it is made up of; `fingerprint` is that of the file's
    bytes."""

    id: str
    title: str
    pattern: re.Pattern[str]
    parts: Mapping[str, re.Pattern[str]]
    fingerprint: str

    def of(self, question: str, options: tuple[str, ...]) -> bool:
        """Is a question about it: where it asks or answers, or several times anywhere?"""
        asked = _SENTENCE.split(question.strip())[-1]
        if self.pattern.search(asked) or any(map(self.pattern.search, options)):
            return True
        found = {one.casefold() for one in self.pattern.findall(question)}
        return len(found) >= _ENOUGH

    def part_of(self, question: str, answer: str, options: tuple[str, ...]) -> str:
        """What of the topic a question is about: the part most of whose terms it holds; empty
        where it holds the topic's own name alone."""
        asked = _SENTENCE.split(question.strip())[-1]
        for texts in ((asked, answer), (asked, *options), (question, *options)):
            counted = {
                name: len({one.casefold() for text in texts for one in pattern.findall(text)})
                for name, pattern in self.parts.items()
            }
            most = max(counted.values())
            if most:
                return next(name for name, n in counted.items() if n == most)
        return ""


@lru_cache(maxsize=4)
def load_topic(name: str) -> Topic:
    """The topic of the pack `name` (its topic.yaml); ConfigError where it has none."""
    # packs that say which questions are about them
    known = sorted(path.parent.name for path in SHIPPED.glob("*/topic.yaml"))
    if name not in known:
        raise ConfigError(f"--topic {name}: no such topic; there is {', '.join(known)}")
    digest = hashlib.sha256()
    spec = read_spec(pack_folder(name) / "topic.yaml", _Spec, digest, _MAX_BYTES)
    terms = [*spec.itself, *(term for own in spec.topics.values() for term in own)]
    parts = {part: _pattern(own) for part, own in spec.topics.items()}
    return Topic(spec.id, spec.title, _pattern(terms), parts, digest.hexdigest())


def _pattern(terms: Sequence[str]) -> re.Pattern[str]:
    """Any of the terms, the longest first; whole words."""
    longest = sorted(set(terms), key=lambda term: (-len(term), term))
    ways = "|".join(r"\s+".join(map(re.escape, term.split())) for term in longest)
    return re.compile(rf"(?<![\w-])(?:{ways})(?![\w])", re.I)
