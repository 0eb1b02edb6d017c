"""Where terms come from: an ontology opened, mapped to specialties, and ready to be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from clinqa.packs.terms import TermPack
from clinqa.sources.terminology.obo import find_hpo, read_obo
from clinqa.sources.terminology.records import Ontology
from clinqa.sources.terminology.rf2 import read_rf2
from clinqa.sources.terminology.rrf import read_rrf
from clinqa.terms.hpo import hpo_concepts, hpo_warnings
from clinqa.terms.matcher import Concept, FoundConcept, NameMatcher
from clinqa.terms.snomed import Bridge, snomed_concepts, snomed_warnings
from clinqa.terms.spans import SpanFinder, load_spacy
from clinqa.terms.term_options import FindOptions
from clinqa.terms.umls import umls_concepts

__all__ = ["Finder", "TermVocabulary", "open_vocabulary"]


class Finder(Protocol):
    """Anything that finds concepts in a text."""

    def find(self, text: str) -> Sequence[FoundConcept]:
        """The concepts in the text, in order, not overlapping."""


@dataclass(frozen=True, slots=True)
class TermVocabulary:
    """Concepts with specialties, and what finds them. `facts` say where they are from."""

    title: str
    concepts: Mapping[str, Concept]
    finder: Finder
    facts: Mapping[str, str]
    warnings: Sequence[str] = ()


def open_vocabulary(options: FindOptions, pack: TermPack) -> TermVocabulary:
    """The vocabulary that the options name."""
    nlp = load_spacy(options.spacy_model) if options.source == "scispacy" else None
    hpo = read_obo(options.hpo or find_hpo())
    if options.umls is not None:
        made = _umls(options.umls, options, hpo, pack)
    elif options.snomed is not None:
        made = _snomed(options.snomed, options, hpo, pack)
    else:
        made = _hpo(hpo, pack)
    if nlp is None:
        return made
    meta = getattr(nlp, "meta", {})
    name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}".strip()
    assert isinstance(made.finder, NameMatcher)
    return replace(
        made,
        title=f"{made.title} within spans of {name}",
        finder=SpanFinder(nlp, made.finder),
        facts={**made.facts, "spacy_model": name},
    )


def _hpo(hpo: Ontology, pack: TermPack) -> TermVocabulary:
    concepts = hpo_concepts(hpo, pack)
    return _made(hpo, concepts, pack, [hpo], hpo_warnings(hpo, pack))


def _snomed(folder: Path, options: FindOptions, hpo: Ontology, pack: TermPack) -> TermVocabulary:
    snomed = read_rf2(folder)
    branches = pack.snomed(options.concepts)
    bridge = Bridge(snomed, hpo, pack, branches)
    concepts = snomed_concepts(snomed, bridge)
    return _made(snomed, concepts, pack, [snomed, hpo], snomed_warnings(snomed, branches))


def _umls(folder: Path, options: FindOptions, hpo: Ontology, pack: TermPack) -> TermVocabulary:
    umls = read_rrf(folder, pack.kind_of_type.keys())
    read = [umls, hpo]
    bridge, warnings = None, hpo_warnings(hpo, pack)
    if options.snomed is not None:
        snomed = read_rf2(options.snomed)
        branches = pack.snomed(options.concepts)
        bridge = Bridge(snomed, hpo, pack, branches)
        warnings = snomed_warnings(snomed, branches)
        read.append(snomed)
    if umls.skipped.get("broken_rows"):
        warnings = [
            *warnings, f"{umls.skipped['broken_rows']:,} rows of the UMLS could not be read"
        ]  # fmt: skip
    return _made(umls, umls_concepts(umls, hpo, pack, bridge), pack, read, warnings)


def _made(
    own: Ontology,
    concepts: Mapping[str, Concept],
    pack: TermPack,
    read: Sequence[Ontology],
    warnings: Sequence[str],
) -> TermVocabulary:
    facts = {"concepts": str(len(concepts))}
    for ontology in read:
        if ontology.version:
            facts[f"version of {ontology.title}"] = ontology.version
        facts |= ontology.sha256
    names = ((one, own.concepts[one].labels) for one in concepts)
    title = f"{own.title} {own.version}".strip()
    return TermVocabulary(title, concepts, NameMatcher(names, pack.not_terms), facts, warnings)
