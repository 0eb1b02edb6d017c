"""What a pack may say. Unknown keys are errors: a misspelt key must not be silently nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from clinqa.core.yamlfile import Strict

__all__ = [
    "AbnormalitySpec",
    "AspectSpec",
    "Cell",
    "CombinationSpec",
    "ConsequencesSpec",
    "DegreeSpec",
    "EnglishSpec",
    "ExceptionSpec",
    "LevelColumn",
    "LevelWords",
    "NamedSpec",
    "PackSpec",
    "Phrase",
    "Phrases",
    "RangeSpec",
    "StructureSpec",
]

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Phrases = list[Phrase]


class LevelWords(Strict):
    """Words that are a level by themselves (restrictive filling is 3)."""

    level: int
    terms: Phrases


class DegreeSpec(LevelWords):
    """Words of one degree; `trace` words mean nothing for aspects that say `zero_trace`."""

    trace: bool = False


class EnglishSpec(Strict):
    """The words every pack shares: degrees, denial, doubt, time, connection."""

    degrees: list[DegreeSpec]
    bounds: dict[str, Phrases]
    ranges: Phrases
    between: Phrases
    scale: Phrases
    grade_words: Phrases
    values: dict[str, Phrases]
    negation: dict[str, Phrases]
    inadequate: dict[str, Phrases]
    no_sight: Phrases
    inadequate_forms: dict[str, Phrases]
    hedges: Phrases
    time: dict[str, Phrases]
    connect: dict[str, Phrases]
    plain_words: Phrases = []
    attributive: Phrases = []
    spellings: dict[str, str] = {}


class StructureSpec(Strict):
    """An organ part: its names, and what "normal" and "not seen" say of its abnormalities."""

    name: str
    terms: Phrases
    normal: list[str] = []
    unseen: list[str] = []
    place: bool = False  # often says only where something else is


class GroupSpec(Strict):
    """One word for several structures; a `weak` one gives way to any structure named."""

    terms: Phrases
    structures: list[str]
    weak: bool = False
    only_normal: bool = False


class AbnormalitySpec(Strict):
    """One abnormality: an aspect of a structure, with the levels that exist for it."""

    name: str
    structure: str
    aspect: str
    levels: list[int]
    binary: bool = False


class AspectSpec(Strict):
    """What a structure can have. `finding` words are abnormal unless denied; `attribute` words
    need a value word; `up` and `down` are the value words that make this aspect abnormal."""

    attribute: Phrases = []
    finding: Phrases = []
    adjective: Phrases = []
    up: Phrases = []
    down: Phrases = []
    normal: Phrases = []
    normal_attribute: Phrases = []
    age_attribute: Phrases = []  # attributes that count only "for age"
    absent_level: int | None = None
    present_level: int | None = None
    finding_levels: list[LevelWords] = []
    normal_only: Phrases = []
    when_segmental: str | None = None
    segmental_ignores_degree: bool = False
    when_global: str | None = None
    zero_trace: bool = False
    when_unnamed_normal: list[str] = []
    default_structure: str | None = None
    default_structures: list[str] = []
    own_structure: str | None = None
    excluded: list[str] = []  # structures of which it never speaks
    kind: str | None = None  # lesions of one kind share a degree in a list
    expands: list[str] = []
    only_normal: bool = False
    graded: bool = False
    denial: bool = False
    abnormal_level: int | None = None
    alias: str | None = None
    merges: str | None = None
    only_section: list[str] = []
    qualified_by: dict[str, Phrases] = {}
    prosthetic: bool = False
    new_with_stress: bool = False


class NamedSpec(Strict):
    """Words that name structure and aspect at once; `case` lists forms that must stand so."""

    structure: str
    aspect: str
    as_: Annotated[str, Field(alias="as", pattern="^(finding|attribute)$")]
    terms: Phrases
    case: Phrases = []
    only_altered: bool = False
    measure: bool = False
    level: int | None = None


class SignSpec(Strict):
    structure: str
    aspect: str


class ComboRowSpec(Strict):
    values: list[str]
    level: int


class CombinationSpec(Strict):
    """An abnormality read from several signs that stand in one statement."""

    abnormality: str
    signs: list[SignSpec]
    table: list[ComboRowSpec]


class RangeSpec(Strict):
    """A stated range of numbers reads as the level of its upper bound."""

    upto: int
    level: int


class SectionSpec(Strict):
    structure: str
    headers: Phrases
    sticky: bool = False  # what it heads on its line is ignored where the lines before are
    block: bool = False  # a header only where nothing follows it on its line


class BlockSpec(Strict):
    starts: Phrases
    stops: Phrases


class SpecialSpec(Strict):
    abnormality: str
    levels: list[int]
    level: int


class ResolutionSpec(Strict):
    """Which levels may stand together in one study (order never matters)."""

    severity: list[int]
    with_severity: list[int]
    special: list[SpecialSpec] = []


class PackSpec(Strict):
    """A pack's `pack.yaml`."""

    id: str
    title: str
    document: str
    structures: dict[str, StructureSpec]
    groups: list[GroupSpec] = []
    sides: dict[str, dict[str, str]] = {}
    abnormalities: dict[str, AbnormalitySpec]
    aspects: dict[str, AspectSpec]
    named: list[NamedSpec] = []
    decoys: Phrases = []
    cased: Phrases = []
    segments: Phrases = []
    modifiers: dict[str, Phrases] = {}
    remaining: Phrases = []
    fillers: Phrases = []
    prosthesis: Phrases = []
    partial: Phrases = []
    whole: Phrases = []
    described: Phrases = []
    not_enough: Phrases = []
    unreadable: dict[str, Phrases] = {}
    speaks_of: dict[str, Phrases] = {}  # words that speak of an abnormality and never label it
    conventions: list[Annotated[str, StringConstraints(min_length=1, max_length=300)]] = []
    blanks: dict[str, str] = {}
    blank_section: str | None = None
    structure_only: Phrases = []
    combinations: list[CombinationSpec] = []
    ranges: dict[str, list[RangeSpec]] = {}
    widths: dict[str, float] = {}
    range_words: dict[str, list[LevelWords]] = {}
    ignore_clauses: dict[str, Phrases] = {}
    sections: list[SectionSpec] = []
    roles: dict[str, Phrases] = {}
    blocks: BlockSpec | None = None
    questions: dict[str, str]
    resolution: ResolutionSpec
    plain_words: Phrases = []
    spellings: dict[str, str] = {}


