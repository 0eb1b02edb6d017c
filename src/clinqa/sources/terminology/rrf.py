"""The UMLS in RRF: English names of MRCONSO, semantic types of MRSTY.

Both are the user's own. MRSTY is read first, so that of MRCONSO's ten million rows only those of
the wanted types are kept. Codes of SNOMED CT and of the HPO become cross-references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from clinqa.core.encodings import open_text
from clinqa.core.errors import SourceError
from clinqa.core.hashing import sha256_file
from clinqa.sources.terminology.records import Label, Ontology, RawConcept

__all__ = ["read_rrf"]

CONSO, STY = "MRCONSO.RRF", "MRSTY.RRF"
_WIDTHS = {CONSO: 18, STY: 6}
_XREFS = {"SNOMEDCT_US": "SNOMEDCT_US:{}", "HPO": "{}"}


def read_rrf(folder: Path, types: Collection[str]) -> Ontology:
    """The concepts that have one of these semantic types, with their English names."""
    paths = {name: _find(folder, name) for name in (STY, CONSO)}
    skipped: Counter[str] = Counter()
    guessed: list[str] = []
    concepts: dict[str, RawConcept] = {}
    for row in _rows(paths[STY], STY, skipped, guessed):
        if row[1] in types:
            concept = concepts.setdefault(row[0], RawConcept(row[0], ""))
            if row[1] not in concept.types:
                concept.types.append(row[1])
    for row in _rows(paths[CONSO], CONSO, skipped, guessed):
        why = _name(row, concepts.get(row[0]))
        if why:
            skipped[why] += 1
    kept = {one: concept for one, concept in sorted(concepts.items()) if concept.labels}
    skipped["without_english_name"] = len(concepts) - len(kept)
    for concept in kept.values():
        concept.name = concept.name or concept.labels[0].text
    if not kept:
        raise SourceError(f"{folder}: no concept of the wanted semantic types has an English name")
    shas = {name: sha256_file(path) for name, path in paths.items()}
    left = {k: n for k, n in skipped.items() if n}
    return Ontology("UMLS", "", shas, kept, left, tuple(guessed))


def _name(row: list[str], concept: RawConcept | None) -> str:
    """Add what a row of MRCONSO says to its concept; why it is passed over, else nothing."""
    if concept is None:
        return "of_other_types"
    if row[1] != "ENG":
        return "not_english"
    form = _XREFS.get(row[11])
    if form is not None and (code := form.format(row[13])) not in concept.xrefs:
        concept.xrefs.append(code)
    if row[16] != "N":  # obsolete, or suppressed by the source or the editors
        return "suppressed"
    preferred = row[2] == "P" and row[4] == "PF" and row[6] == "Y"
    if preferred and not concept.name:
        concept.name = row[14]
    concept.labels.append(Label(row[14], 0 if preferred else 1))
    return ""


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / "META" / name):
        if path.is_file():
            return path
    raise SourceError(f"{folder}: no {name}; name the folder (META) of a UMLS release")


def _rows(path: Path, name: str, skipped: Counter[str], guessed: list[str]) -> Iterator[list[str]]:
    """Rows of a file; each field ends with a bar, so one is empty at the end of the line."""
    width = _WIDTHS[name]
    right = 0
    try:
        with open_text(path, "\n") as (file, encoding):
            if encoding.guessed:
                guessed.append(path.name)
            for line in file:
                row = line.rstrip("\r\n").split("|")
                if len(row) == width + 1 and not row[-1] and "\ufffd" not in line:
                    right += 1
                    yield row
                else:
                    skipped["broken_rows"] += 1
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error
    if not right:
        raise SourceError(f"{path}: no row has the {width} fields of {name}")
