"""scispaCy, where it is installed: its model says where a term stands, the ontology which it is.

Its linker to the UMLS is not used: it fetches its knowledge base over the network at first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from clinqa.core.errors import ConfigError
from clinqa.terms.matcher import FoundConcept, NameMatcher

__all__ = ["SpanFinder", "load_spacy"]


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
