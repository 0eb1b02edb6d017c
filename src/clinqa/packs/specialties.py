"""The pack of clinical specialties: names, their other names, subjects of banks, prompts, cues.

A name is compared after folding, so that British and American spelling, case and marks do not
matter: "**Paediatrics**" is "Pediatrics".
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import ConfigDict, RootModel

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import Strict
from clinqa.packs.loader import pack_folder, read_spec, refuse_unknown

__all__ = ["Specialties", "VoterPrompt", "builtin_specialties", "fold", "load_specialties"]

_BRITISH = (
    (re.compile(r"ae(?=[a-z])"), "e"),
    (re.compile(r"oe(?=[a-z])"), "e"),
    (re.compile(r"isation\b"), "ization"),
    (re.compile(r"\btumour"), "tumor"),
)
_MARKS = re.compile(r"[*_`#>\"“”„‘’']+")


class SpecialtySpec(Strict):
    """One specialty. `directive` is its title in the Directive where that reads differently."""

    name: str
    directive: str | None = None
    aliases: tuple[str, ...] = ()


class PresetSpec(Strict):
    """Options that go together."""

    min_specialty_size: int
    quorum: int


class _PackSpec(Strict):
    id: str
    title: str
    others: str
    others_aliases: tuple[str, ...]
    specialties: tuple[SpecialtySpec, ...]
    subjects: dict[str, str]
    presets: dict[str, PresetSpec]


class VoterPrompt(Strict):
    """One way to ask; `text` has the blanks {specialties}, {question}, {options}, {examples}."""

    text: str
    max_tokens: int = 24


class _Example(Strict):
    specialty: str
    question: str


class _PromptsSpec(Strict):
    system: str
    example: str
    voters: dict[str, VoterPrompt]
    examples: tuple[_Example, ...]


class _CuesSpec(RootModel[dict[str, list[str]]]):
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)


@dataclass(frozen=True)
class Specialties:
    """A checked pack. `by_name` maps every folded name to the label as it is written."""

    names: tuple[str, ...]
    others: str
    by_name: Mapping[str, str]
    subjects: Mapping[str, str]
    directive: Mapping[str, str]
    presets: Mapping[str, PresetSpec]
    prompts: Mapping[str, VoterPrompt]
    system: str
    example: str
    examples: tuple[tuple[str, str], ...]
    cues: Mapping[str, tuple[str, ...]]
    fingerprint: str

    def resolve(self, text: str) -> str | None:
        """The label that a text names and nothing else; None if it names none.

        >>> builtin_specialties().resolve(" **Paediatrics** ")
        'Pediatrics'
        """
        return self.by_name.get(fold(text))

    def of_subject(self, text: str) -> str | None:
        """The specialty that a bank's subject or topic is; None for a basic science."""
        return self.by_name.get(fold(text)) or self.subjects.get(fold(text))


def fold(text: str) -> str:
    """A name or text for comparing: one case, one spelling, no marks, single blanks.

    >>> fold("Obstetrics & Gynaecology"), fold("ORTHOPÆDICS.")
    ('obstetrics and gynecology', 'orthopedics')
    """
    text = unicodedata.normalize("NFKC", text).replace("æ", "ae").replace("Æ", "ae")
    text = text.replace("œ", "oe").replace("Œ", "oe").casefold()
    text = _MARKS.sub("", text).replace("&", " and ")
    for pattern, plain in _BRITISH:
        text = pattern.sub(plain, text)
    return " ".join(text.split()).strip(" .,:;!?()[]{}-–—")


@lru_cache(maxsize=1)
def builtin_specialties() -> Specialties:
    """The pack that comes with clinqa, loaded once."""
    return load_specialties(pack_folder("specialty"))


def load_specialties(folder: Path) -> Specialties:
    """Load and check the pack in `folder`; a mistake is a ConfigError with file and line."""
    digest = hashlib.sha256()
    pack = read_spec(folder / "pack.yaml", _PackSpec, digest)
    prompts = read_spec(folder / "prompts.yaml", _PromptsSpec, digest)
    cues = read_spec(folder / "cues.yaml", _CuesSpec, digest).root
    by_name = _names(pack, folder / "pack.yaml")
    labels = {spec.name for spec in pack.specialties}
    for subject, label in pack.subjects.items():
        refuse_unknown(f"{folder / 'pack.yaml'}: subjects: {subject}", "specialty", [label], labels)
    used = [example.specialty for example in prompts.examples]
    refuse_unknown(f"{folder / 'prompts.yaml'}", "specialty", used, labels | {pack.others})
    refuse_unknown(f"{folder / 'cues.yaml'}", "specialty", cues, labels)
    return Specialties(
        names=tuple(sorted(labels)),
        others=pack.others,
        by_name=by_name,
        subjects={fold(subject): label for subject, label in pack.subjects.items()},
        directive={s.name: s.directive or s.name for s in pack.specialties},
        presets=pack.presets,
        prompts=prompts.voters,
        system=prompts.system.strip(),
        example=prompts.example,
        examples=tuple((e.question.strip(), e.specialty) for e in prompts.examples),
        cues={name: tuple(fold(word) for word in words) for name, words in cues.items()},
        fingerprint=digest.hexdigest(),
    )


def _names(pack: _PackSpec, where: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for spec in (
        *pack.specialties,
        SpecialtySpec(name=pack.others, aliases=pack.others_aliases),
    ):
        titles = (spec.name, *((spec.directive,) if spec.directive else ()), *spec.aliases)
        for title in titles:
            other = found.setdefault(fold(title), spec.name)
            if other != spec.name:
                raise ConfigError(f"{where}: {title!r} stands for {other} and for {spec.name}")
    return found
