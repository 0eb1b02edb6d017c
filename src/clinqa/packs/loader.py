"""Read a pack folder and check it: `pack.yaml`, `lexicon.tsv`, and the English all packs share.

The label syntax of a lexicon: `mitral_regurgitation=1 rv_cavity=0~ la_cavity=2?`.

A label is `abnormality=level`. A `~` after it says that the label is inferred (the structure was
called normal, or not seen), a `?` that the statement hedges; both may stand, in either order.
`-` alone labels nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from clinqa.core.errors import ConfigError
from clinqa.core.records import Level
from clinqa.core.yamlfile import read_bytes, validated
from clinqa.packs.schema import AbnormalitySpec, EnglishSpec, PackSpec

__all__ = [
    "BLANKED",
    "NOTHING",
    "LabelSyntaxError",
    "LexiconLabel",
    "LexiconRow",
    "Pack",
    "builtin_pack",
    "format_labels",
    "load_pack",
    "pack_folder",
    "parse_labels",
    "read_spec",
    "read_text",
    "refuse_unknown",
]

NOTHING = "-"

_LABEL = re.compile(r"([a-z][a-z0-9_]*)=([+-]?[0-9]{1,3})([~?]{0,2})")
_LEVELS = frozenset(int(level) for level in Level if level is not Level.CONFLICT)


class LabelSyntaxError(ConfigError, ValueError):
    """A label cell that cannot be read. The message says which label, never what the cell holds.

    A cell may hold a sentence of a report by mistake (columns swapped), so it is not quoted.
    """


@dataclass(frozen=True, slots=True)
class LexiconLabel:
    """What a lexicon says of one abnormality in one statement."""

    abnormality: str
    level: int
    inferred: bool = False
    hedged: bool = False


def parse_labels(cell: str) -> list[LexiconLabel]:
    """Read a label cell; the order of the labels is kept.

    Raises LabelSyntaxError for an empty cell, a malformed label, a level that no statement can
    have (-50 is a study's, never a statement's) and an abnormality named twice.

    >>> parse_labels("mitral_regurgitation=1 la_cavity=2?")[1]
    LexiconLabel(abnormality='la_cavity', level=2, inferred=False, hedged=True)
    >>> parse_labels("-")
    []
    """
    tokens = cell.split()
    if not tokens:
        raise LabelSyntaxError(
            "the labels are empty: write '-' for a statement that labels nothing"
        )
    if tokens == [NOTHING]:
        return []
    labels: list[LexiconLabel] = []
    seen: set[str] = set()
    for number, token in enumerate(tokens, 1):
        found = _LABEL.fullmatch(token)
        if found is None or len(set(found[3])) != len(found[3]):
            raise LabelSyntaxError(
                f"label {number} of {len(tokens)} is malformed: write abnormality=level, "
                "then ~ if inferred and ? if hedged"
            )
        abnormality, level, marks = found[1], int(found[2]), found[3]
        if level not in _LEVELS:
            raise LabelSyntaxError(
                f"label {number} of {len(tokens)} has a level that no statement can have: "
                f"use one of {', '.join(map(str, sorted(_LEVELS)))}"
            )
        if abnormality in seen:
            raise LabelSyntaxError(f"label {number} of {len(tokens)} names its abnormality again")
        seen.add(abnormality)
        labels.append(LexiconLabel(abnormality, level, "~" in marks, "?" in marks))
    return labels


def format_labels(labels: Iterable[LexiconLabel]) -> str:
    """Write labels as a cell, by abnormality, so that equal labels give equal cells.

    >>> format_labels([LexiconLabel("rv_cavity", 0, inferred=True), LexiconLabel("la_cavity", -3)])
    'la_cavity=-3 rv_cavity=0~'
    """
    cells = [
        f"{label.abnormality}={int(label.level)}"
        f"{'~' if label.inferred else ''}{'?' if label.hedged else ''}"
        for label in sorted(labels, key=lambda label: label.abnormality)
    ]
    return " ".join(cells) or NOTHING


BLANKED = "?"
"""The structure of a header whose noun de-identification took; read as `blank_section`."""
SHIPPED = Path(str(resources.files("clinqa.packs")))
MAX_BYTES = 8_000_000
SPEC = TypeVar("SPEC", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class LexiconRow:
    """One curated statement: where it stands, its words, and what it labels."""

    structure: str
    statement: str
    labels: tuple[LexiconLabel, ...]
    line: int


@dataclass(frozen=True)
class Pack:
    """A checked pack. `fingerprint` is the SHA-256 of its files' bytes."""

    folder: Path
    spec: PackSpec
    english: EnglishSpec
    lexicon: tuple[LexiconRow, ...]
    fingerprint: str

    @property
    def structures(self) -> list[str]:
        return list(self.spec.structures)

    @property
    def headings(self) -> list[str]:
        """What a row of the lexicon may stand under; `*` is anywhere."""
        return _headings(self.spec)

    @property
    def abnormalities(self) -> dict[str, AbnormalitySpec]:
        return self.spec.abnormalities

    @cached_property
    def grid(self) -> dict[tuple[str, str], str]:
        """(structure, aspect) → abnormality."""
        return {(a.structure, a.aspect): key for key, a in self.spec.abnormalities.items()}

    def fit(self, abnormality: str, level: int) -> int:
        """The level as this abnormality knows it: binary ones have no degrees, and small or
        hyperdynamic is normal where level -1 does not exist (LABELLING 1, 11)."""
        spec = self.spec.abnormalities[abnormality]
        if spec.binary and level in (-2, 1, 2, 3):
            return 1
        if level not in spec.levels and level == -1:
            return 0
        return level


