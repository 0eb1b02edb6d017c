"""The words of answers: what all packs share, and what one pack adds for its organ."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from clinqa.core.errors import ConfigError
from clinqa.core.manifest import fingerprint
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.kinds.long_form.consequences import consequences_spec
from clinqa.kinds.long_form.discord import load_discord
from clinqa.packs.loader import Pack, refuse_unknown

__all__ = [
    "AnswerWords",
    "NumberSpec",
    "answer_words",
    "lay_words",
    "number_specs",
    "other_findings",
    "structure_parts",
    "value_words",
    "words_fingerprint",
]

_LETTERS = re.compile(r"[^\W\d_]+")
FILE = "answers.yaml"
MAX_BYTES = 1_000_000
SPEC = TypeVar("SPEC", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class AnswerWords(_Strict):
    """`packs/answers.yaml`; each key is explained there."""

    abstain: list[str]
    abstain_alone: list[str]
    undetermined: list[str]
    unable: list[str]
    sources: list[str]
    undescribed: list[str]
    degree: list[str]
    pronouns: list[str]
    contrary: list[str]
    asks: list[str]
    openings: list[str]
    yes: list[str]
    no: list[str]
    adequate: list[str]
    inadequate: list[str]
    unseen: list[str]
    levels: dict[int, list[str]]
    normal: list[str]
    beside: list[str]
    units: list[str]
    unsaid: list[str]
    unsaid_between: list[str]
    means: dict[str, str]
    empty_values: list[str]
    signs: dict[str, str]
    frames: dict[str, list[str]]
    told: list[str]
    fields: list[str]
    takes_back: list[str]
    takes_back_apart: list[str]
    concludes: list[str]
    chatter: list[str]
    explains: list[str]


class _Band(_Strict):
    """From this number up to the next band's: the levels that agree."""

    start: float = Field(alias="from")
    levels: list[int] = Field(min_length=1)


class NumberSpec(_Strict):
    """A number that an answer may give: what it is called, and the levels it agrees with."""

    name: str
    abnormality: str
    phrases: list[str] = Field(min_length=1)
    units: list[str]
    bands: list[_Band] = Field(min_length=1)

    def agreeing(self, low: float, high: float) -> frozenset[int]:
        """The levels that agree with a number between `low` and `high`: all bands it touches."""
        ends = [band.start for band in self.bands[1:]] + [float("inf")]
        return frozenset(
            level
            for at, (band, end) in enumerate(zip(self.bands, ends, strict=True))
            if (at == 0 or high >= band.start) and low < end
            for level in band.levels
        )


class _PackWords(_Strict):
    parts: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    lay: dict[str, str] = {}
    numbers: list[NumberSpec] = []


@lru_cache(maxsize=1)
def answer_words() -> AnswerWords:
    """The English of answers."""
    return _read(Path(str(resources.files("clinqa.packs"))) / FILE, AnswerWords)


def structure_parts(pack: Pack) -> dict[str, list[str]]:
    """By structure, the words for its parts; none where the pack says nothing of answers."""
    parts = _of_pack(pack).parts
    if unknown := sorted(set(parts) - set(pack.structures)):
        raise ConfigError(f"{pack.folder / FILE}: parts: no such structure: {unknown[0]!r}")
    return parts


def other_findings(pack: Pack) -> dict[str, list[str]]:
    """By name, the words of findings that are no level of the pack's abnormalities."""
    return _of_pack(pack).others


def lay_words(pack: Pack) -> dict[str, str]:
    """What the pack's words are called when one speaks to a patient."""
    return _of_pack(pack).lay


def number_specs(pack: Pack) -> list[NumberSpec]:
    """The numbers that answers may give: the pack's own, and those by which reports are checked."""
    made = list(_of_pack(pack).numbers)
    path = pack.folder / "discord.yaml"
    if path.is_file():
        made += [
            NumberSpec.model_validate(
                one.model_dump(include={"name", "abnormality", "phrases", "units"})
                | {"bands": [{"from": band.start, "levels": band.levels} for band in one.bands]}
            )
            for one in load_discord(path).measurements
        ]
    refuse_unknown(str(pack.folder / FILE), "abnormality", (n.abnormality for n in made),
                   pack.abnormalities)  # fmt: skip
    return made


def _of_pack(pack: Pack) -> _PackWords:
    path = pack.folder / FILE
    return _read(path, _PackWords) if path.is_file() else _PackWords()


def value_words(pack: Pack) -> dict[str, frozenset[str]]:
    """By abnormality, the words of which an answer may consist that says a value and names
    nothing else: degrees, denials, doubts, and the words of the abnormality itself."""
    words, english = answer_words(), pack.english
    shared = [*english.ranges, *english.between, *english.scale, *english.grade_words]
    shared += [*english.hedges, *english.plain_words, *english.no_sight, *pack.spec.fillers]
    shared += [*words.beside, *words.units, *words.yes, *words.no]
    for group in (english.bounds, english.values, english.negation, english.inadequate):
        shared += [term for terms in group.values() for term in terms]
    shared += [term for terms in words.levels.values() for term in terms]
    shared += [term for degree in english.degrees for term in degree.terms]
    made = {}
    for name, spec in pack.abnormalities.items():
        own = [spec.name, *pack.spec.structures[spec.structure].terms]
        for key, aspect in pack.spec.aspects.items():
            if spec.aspect in (key, aspect.alias):
                own += [*aspect.attribute, *aspect.finding, *aspect.adjective, *aspect.normal]
                own += [*aspect.up, *aspect.down, *aspect.normal_attribute]
                own += [term for level in aspect.finding_levels for term in level.terms]
        for named in pack.spec.named:
            if (named.structure, named.aspect) == (spec.structure, spec.aspect):
                own += named.terms
        own += [term for row in pack.spec.range_words.get(name, ()) for term in row.terms]
        made[name] = frozenset(_LETTERS.findall(" ".join([*shared, *own]).casefold()))
    return made


def words_fingerprint(pack: Pack) -> str:
    """The SHA-256 of the words of answers and of the table of consequences: with others answers
    would be judged otherwise."""
    parts = [
        answer_words().model_dump(),
        structure_parts(pack),
        other_findings(pack),
        lay_words(pack),
        [one.model_dump() for one in number_specs(pack)],
        consequences_spec(pack).model_dump(mode="json"),
    ]
    return fingerprint({"words": json.dumps(parts, sort_keys=True, default=str)})


def _read(path: Path, model: type[SPEC]) -> SPEC:
    return validated(path, read_bytes(path, MAX_BYTES), model)
