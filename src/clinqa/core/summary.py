"""What a dataset of reports holds, in numbers: made by `dataset`, drawn by `present`.

Plain records with no text of a record in them, so that a summary may be shown and published where
the reports may not. Study ids stand only in `DiscordCase`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["LEVELS", "AbnormalityRow", "DiscordCase", "DiscordRow", "Flow", "SplitRow", "Summary"]

LEVELS: tuple[int, ...] = (-50, -3, -2, -1, 0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class SplitRow:
    """One split. `seen` counts the items whose deciding statement also decides one in train."""

    name: str
    patients: int
    studies: int
    items: int
    seen: int


@dataclass(frozen=True, slots=True)
class Flow:
    """From notes to items (EchoQA, Figure 1): read = kept + rejected + duplicates + out_of_scope.

    None where the folder does not say.
    """

    read: int | None
    out_of_scope: int | None
    duplicates: int | None
    rejected: int | None
    kept: int | None
    statements: int
    occurrences: int
    labels: int
    items: int
    out_of_scope_by_reason: dict[str, int] = field(default_factory=dict)
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    items_left_out: dict[str, int] = field(default_factory=dict)

    @property
    def reconciles(self) -> bool | None:
        """Whether every note read is accounted for; None where the folder does not say."""
        parts = (self.kept, self.rejected, self.duplicates, self.out_of_scope)
        known = [part for part in parts if part is not None]
        if self.read is None or len(known) < len(parts):
            return None
        return self.read == sum(known)


@dataclass(frozen=True, slots=True)
class AbnormalityRow:
    """One abnormality: items by split, studies by level, and how the studies were labelled."""

    abnormality: str
    items: dict[str, int]
    levels: dict[int, int]
    studies: int
    coverage: float | None
    methods: dict[str, int]
    inferred: int
    hedged: int
    prosthesis: int


@dataclass(frozen=True, slots=True)
class DiscordCase:
    """A study whose number and word disagree. It holds neither."""

    study_id: str
    measurement: str
    abnormality: str
    level: int
    same_statement: bool


@dataclass(frozen=True, slots=True)
class DiscordRow:
    """How often one measurement is stated beside a label, and how often it contradicts it."""

    measurement: str
    abnormality: str
    stated: int
    discord: int
    same_statement: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All that `show` says of one folder."""

    folder: str
    data_class: str
    profile: str
    flow: Flow
    splits: tuple[SplitRow, ...]
    abnormalities: tuple[AbnormalityRow, ...]
    methods: dict[str, int]
    statement_methods: dict[str, int]
    question_types: dict[str, int]
    phases: dict[str, int]
    rejects: dict[str, int]
    discord: tuple[DiscordRow, ...]
    discord_cases: tuple[DiscordCase, ...]
    warnings: tuple[str, ...] = ()
    two_valued: tuple[str, ...] = ()
    """Abnormalities without degrees: of them 1 means present, and not mild."""

    def as_json(self) -> dict[str, Any]:
        """One object for `--json`; level keys become strings, as JSON has them."""
        return {**asdict(self), "reconciles": self.flow.reconciles}