def pack_folder(name: str) -> Path:
    """The folder of a pack that comes with clinqa."""
    folder = SHIPPED / name
    if not (folder / "pack.yaml").is_file():
        raise ConfigError(f"there is no pack named {name!r}")
    return folder


@lru_cache(maxsize=4)
def builtin_pack(name: str) -> Pack:
    """A pack that comes with clinqa, loaded once."""
    return load_pack(pack_folder(name))


def load_pack(folder: Path) -> Pack:
    """Load and check the pack in `folder`; a mistake is a ConfigError with file and line."""
    folder = Path(folder)
    path = folder / "pack.yaml"
    digest = hashlib.sha256()
    spec = read_spec(path, PackSpec, digest)
    english = read_spec(SHIPPED / "english.yaml", EnglishSpec, digest)
    _check(spec, path)
    lexicon = _read_lexicon(folder / "lexicon.tsv", spec, digest)
    return Pack(folder, spec, english, lexicon, digest.hexdigest())


def read_spec(path: Path, model: type[SPEC], digest: Any, most: int = MAX_BYTES) -> SPEC:
    """The YAML file of a pack as `model` has it; its bytes go into the pack's fingerprint."""
    data = read_bytes(path, most)
    digest.update(data)
    return validated(path, data, model)


def read_text(path: Path, digest: Any, most: int = MAX_BYTES) -> str:
    """The text of a pack's file; its bytes go into the fingerprint."""
    data = read_bytes(path, most)
    digest.update(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error


def refuse_unknown(where: str, what: str, names: Iterable[str], known: Container[str]) -> None:
    """Raise ConfigError for the first of the names that the pack does not have."""
    for name in names:
        if name not in known:
            raise ConfigError(f"{where}: unknown {what} {name!r}")


def _check(spec: PackSpec, path: Path) -> None:
    """References between the parts of a pack."""
    grid: dict[tuple[str, str], str] = {}
    for key, abnormality in spec.abnormalities.items():
        where = f"{path}: abnormality {key}"
        refuse_unknown(where, "structure", [abnormality.structure], spec.structures)
        refuse_unknown(where, "aspect", [abnormality.aspect], spec.aspects)
        place = (abnormality.structure, abnormality.aspect)
        if place in grid:
            raise ConfigError(f"{path}: {key} and {grid[place]} are the same structure and aspect")
        grid[place] = key
    for name, structure in spec.structures.items():
        others = (*structure.normal, *structure.unseen)
        refuse_unknown(f"{path}: structure {name}", "abnormality", others, spec.abnormalities)
    for group in spec.groups:
        where = f"{path}: group {group.terms[0]!r}"
        refuse_unknown(where, "structure", group.structures, spec.structures)
    for item in spec.named:
        where = f"{path}: named {item.terms[0]!r}"
        refuse_unknown(where, "structure", [item.structure], spec.structures)
    combined = [combination.abnormality for combination in spec.combinations]
    names = (*spec.ranges, *spec.range_words, *spec.speaks_of, *combined)
    refuse_unknown(str(path), "abnormality", names, spec.abnormalities)
    if "finding" not in spec.questions:
        raise ConfigError(f"{path}: questions: a wording for 'finding' is needed")


def _headings(spec: PackSpec) -> list[str]:
    """The structures, those that only a header names (the pericardium, say), and `*`."""
    named = [*spec.structures, *(one.structure for one in spec.sections), "*"]
    return [name for name in dict.fromkeys(named) if name != BLANKED]


def _read_lexicon(path: Path, spec: PackSpec, digest: Any) -> tuple[LexiconRow, ...]:
    if not path.exists():
        return ()
    rows: list[LexiconRow] = []
    seen: dict[tuple[str, str], int] = {}
    structures = _headings(spec)
    for number, line in enumerate(read_text(path, digest).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        if cells[:3] == ["structure", "statement", "labels"]:
            continue
        if len(cells) < 3:
            raise ConfigError(f"{path}:{number}: three tab-separated cells are expected")
        structure, statement = cells[0].strip(), " ".join(cells[1].split())
        refuse_unknown(f"{path}:{number}", "structure", [structure], structures)
        try:
            labels = tuple(parse_labels(cells[2]))
        except ValueError as error:
            raise ConfigError(f"{path}:{number}: {error}") from error
        for label in labels:
            known = spec.abnormalities.get(label.abnormality)
            if known is None:
                raise ConfigError(f"{path}:{number}: unknown abnormality {label.abnormality!r}")
            if label.level not in known.levels:
                raise ConfigError(
                    f"{path}:{number}: level {label.level} does not exist for {label.abnormality}"
                )
        place = (structure, statement.casefold())
        if place in seen:
            raise ConfigError(f"{path}:{number}: the same statement stands on line {seen[place]}")
        seen[place] = number
        rows.append(LexiconRow(structure, statement, labels, number))
    return tuple(rows)
