"""The grammar: what a statement never seen says of each abnormality.

It knows no organ: structures, aspects and words come from the pack. A statement is folded into
marks, cut into clauses and units, then every target in a unit gets its structures and its value:
from its own unit, else from the unit it is coordinated with (LABELLING 2, 5, 7).

From the claims of one statement to its findings: phases, what yields, the pack's levels.
"""

from __future__ import annotations

from dataclasses import replace

from clinqa.core.records import Phase
from clinqa.packs.loader import Pack
from clinqa.reading.clauses import Clause, Unit, clauses_of
from clinqa.reading.degrees import fold_degrees
from clinqa.reading.findings import Claim, Finding
from clinqa.reading.places import Context, Places
from clinqa.reading.scopes import Frame, frame_of, spoken_now, strip_earlier
from clinqa.reading.sharing import LIST, look_back, share
from clinqa.reading.signs import add_signs
from clinqa.reading.tokens import plain, tokenize
from clinqa.reading.values import Values, is_the_cause, structure_is_dim
from clinqa.reading.vocabulary import MarkedPhrase, Vocabulary, complete_sides

__all__ = ["Grammar", "conclude"]

_CONTRARY = frozenset({"but", "although", "though", "however", "yet"})
_REASON = frozenset(
    {"because", "because of", "due to", "owing to", "secondary to", "given", "related to",
     "as a result of", "in view of", "attributable to", "from the"}
)  # fmt: skip


