"""From the claims of one statement to its findings: phases, what yields, the pack's levels."""

from __future__ import annotations

from dataclasses import replace

from clinqa.core.records import Phase
from clinqa.packs.loader import Pack
from clinqa.reading.claims import Claim
from clinqa.reading.findings import Finding
from clinqa.reading.scopes import Frame
from clinqa.reading.vocabulary import MarkedPhrase

__all__ = ["conclude"]


def conclude(
    pack: Pack, marks: list[MarkedPhrase], frame: Frame, claims: list[Claim]
) -> tuple[Finding, ...]:
    """The findings of a statement, sorted.

    Within one statement an explicit claim replaces an inferred one, any level replaces "not seen",
    and a degree replaces "present".
    """
    hedged = any(m.has("hedge") for m in marks)
    prosthetic = any(m.has("prosthesis") for m in marks)
    new = any(m.has("new_with_stress") for m in marks)
    groups: dict[tuple[str, Phase], list[Claim]] = {}
    pinned: set[str] = set()
    replaces: set[str] = set()
    for claim in claims:
        abnormality = pack.grid.get((claim.structure, claim.aspect))
        if abnormality is None:
            continue
        phase = Phase.POST if claim.post else Phase.STRESS if claim.stress else Phase.BASELINE
        if new and pack.spec.aspects[claim.aspect].new_with_stress:
            # what stress brings out is the study's own finding (LABELLING 6)
            if claim.level == 0 and claim.stress:
                phase = Phase.BASELINE
            elif claim.level not in (0, -3):
                pinned.add(abnormality)
                if claim.stress:
                    claim, phase = replace(claim, level=-2), Phase.BASELINE
                    replaces.add(abnormality)
        groups.setdefault((abnormality, phase), []).append(claim)
    findings: set[Finding] = set()
    for (abnormality, phase), group in groups.items():
        for claim in _strongest(group):
            level = pack.fit(abnormality, claim.level)
            if level not in pack.abnormalities[abnormality].levels:
                continue
            findings.add(
                Finding(
                    abnormality,
                    level,
                    claim.explicit,
                    hedged,
                    phase,
                    prosthetic and pack.spec.aspects[claim.aspect].prosthetic,
                    frame.corrects or abnormality in replaces,
                    abnormality in pinned,
                )
            )
    return tuple(sorted(findings))


def _strongest(group: list[Claim]) -> list[Claim]:
    use = [claim for claim in group if claim.explicit] or group
    use = [claim for claim in use if claim.level != -3] or use
    use = [claim for claim in use if not claim.bare] or use
    if any(claim.level > 0 for claim in use):
        use = [claim for claim in use if claim.level != -2]
    return use
