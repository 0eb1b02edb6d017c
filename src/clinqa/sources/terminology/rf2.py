"""A release of SNOMED CT in RF2: concepts, English names, inferred is-a relationships.

The files of the snapshot are found by their names anywhere under the folder, an extension's beside
the international ones; of two rows with one id the later holds. The release is the user's own: it
needs a licence, and nothing of it is part of clinqa.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from clinqa.core.encodings import open_text
from clinqa.core.errors import SourceError
from clinqa.core.hashing import sha256_file
from clinqa.sources.terminology.records import Label, Ontology, RawConcept

__all__ = ["KINDS", "read_rf2"]

_FILE = re.compile(
    r"x?sct2_(Concept|Description|Relationship)_\w*?Snapshot(?:-([\w-]+))?_\w+_(\d{8})\.txt"
)
_COLUMNS = {
    "Concept": ("id", "effectiveTime", "active", "moduleId", "definitionStatusId"),
    "Description": (
        "id", "effectiveTime", "active", "moduleId", "conceptId", "languageCode", "typeId", "term",
        "caseSignificanceId",
    ),
    "Relationship": (
        "id", "effectiveTime", "active", "moduleId", "sourceId", "destinationId",
        "relationshipGroup", "typeId", "characteristicTypeId", "modifierId",
    ),
}  # fmt: skip
_FULL_NAME, _IS_A, _STATED = "900000000000003001", "116680003", "900000000000010007"
_SYNONYM, _WHOLE_CASE = "900000000000013009", "900000000000017005"
_TAG = re.compile(r"^(?P<name>.*\S)\s*\((?P<tag>[^()]+)\)$")
_CASED = 6
_GUESSED = "guessed: "  # of a file, among what was skipped while rows are read
KINDS = {
    "disorder": "disorder",
    "finding": "finding",
    "procedure": "procedure",
    "observable entity": "observable",
}
"""The semantic tags whose concepts are terms, and what they are called here."""


def read_rf2(folder: Path) -> Ontology:
    """The active concepts of a release, all with their parents; names for those of KINDS."""
    files = _files(folder)
    skipped: Counter[str] = Counter()
    concepts: dict[str, RawConcept] = {}
    for row in _latest(files["Concept"], "Concept", skipped):
        if row[2] == "1":
            concepts[row[0]] = RawConcept(row[0], "")
        else:
            skipped["inactive_concepts"] += 1
    for add, type_id in ((_name, _FULL_NAME), (_synonym, _SYNONYM)):
        for row in _latest(files["Description"], "Description", skipped, type_id):
            concept = concepts.get(row[4])
            if concept is not None and row[2] == "1" and row[5] == "en":
                add(row, concept)
    for row in _latest(files["Relationship"], "Relationship", skipped, _IS_A):
        child = concepts.get(row[4])
        if child is not None and row[2] == "1" and row[8] != _STATED and row[5] in concepts:
            child.parents.append(row[5])
    if not concepts:
        raise SourceError(f"{folder}: the snapshot holds no active concept")
    named = [path for kind in _COLUMNS for path in files[kind]]
    version = max(_FILE.fullmatch(path.name)[3] for path in named)  # type: ignore[index]
    guessed = [key.removeprefix(_GUESSED) for key in skipped if key.startswith(_GUESSED)]
    left = {key: n for key, n in skipped.items() if not key.startswith(_GUESSED)}
    return Ontology(
        "SNOMED CT", version, {path.name: sha256_file(path) for path in named}, concepts, left,
        tuple(sorted(guessed)),
    )  # fmt: skip


def _files(folder: Path) -> dict[str, list[Path]]:
    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder; name that of a SNOMED CT release (RF2)")
    found: dict[str, list[Path]] = {kind: [] for kind in _COLUMNS}
    for path in sorted(folder.rglob("*sct2_*.txt")):
        match = _FILE.fullmatch(path.name)
        if match is not None and (match[2] or "en").startswith("en"):
            found[match[1]].append(path)
    missing = [kind for kind, paths in found.items() if not paths]
    if missing:
        raise SourceError(
            f"{folder}: no snapshot of {', '.join(missing)} (sct2_{missing[0]}_Snapshot….txt); "
            "unpack the release and name its folder"
        )
    return found


def _latest(
    paths: Sequence[Path], kind: str, skipped: Counter[str], type_id: str | None = None
) -> Iterator[list[str]]:
    """The rows, of one type where it is given; of several files, the latest row of each id."""
    at = _COLUMNS[kind].index("typeId") if type_id else 0
    rows = (
        row
        for path in paths
        for row in _rows(path, kind, skipped)
        if type_id is None or row[at] == type_id
    )
    if len(paths) == 1:  # a snapshot has each id once; a million rows need not be held
        yield from rows
        return
    found: dict[str, list[str]] = {}
    for row in rows:
        there = found.get(row[0])
        if there is None or row[1] > there[1]:
            found[row[0]] = row
    yield from found.values()


def _rows(path: Path, kind: str, skipped: Counter[str]) -> Iterator[list[str]]:
    columns = _COLUMNS[kind]
    try:
        with open_text(path, "\n") as (file, encoding):
            if encoding.guessed:
                skipped[f"{_GUESSED}{path.name}"] = 1
            header = file.readline().strip().casefold().split("\t")
            if header != [name.casefold() for name in columns]:
                raise SourceError(
                    f"{path}:1: not the columns of RF2 ({', '.join(columns[:3])}, … expected)"
                )
            for line in file:
                row = line.rstrip("\r\n").split("\t")
                if len(row) == len(columns) and "\ufffd" not in line:
                    yield row
                else:
                    skipped["broken_rows"] += 1
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error


def _name(row: Sequence[str], concept: RawConcept) -> None:
    found = _TAG.match(row[7])
    concept.name = found["name"] if found else row[7]
    concept.kind = KINDS.get(found["tag"], "other") if found else "other"
    if concept.kind != "other":
        concept.labels.append(Label(concept.name, 0))


def _synonym(row: Sequence[str], concept: RawConcept) -> None:
    if concept.kind in KINDS.values():
        cased = row[8] == _WHOLE_CASE and len(row[7]) <= _CASED
        concept.labels.append(Label(row[7], 1, cased))