class Grammar:
    """Reads statements with one pack's words."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.vocabulary = Vocabulary(pack)
        self._values = Values(pack)
        self._places = Places(pack)

    def read(self, text: str, section: str = "*") -> tuple[Finding, ...]:
        """The findings of a statement that stands in the section of structure `section`.

        >>> from clinqa.packs.loader import builtin_pack
        >>> grammar = Grammar(builtin_pack("echo"))
        >>> [(f.abnormality, f.level) for f in grammar.read("Mild mitral and moderate TR.")]
        [('mitral_regurgitation', 1), ('tricuspid_regurgitation', 2)]
        """
        if section == "?":
            section = self.pack.spec.blank_section or "*"
        marks = self.vocabulary.marks(tokenize(plain(text)))
        marks = fold_degrees(strip_earlier(complete_sides(marks, self.pack.spec.sides)))
        frame = frame_of(marks)
        if frame.silent or _is_heading(marks):
            return ()
        claims: list[Claim] = []
        context = Context(section)
        clauses = clauses_of(marks)
        look_back(clauses)
        for clause in clauses:
            before = len(claims)
            self._clause(clause, context, frame, claims)
            if clause.lead is not None and clause.lead.text in _CONTRARY:
                _stands_after_all(claims, before or len(claims))
        self._accent(marks, claims)
        add_signs(self.pack, marks, section, claims)
        return conclude(self.pack, marks, frame, claims)

    def _clause(self, clause: Clause, context: Context, frame: Frame, claims: list[Claim]) -> None:
        units = spoken_now(clause, frame)
        share(units)
        reason = clause.lead is not None and clause.lead.text in _REASON
        previous: Unit | None = None
        for place, unit in enumerate(units):
            if unit.weak and unit.only_normal:
                context.generic = unit.structures
            _carry(context, previous, unit)
            if previous is not None and unit.targets and unit.sep in LIST:
                if previous.segments and not (unit.structures or previous.structures):
                    unit.segments = True  # "the inferior wall is thinned and akinetic"
            rest = units[place + 1 :]
            if unit.weak_dim and rest:
                unit.tags.add("reason")
            for beside in rest:
                if beside.sep not in LIST or beside.targets or beside.valued:
                    break
                unit.after += beside.raw
            context.following = next((u for u in rest if u.structures and not u.weak), None)
            if "over" in unit.tags and unit.degree is None:
                # "no longer enlarged" is normal now; "severe MR is no longer seen" says nothing
                unit.negated |= any(target.adjective for _, target in unit.targets)
            said = "over" not in unit.tags or unit.negated
            if said and ("remaining" not in unit.tags or unit.negated):
                self._unit(unit, context, frame, reason, claims)
            previous = unit

    def _unit(
        self, unit: Unit, context: Context, frame: Frame, reason: bool, claims: list[Claim]
    ) -> None:
        stress = frame.stress or ("stress" in unit.tags and "rest" not in unit.tags)
        post = frame.post or "post" in unit.tags
        if not unit.targets:
            if not unit.decoy or structure_is_dim(unit):
                self._structure_only(unit, context, stress, post, claims)
            return
        for target, level, bare in self._values.of(unit):
            if bare and ((reason and unit.severity) or frame.compares or "change" in unit.tags):
                continue
            if target.level is None and "change" in unit.tags and not unit.aspects:
                continue  # "markedly improved" says nothing of how it is
            explicit = not (target.normal or (unit.weak and target.structure is None))
            for aspect, given in self._places.aspects(unit, target, level, context):
                for structure in self._places.structures(unit, target, aspect, given, context):
                    claims.append(
                        Claim(structure, aspect, given, explicit, stress, post, bare=bare)
                    )

    def _structure_only(
        self, unit: Unit, context: Context, stress: bool, post: bool, claims: list[Claim]
    ) -> None:
        """A structure called normal or not seen, or a noun blanked by de-identification."""
        structures = self.pack.spec.structures
        names = unit.structures if not unit.weak else []
        if unit.segments and not unit.dim and not unit.structures:
            return
        if "blank" in unit.tags and unit.loose == 0 and len(names) <= 1:
            place = names[0] if names else context.section
            aspect, level = self.pack.spec.blanks.get(place), _blank_level(unit)
            if aspect is not None and level is not None:
                claims.append(Claim(place, aspect, level, True, stress, post))
            return
        if not names:
            if unit.loose > 1:
                return
            names = context.carried or ([context.section] if context.section in structures else [])
            if not names and unit.weak:
                names = unit.structures
        if unit.dim or (unit.negated and "no_sight" in unit.tags):
            if unit.structures and is_the_cause(unit):
                return
            if not unit.structures and (claims or unit.severity or unit.loose):
                return
            implied, level, sectional = "unseen", -3, not unit.structures
        else:
            mark = unit.degree
            borderline = mark is not None and mark.roles.degree == 0 and not mark.roles.trace
            normal = unit.value == "normal" and not unit.negated and mark is None
            if unit.aspects or not (normal or borderline):
                return
            implied, level, sectional = "normal", 0, False
        for name in names:
            for abnormality in getattr(structures[name], implied):
                spec = self.pack.abnormalities[abnormality]
                claims.append(
                    Claim(spec.structure, spec.aspect, level, False, stress, post, sectional)
                )

    def _accent(self, marks: list[MarkedPhrase], claims: list[Claim]) -> None:
        """ "More prominent in the inferior wall" adds a segmental finding to a global one."""
        for i, mark in enumerate(marks):
            near = marks[max(0, i - 4) : i + 6]
            if not mark.has("accent") or not any(m.has("segment") for m in near):
                continue
            for claim in claims:
                segmental = self.pack.spec.aspects[claim.aspect].when_segmental
                if (
                    segmental
                    and claim.level not in (0, -3)
                    and (claim.structure, segmental) in self.pack.grid
                ):
                    claims.append(Claim(claim.structure, segmental, -2))
                    break


def _is_heading(marks: list[MarkedPhrase]) -> bool:
    """The head of a table: fields and nothing said of any ("Valve | Stenosis | Regurgitation")."""
    findings = sum(any(t.level == -2 for t in m.roles.targets) for m in marks)
    return (
        findings >= 2
        and sum(m.text == ":" for m in marks) >= 2
        and not any(
            m.roles.degree is not None
            or m.roles.value
            or m.roles.aspects
            or any(tag.startswith(("no_", "dim_")) for tag in m.roles.tags)
            or m.text[0].isdigit()
            for m in marks
        )
    )


def _carry(context: Context, previous: Unit | None, unit: Unit) -> None:
    """Remember the structures named last; those of a list count together."""
    own = unit.structures if not unit.weak else []
    if not own:
        own = [t.structure for _, t in unit.targets if t.structure is not None][:1]
    if not own:
        return
    listed = (
        previous is not None
        and previous.structures
        and not previous.weak
        and (previous.borrowed or not previous.targets)
        and (previous.borrowed or previous.borrowed_value or not previous.valued)
        and unit.sep in LIST
    )
    context.carried = [*context.carried, *own] if listed else list(own)


def _stands_after_all(claims: list[Claim], before: int) -> None:
    """ "Suboptimally imaged but grossly normal": the finding stands (LABELLING 5)."""
    since = claims[before:] or claims
    normal = {claim.structure for claim in since if claim.level == 0}
    claims[:before] = [
        c for c in claims[:before] if c.explicit or c.level != -3 or c.structure not in normal
    ]


def _blank_level(unit: Unit) -> int | None:
    if unit.negated:
        return 0
    if unit.degree is not None:
        return unit.degree.roles.degree
    return 0 if unit.value == "normal" else None


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
