"""Where terms come from: an ontology opened, mapped to specialties, and ready to be found.

scispaCy, where it is installed: its model says where a term stands, the ontology which it is. Its
linker to the UMLS is not used: it fetches its knowledge base over the network at first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from clinqa.core.errors import ConfigError
from clinqa.packs.terms import TermPack
from clinqa.sources.terminology.obo import find_hpo, read_obo
from clinqa.sources.terminology.records import Ontology
from clinqa.sources.terminology.rf2 import read_rf2
from clinqa.sources.terminology.rrf import read_rrf
from clinqa.terms.matcher import Concept, FoundConcept, NameMatcher
from clinqa.terms.paths import (
    Bridge,
    hpo_concepts,
    hpo_warnings,
    snomed_concepts,
    snomed_warnings,
    umls_concepts,
)
from clinqa.terms.term_options import FindOptions

__all__ = [
    "Finder",
    "SpanFinder",
    "TermVocabulary",
    "load_spacy",
    "open_vocabulary",
]


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
    umls = None if options.umls is None else read_rrf(options.umls, pack.kind_of_type.keys())
    snomed = None if options.snomed is None else read_rf2(options.snomed)
    bridge, warnings = None, hpo_warnings(hpo, pack)
    if snomed is not None:
        branches = pack.snomed(options.concepts)
        bridge, warnings = Bridge(snomed, hpo, pack, branches), snomed_warnings(snomed, branches)
    if umls is not None:
        concepts, read = umls_concepts(umls, hpo, pack, bridge), [umls, hpo, snomed]
    elif snomed is not None and bridge is not None:
        concepts, read = snomed_concepts(snomed, bridge), [snomed, hpo]
    else:
        concepts, read = hpo_concepts(hpo, pack), [hpo]
    there = [one for one in read if one is not None]
    told = [line for one in there for line in one.warnings()]
    made = _made(concepts, pack, there, [*warnings, *told])
    return made if nlp is None else _within_spans(made, nlp)


def _within_spans(made: TermVocabulary, nlp: Any) -> TermVocabulary:
    """The same, found only inside what a spaCy pipeline marks."""
    meta = getattr(nlp, "meta", {})
    name = f"{meta.get('lang', '')}_{meta.get('name', '')} {meta.get('version', '')}".strip()
    assert isinstance(made.finder, NameMatcher)
    return replace(
        made,
        title=f"{made.title} within spans of {name}",
        finder=SpanFinder(nlp, made.finder),
        facts={**made.facts, "spacy_model": name},
    )


def _made(
    concepts: Mapping[str, Concept],
    pack: TermPack,
    read: Sequence[Ontology],
    warnings: Sequence[str],
) -> TermVocabulary:
    """`read` are the ontologies that were read; the first has the names."""
    own, facts = read[0], {"concepts": str(len(concepts))}
    for ontology in read:
        if ontology.version:
            facts[f"version of {ontology.title}"] = ontology.version
        facts |= ontology.sha256
    names = ((one, own.concepts[one].labels) for one in concepts)
    title = f"{own.title} {own.version}".strip()
    return TermVocabulary(title, concepts, NameMatcher(names, pack.not_terms), facts, warnings)


class SpanFinder:
    """Names of an ontology that lie inside what a spaCy pipeline marks as an entity."""

    def __init__(self, nlp: Any, matcher: NameMatcher) -> None:
        self._nlp, self._matcher = nlp, matcher

    def find(self, text: str) -> list[FoundConcept]:
        """The concepts in the text, in order."""
        made = []
        for span in self._nlp(text).ents:
            start, end = int(span.start_char), int(span.end_char)
            made += [
                FoundConcept(one.concept, start + one.start, start + one.end)
                for one in self._matcher.find(text[start:end])
            ]
        return made


def load_spacy(model: str) -> Any:
    """The pipeline `model`: an installed package or a folder; ConfigError where there is none."""
    try:
        spacy = importlib.import_module("spacy")
        importlib.import_module("scispacy")
    except ImportError as error:
        raise ConfigError(
            "--source scispacy: scispaCy is not installed; pip install scispacy, and one of its "
            "models, which are not on PyPI (see its page); or take --source hpo"
        ) from error
    try:
        nlp = spacy.load(model)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(
            f"--spacy-model {model}: no such model is installed ({type(error).__name__}); name an "
            "installed package such as en_core_sci_sm, or a model's folder"
        ) from error
    if not {"ner", "entity_ruler"} & set(nlp.pipe_names):
        raise ConfigError(f"--spacy-model {model}: it marks no entities (no component ner)")
    return nlp