Cell = Literal["right", "error", "danger"]
LevelColumn = Literal[-3, 0, -2, 1, 2, 3, -1, "none"]
"""What a report or an answer can say of an abnormality; `none`: it does not mention it."""


class ExceptionSpec(Strict):
    """Cells of the table of consequences that stand otherwise for some abnormalities."""

    abnormalities: Annotated[list[str], Field(min_length=1)]
    table: dict[LevelColumn, dict[LevelColumn, Cell]]


class ConsequencesSpec(Strict):
    """A pack's `consequences.yaml`: a row by what the report says, a cell by what is answered."""

    columns: list[LevelColumn]
    table: dict[LevelColumn, list[Cell]]
    exceptions: list[ExceptionSpec] = []

    @model_validator(mode="after")
    def _whole(self) -> ConsequencesSpec:
        if set(self.columns) != {-3, 0, -2, 1, 2, 3, -1, "none"} or len(self.columns) != 8:
            raise ValueError("columns: each of -3, 0, -2, 1, 2, 3, -1 and none, once")
        if set(self.table) != set(self.columns):
            raise ValueError("table: a row for each of the columns")
        for row, cells in self.table.items():
            if len(cells) != len(self.columns):
                raise ValueError(f"table: {row}: a cell for each of the columns")
            right = [c for c, cell in zip(self.columns, cells, strict=True) if cell == "right"]
            if right != [row]:
                raise ValueError(f"table: {row}: right is the report's own level and no other")
        for other in self.exceptions:
            for row, changed in other.table.items():
                if any((cell == "right") != (row == column) for column, cell in changed.items()):
                    raise ValueError(f"exceptions: {row}: right is the report's own level alone")
        return self
