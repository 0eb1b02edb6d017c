"""All that a build of questions by specialty found, before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clinqa.builders.banks.gather import Alikes, Gathered
from clinqa.builders.banks.specialty.annotate import SpecialtyLabels
from clinqa.builders.banks.specialty.expert import Expert
from clinqa.builders.banks.specialty.specialty_options import SpecialtyOptions
from clinqa.builders.banks.specialty.write import Kept
from clinqa.core.manifest import StageCounts
from clinqa.core.records import Reject
from clinqa.packs.specialties import Specialties

__all__ = ["SpecialtyBuild"]


@dataclass(frozen=True, slots=True)
class SpecialtyBuild:
    """Everything a run found."""

    options: SpecialtyOptions
    pack: Specialties
    gathered: Gathered
    near: Alikes
    annotated: SpecialtyLabels
    kept: Sequence[Kept]
    rejects: Sequence[Reject]
    outcomes: Sequence[str]
    expert: Expert | None
    agreed: Sequence[Mapping[str, Any]]
    warnings: list[str]

    def stages(self) -> dict[str, StageCounts]:
        """Records to questions, and questions to items."""
        gathered = self.gathered
        unusable = Counter(reject.reason.value for reject in gathered.rejects)
        sorted_out = Counter(reject.reason.value for reject in self.rejects)
        questions = StageCounts(
            read=gathered.read + gathered.beyond_limit,
            kept=len(gathered.items),
            rejected=len(gathered.rejects),
            duplicates=gathered.duplicates,
            out_of_scope=gathered.beyond_limit,
            rejected_by_reason=unusable,
            out_of_scope_by_reason={"limit": gathered.beyond_limit}
            if gathered.beyond_limit
            else {},
        )
        items = StageCounts(
            read=len(gathered.items),
            kept=len(self.kept),
            rejected=len(self.rejects),
            rejected_by_reason=sorted_out,
        )
        return {"questions": questions, "items": items}
