"""The pack of clinical terms: which branch of an ontology belongs to which specialties.

`terms.yaml` of the pack of specialties; its names of specialties are checked against that pack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import Field

from clinqa.core.errors import ConfigError
from clinqa.core.yamlfile import Strict, read_bytes, validated
from clinqa.packs.loader import MAX_BYTES, pack_folder, refuse_unknown
from clinqa.packs.specialties import Specialties, builtin_specialties

__all__ = ["Branch", "TermPack", "builtin_terms", "load_terms"]

FILE = "terms.yaml"


class Branch(Strict):
    """A concept of an ontology, its name there, and whom what lies under it belongs to."""

    id: str
    name: str
    specialties: tuple[str, ...]


class _HpoSpec(Strict):
    roots: tuple[str, ...] = Field(min_length=1)
    branches: tuple[Branch, ...] = Field(min_length=1)


class _SnomedSpec(Strict):
    paper: tuple[Branch, ...] = Field(min_length=1)
    wider: tuple[Branch, ...] = ()


class _UmlsSpec(Strict):
    disorder: frozenset[str]
    finding: frozenset[str]
    procedure: frozenset[str]
    observable: frozenset[str]
    specialties: dict[str, tuple[str, ...]] = {}


class _Spec(Strict):
    hpo: _HpoSpec
    snomed: _SnomedSpec
    umls: _UmlsSpec
    modifiers: frozenset[str] = frozenset()
    not_terms: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TermPack:
    """A checked pack. `kind_of_type` says what a semantic type of the UMLS is."""

    hpo_roots: tuple[str, ...]
    hpo: Mapping[str, Branch]
    snomed_paper: Mapping[str, Branch]
    snomed_wider: Mapping[str, Branch]
    kind_of_type: Mapping[str, str]
    specialties_of_type: Mapping[str, tuple[str, ...]]
    modifiers: frozenset[str]
    not_terms: frozenset[str]
    fingerprint: str

    def snomed(self, concepts: str) -> dict[str, Branch]:
        """The high-level concepts: `paper`, or `wider` with those of the paper among them."""
        return {**self.snomed_paper, **(self.snomed_wider if concepts == "wider" else {})}


@lru_cache(maxsize=1)
def builtin_terms() -> TermPack:
    """The pack that comes with clinqa, loaded once."""
    return load_terms(pack_folder("specialty") / FILE, builtin_specialties())


def load_terms(path: Path, specialties: Specialties) -> TermPack:
    """Load and check the file at `path`; a mistake is a ConfigError with file and line."""
    data = read_bytes(path, MAX_BYTES)
    spec = validated(path, data, _Spec)
    branches = (*spec.hpo.branches, *spec.snomed.paper, *spec.snomed.wider)
    owners = [(branch.id, branch.specialties) for branch in branches]
    for key, names in (*owners, *spec.umls.specialties.items()):
        line = 1 + data[: max(0, data.find(key.encode()))].count(b"\n")
        refuse_unknown(f"{path}:{line}: {key}", "specialty", names, specialties.names)
    kinds: dict[str, str] = {}
    for name in ("disorder", "finding", "procedure", "observable"):
        for kind in getattr(spec.umls, name):
            if kind in kinds:
                raise ConfigError(f"{path}: umls: {kind} is a {name} and a {kinds[kind]}")
            kinds[kind] = name
    return TermPack(
        hpo_roots=spec.hpo.roots,
        hpo=_by_id(path, spec.hpo.branches),
        snomed_paper=_by_id(path, spec.snomed.paper),
        snomed_wider=_by_id(path, spec.snomed.wider),
        kind_of_type=kinds,
        specialties_of_type=spec.umls.specialties,
        modifiers=spec.modifiers,
        not_terms=spec.not_terms,
        fingerprint=hashlib.sha256(data).hexdigest(),
    )


def _by_id(path: Path, branches: tuple[Branch, ...]) -> dict[str, Branch]:
    found: dict[str, Branch] = {}
    for branch in branches:
        if branch.id in found:
            raise ConfigError(f"{path}: {branch.id} stands twice")
        found[branch.id] = branch
    return found
