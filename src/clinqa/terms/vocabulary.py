"""Where terms come from: an ontology opened, mapped to specialties, and ready to be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clinqa.packs.terms import TermPack
from clinqa.sources.terminology.obo import find_hpo, read_obo
from clinqa.terms.hpo import hpo_concepts, hpo_warnings
from clinqa.terms.matcher import Concept, Found, Matcher
from clinqa.terms.options import FindOptions

__all__ = ["Finder", "Vocabulary", "open_vocabulary"]


class Finder(Protocol):
    """Anything that finds concepts in a text."""

    def find(self, text: str) -> Sequence[Found]:
        """The concepts in the text, in order, not overlapping."""
        ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Concepts with specialties, and what finds them. `facts` say where they are from."""

    source: str
    title: str
    concepts: Mapping[str, Concept]
    finder: Finder
    facts: Mapping[str, str]
    warnings: Sequence[str] = field(default_factory=tuple)


def open_vocabulary(options: FindOptions, pack: TermPack) -> Vocabulary:
    """The vocabulary that the options name."""
    return _from_hpo(options, pack)


def _from_hpo(options: FindOptions, pack: TermPack) -> Vocabulary:
    ontology = read_obo(options.hpo or find_hpo())
    concepts = hpo_concepts(ontology, pack)
    names = ((one, ontology.concepts[one].labels) for one in concepts)
    return Vocabulary(
        "hpo",
        f"{ontology.title} {ontology.version}",
        concepts,
        Matcher(names, pack.not_terms),
        {"version": ontology.version, **ontology.sha256},
        hpo_warnings(ontology, pack),
    )
