"""The grammar: what a statement never seen says of each abnormality.

It knows no organ: structures, aspects and words come from the pack. A statement is folded into
marks, cut into clauses and units, then every target in a unit gets its structures and its value:
from its own unit, else from the unit it is coordinated with (LABELLING 2, 5, 7).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clinqa.build.reports.clauses import Clause, Unit, clauses_of
from clinqa.build.reports.degrees import fold_degrees
from clinqa.build.reports.findings import Finding
from clinqa.build.reports.numbers import range_level, sign_from_number
from clinqa.build.reports.scopes import Frame, frame_of, spoken_now, strip_earlier
from clinqa.build.reports.sharing import share
from clinqa.build.reports.tokens import plain, tokenize
from clinqa.build.reports.vocabulary import Mark, Target, Vocabulary
from clinqa.core.records import Phase
from clinqa.packs.loader import Pack

__all__ = ["Grammar"]


@dataclass(slots=True)
class _Raw:
    """A level for a structure's aspect, before the pack says which abnormality that is."""

    structure: str
    aspect: str
    level: int
    explicit: bool = True
    stress: bool = False
    post: bool = False
    sectional: bool = False  # "not well seen", of the section's structure
    bare: bool = False  # present, and nothing said of how much


class Grammar:
    """Reads statements with one pack's words."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self.vocabulary = Vocabulary(pack)
        self._aspects = pack.spec.aspects

    def read(self, text: str, section: str = "*") -> tuple[Finding, ...]:
        """The findings of a statement that stands in the section of structure `section`.

        >>> from clinqa.packs.loader import builtin_pack
        >>> grammar = Grammar(builtin_pack("echo"))
        >>> [(f.abnormality, f.level) for f in grammar.read("Mild mitral and moderate TR.")]
        [('mitral_regurgitation', 1), ('tricuspid_regurgitation', 2)]
        """
        if section == "?":
            section = self.pack.spec.blank_section or "*"
        marks = fold_degrees(strip_earlier(self.vocabulary.marks(tokenize(plain(text)))))
        frame = frame_of(marks)
        if frame.silent:
            return ()
        raws: list[_Raw] = []
        carried: list[str] = []
        self._generic: list[str] = []
        clauses = clauses_of(marks)
        _look_back(clauses)
        for clause in clauses:
            before = len(raws)
            carried = self._clause(clause, section, carried, frame, raws)
            if clause.lead is not None and clause.lead.text in _CONTRARY:
                _stands_after_all(raws, before)
        self._accent(marks, raws)
        self._from_numbers(marks, section, raws)
        return self._findings(marks, frame, raws)

    # -- one clause ------------------------------------------------------------------------

    def _clause(
        self, clause: Clause, section: str, carried: list[str], frame: Frame, raws: list[_Raw]
    ) -> list[str]:
        units = spoken_now(clause, frame)
        share(units)
        reason = (
            clause.lead is not None and clause.lead.has("break") and clause.lead.text in _REASON
        )
        previous: Unit | None = None
        for place, unit in enumerate(units):
            if unit.weak and unit.only_normal:
                self._generic = unit.structures
            own = unit.structures if not unit.weak else []
            if not own:
                own = [t.structure for _, t in unit.targets if t.structure is not None][:1]
            if own:
                listed = (
                    previous is not None
                    and previous.structures
                    and not previous.weak
                    and (previous.borrowed or not previous.targets)
                    and (previous.borrowed or previous.borrowed_value or not previous.valued)
                    and unit.sep in ("and", "or", ",", "/")
                )
                carried = [*carried, *own] if listed else list(own)
            if unit.weak_dim and (len(units) > place + 1):
                unit.tags.add("reason")
            if place + 1 < len(units):
                beside = units[place + 1]
                if not beside.targets and not beside.valued and beside.sep in ("and", "or", "/"):
                    unit.after = beside.raw
            following = next((u for u in units[place + 1 :] if u.structures and not u.weak), None)
            self._unit(unit, section, carried, following, frame, reason, raws)
            previous = unit
        return carried

    def _unit(
        self,
        unit: Unit,
        section: str,
        carried: list[str],
        following: Unit | None,
        frame: Frame,
        reason: bool,
        raws: list[_Raw],
    ) -> None:
        if "remaining" in unit.tags and not unit.negated:
            return
        if unit.targets:
            seen: set[tuple[str, str]] = set()
            for target, level, bare in self._levels(unit):
                if bare and ((reason and unit.severity) or frame.compares or "change" in unit.tags):
                    continue
                for aspect, given in self._aspects_of(unit, target, level, carried or [section]):
                    for structure in self._structures(
                        unit, target, aspect, given, section, carried, following
                    ):
                        if (structure, aspect) in seen and bare:
                            continue
                        seen.add((structure, aspect))
                        self._add(raws, structure, aspect, given, unit, target, frame, bare)
        elif not unit.decoy or _dim_of_structure(unit):
            self._structure_only(unit, section, carried, frame, raws)

    def _add(
        self,
        raws: list[_Raw],
        structure: str,
        aspect: str,
        level: int,
        unit: Unit,
        target: Target,
        frame: Frame,
        bare: bool,
    ) -> None:
        stress = frame.stress or ("stress" in unit.tags and "rest" not in unit.tags)
        post = frame.post or "post" in unit.tags
        explicit = not target.normal and not unit.weak
        raws.append(_Raw(structure, aspect, level, explicit, stress, post, bare=bare))

    # -- the value of a unit ---------------------------------------------------------------

    def _levels(self, unit: Unit) -> list[tuple[Target, int, bool]]:
        """The level of each target of a unit; two targets of one aspect are one."""
        chosen: dict[tuple[str, str | None], tuple[Target, int, bool]] = {}
        names = {target.aspect for _, target in unit.targets}
        for mark, target in unit.targets:
            if target.aspect not in self._aspects:
                continue
            if mark.roles.degree is not None and len(unit.targets) > 1:
                continue  # "prominent hypertrophy" is a degree, "prominent left atrium" a finding
            value = self._level(unit, mark, target, names)
            if value is None:
                continue
            key = (target.aspect, target.structure)
            held = chosen.get(key)
            level, bare = value
            if held is None or (held[2] and not bare) or (held[0].level is None and not held[2]):
                chosen[key] = (target, level, bare)
        # a named attribute with a finding of the same aspect is one thing ("free wall hypokinetic")
        for key, (target, _, _) in list(chosen.items()):
            if key[1] is None and target.level is not None:
                for other in unit.targets:
                    if other[1].aspect == key[0] and other[1].structure and other[1].level is None:
                        chosen[(key[0], other[1].structure)] = (
                            replace(target, structure=other[1].structure),
                            *chosen.pop(key, (target, *chosen.get(key, (target, 0, False))[1:]))[
                                1:
                            ],
                        )
                        break
        return list(chosen.values())

    def _level(
        self, unit: Unit, mark: Mark, target: Target, names: set[str]
    ) -> tuple[int, bool] | None:
        spec = self._aspects[target.aspect]
        fixed = target.level not in (None, -2)
        if mark.has("measure_absent"):
            # a jet or signal is how pressure is measured; it is a finding only if described
            described = unit.degree is not None or _JET & set(unit.raw)
            if unit.negated or unit.dim or not described:
                return None
        if (unit.decoy or unit.segments) and (
            _belongs_to_decoy(unit, mark, target)
            or (
                target.normal
                and fixed
                and any(_decoy(m) for m in unit.marks if m.end <= mark.start)
            )
        ):
            return None  # leaflets that open well say nothing of the valve
        if unit.dim:
            if unit.severity and target.level == -2 and "any" not in unit.raw:
                return -2, False
            return None if target.normal else (-3, False)
        if unit.weak_dim:
            if target.level == -2 and "present" in unit.raw:
                return -2, True
            return (-3, False) if unit.loose or "reason" in unit.tags else None
        degree = self._degree(unit, target)
        if unit.negated:
            return self._denied(unit, target, degree)
        if fixed:
            assert target.level is not None
            if target.normal and degree not in (None, 0):
                return None
            graded = unit.degree is not None and unit.degree.extra.get("grade")
            if spec.graded and graded and degree is not None and degree > 0:
                return degree, False
            if degree == 0 and target.level > 0:
                return 0, False
            return target.level, False
        if target.level is None:
            return self._attribute(unit, target, degree)
        if degree is not None:
            return degree, degree == -2
        if unit.value == "normal" and not unit.aspects & {target.aspect}:
            return 0, False
        return -2, True

    def _degree(self, unit: Unit, target: Target) -> int | None:
        mark = unit.degree
        if mark is None:
            return None
        level = mark.roles.degree
        if mark.roles.trace and level == 0 and not self._aspects[target.aspect].zero_trace:
            return 1
        return level

    def _attribute(self, unit: Unit, target: Target, degree: int | None) -> tuple[int, bool] | None:
        spec = self._aspects[target.aspect]
        altered = target.aspect in unit.aspects or unit.value == "abnormal"
        if target.normal:
            calm = unit.value == "normal" and not unit.aspects and "age" not in unit.raw
            return (0, False) if calm and degree in (None, 0) else None
        if target.only_altered and not altered:
            return None
        if altered and spec.abnormal_level is not None:
            return (0, False) if degree == 0 else (spec.abnormal_level, False)
        if altered:
            return (degree, False) if degree is not None else (-2, False)
        if (
            target.structure is None
            and "normal_only" in unit.tags
            and "mod_regional" not in unit.tags
        ):
            if target.aspect == "regional" and (unit.value != "normal" or degree is not None):
                return None
        if degree is not None:
            if degree == -2:
                return None if spec.present_level is None else (-2, True)
            if unit.aspects and degree != 0:
                return None
            return degree, False
        if unit.value == "normal" and not unit.aspects:
            return 0, False
        if spec.present_level is not None and ("present" in unit.raw or "rest" in unit.tags):
            return spec.present_level, True
        return None

    def _denied(self, unit: Unit, target: Target, degree: int | None) -> tuple[int, bool] | None:
        spec = self._aspects[target.aspect]
        if "paravalvular" in unit.tags and not ({"valvular", "transvalvular"} & set(unit.raw)):
            return None
        mark = unit.degree
        if mark is not None and "above" in mark.extra:
            under = mark.extra["above"]
            assert isinstance(under, int)
            if mark.extra.get("above_trace"):
                return (0 if spec.zero_trace else 1), False
            return under, False
        if mark is not None and mark.extra.get("bounded"):
            return (degree, False) if degree is not None else None
        if target.level is None:
            if target.aspect in unit.aspects or unit.value == "abnormal":
                return (0, False) if degree in (None, -2) else (-2, True)
            if target.normal:
                return None
            if spec.absent_level is not None:
                return spec.absent_level, False
            if unit.value == "normal":
                return -2, False
            return (0, False) if spec.denial else None
        if target.normal and target.level == 0:
            return None
        if target.level != -2:
            return 0, False
        if degree in (2, 3) and not unit.borrowed_value:
            return -2, True
        return 0, False

    # -- aspects and structures ------------------------------------------------------------

    def _aspects_of(
        self, unit: Unit, target: Target, level: int, names: list[str]
    ) -> list[tuple[str, int]]:
        spec = self._aspects[target.aspect]
        if spec.qualified_by:
            text = f" {' '.join(unit.raw + unit.after)} "
            return [
                (name, level)
                for name, terms in spec.qualified_by.items()
                if any(f" {term} " in text for term in terms)
            ]
        if spec.expands:
            if level != 0 and level != -3:
                return []
            return [(name, level) for name in spec.expands]
        name = spec.merges or spec.alias or target.aspect
        if spec.when_segmental and self._has_segments(unit, target, names):
            if "mod_both" in unit.tags:
                return [(name, level), (spec.when_segmental, level)]
            if "mod_regional" in unit.tags and "mod_global" not in unit.tags:
                return [(spec.when_segmental, level)]
            whole = {"all", "every", "each"} & set(unit.raw)
            if unit.segments and whole and level == 0 and "segments" in unit.raw:
                return [(spec.when_segmental, 0)]
            segmental = unit.segments and "mod_global" not in unit.tags
            if segmental and target.level == -2:
                if spec.segmental_ignores_degree and level > 0:
                    level = -2
                return [(spec.when_segmental, level)]
        if spec.when_global and "mod_global" in unit.tags:
            if "mod_regional" in unit.tags:
                return [(name, level), (spec.when_global, level)]
            return [(spec.when_global, level)]
        return [(name, level)]

    def _has_segments(self, unit: Unit, target: Target, names: list[str]) -> bool:
        """Does the structure meant have a segmental aspect of its own?"""
        grid = self.pack.grid
        spec = self._aspects[target.aspect]
        if target.structure is not None:
            return (target.structure, spec.when_segmental or "") in grid
        meant = [s for s in (unit.structures or names) if (s, target.aspect) in grid]
        return not meant or any((s, spec.when_segmental or "") in grid for s in meant)

    def _structures(
        self,
        unit: Unit,
        target: Target,
        aspect: str,
        level: int,
        section: str,
        carried: list[str],
        following: Unit | None,
    ) -> list[str]:
        spec = self._aspects[aspect]
        base = self._aspects[target.aspect]
        if target.structure is not None and (
            (target.structure, aspect) in self.pack.grid or aspect == target.aspect
        ):
            return [target.structure]
        own = spec.own_structure or base.own_structure
        if own is not None:
            return [own]

        def fits(names: list[str]) -> list[str]:
            return [n for n in names if (n, aspect) in self.pack.grid or self._sign(n, aspect)]

        def known(names: list[str]) -> bool:
            return any(n in ("PV",) or fits([n]) for n in names)

        if unit.structures and not unit.weak:
            if fits(unit.structures) or known(unit.structures) or not self._vague(unit.structures):
                return fits(unit.structures)
        if (
            following is not None
            and target.adjective
            and not unit.structures
            and following.targets
            and following.targets[0][1].adjective
            and not following.structure_first
            and fits(following.structures)
        ):
            return fits(following.structures)
        if carried and (fits(carried) or not self._vague(carried)):
            return fits(carried)
        if section != "*" and fits([section]):
            return [section]
        if unit.structures and unit.weak:
            if not (unit.only_normal and level != 0):
                return fits(unit.structures)
            return []
        if self._generic and not carried:
            return fits(self._generic) if level == 0 else []
        if section not in ("*",) and section not in self.pack.spec.structures:
            return []  # a section about something that has no labels
        default = spec.default_structure or base.default_structure
        if default is not None:
            only = spec.only_section or base.only_section
            return [default] if not only or section in only else []
        if level in (0, -3) and (base.default_structures or spec.default_structures):
            return fits(base.default_structures or spec.default_structures)
        whole = level == 0 or (level == -3 and "any" in unit.raw)
        if whole and spec.when_unnamed_normal and section == "*" and not unit.decoy:
            return fits(spec.when_unnamed_normal)
        return []

    def _vague(self, names: list[str]) -> bool:
        """Names such as "septum" that often only place a finding of something else."""
        return not any(name in _VALVE_LIKE(self.pack) for name in names)

    def _sign(self, structure: str, aspect: str) -> bool:
        return any(
            sign.structure == structure and sign.aspect == aspect
            for combination in self.pack.spec.combinations
            for sign in combination.signs
        )

    def _structure_only(
        self, unit: Unit, section: str, carried: list[str], frame: Frame, raws: list[_Raw]
    ) -> None:
        """A structure called normal or not seen, or a noun blanked by de-identification."""
        names = unit.structures if not unit.weak else []
        if unit.segments and not unit.dim and not unit.structures:
            return
        post = frame.post or "post" in unit.tags
        stress = frame.stress or "stress" in unit.tags
        if "blank" in unit.tags and unit.loose == 0 and len(names) <= 1:
            place = names[0] if names else section
            aspect = self.pack.spec.blanks.get(place)
            level = self._blank_level(unit)
            if aspect is not None and level is not None:
                raws.append(_Raw(place, aspect, level, True, stress, post))
            return
        if not names:
            if unit.loose > 1:
                return
            names = carried or ([section] if section in self.pack.spec.structures else [])
            if not names and unit.weak:
                names = unit.structures
        unseen = unit.dim or (unit.negated and _unseen(unit))
        if unseen and not unit.structures and (raws or unit.severity):
            return
        if unseen and unit.structures and _only_the_cause(unit):
            return
        if unseen and (unit.structures or unit.loose == 0):
            if unit.weak and not (carried or section in self.pack.spec.structures):
                names = unit.structures
            for name in names:
                for abnormality in self.pack.spec.structures[name].unseen:
                    spec = self.pack.abnormalities[abnormality]
                    raws.append(
                        _Raw(
                            spec.structure,
                            spec.aspect,
                            -3,
                            False,
                            stress,
                            post,
                            not unit.structures,
                        )
                    )
            return
        borderline = unit.degree is not None and unit.degree.roles.degree == 0
        trace = unit.degree is not None and unit.degree.roles.trace
        normal = unit.value == "normal" and not unit.negated and unit.degree is None
        if (normal or (borderline and not trace)) and not unit.aspects:
            for name in names:
                for abnormality in self.pack.spec.structures[name].normal:
                    spec = self.pack.abnormalities[abnormality]
                    raws.append(_Raw(spec.structure, spec.aspect, 0, False, stress, post))

    def _blank_level(self, unit: Unit) -> int | None:
        if unit.negated:
            return 0
        if unit.degree is not None:
            return unit.degree.roles.degree
        return 0 if unit.value == "normal" else None

    def _accent(self, marks: list[Mark], raws: list[_Raw]) -> None:
        """ "More prominent in the inferior wall" adds a regional finding to a global one."""
        for i, mark in enumerate(marks):
            if not mark.has("accent") or not any(m.has("segment") for m in marks[i + 1 : i + 6]):
                continue
            for raw in list(raws):
                regional = self._aspects[raw.aspect].when_segmental
                if (
                    regional
                    and raw.level not in (0, -3)
                    and (raw.structure, regional) in self.pack.grid
                ):
                    raws.append(_Raw(raw.structure, regional, -2))
                    break

    # -- numbers, combinations, and the end ------------------------------------------------

    def _from_numbers(self, marks: list[Mark], section: str, raws: list[_Raw]) -> None:
        spec = self.pack.spec
        for name, rows in spec.ranges.items():
            abnormality = spec.abnormalities[name]
            place = (abnormality.structure, abnormality.aspect)
            if any((raw.structure, raw.aspect) == place and raw.level != -3 for raw in raws):
                continue
            level = range_level(marks, place, rows, name)
            if level is not None:
                raws[:] = [r for r in raws if (r.structure, r.aspect) != place]
                raws.append(_Raw(*place, level))
        for combination in spec.combinations:
            values = []
            for sign in combination.signs:
                found = [
                    r.level
                    for r in raws
                    if (r.structure, r.aspect) == (sign.structure, sign.aspect)
                ]
                value = None
                if found:
                    value = "normal" if max(found) in (0, -1) else "abnormal"
                    value = None if -3 in found else value
                else:
                    value = sign_from_number(marks, sign, spec)
                values.append(value)
            named = any(
                sign.structure in m.roles.structures for m in marks for sign in combination.signs
            ) or section in {sign.structure for sign in combination.signs}
            for row in combination.table:
                if row.values == values and named:
                    target = spec.abnormalities[combination.abnormality]
                    raws.append(_Raw(target.structure, target.aspect, row.level))
                    break
        ventilated = spec.ventilated_abnormality
        if ventilated and any(m.has("ventilated") for m in marks):
            target = spec.abnormalities[ventilated]
            place = (target.structure, target.aspect)
            speaks = any(
                (t.structure, t.aspect) == place for m in marks for t in m.roles.targets
            ) or any(
                s.structure in m.roles.structures
                for m in marks
                for c in spec.combinations
                for s in c.signs
            )
            if speaks and not any((r.structure, r.aspect) == place for r in raws):
                raws.append(_Raw(*place, -3))

    def _findings(self, marks: list[Mark], frame: Frame, raws: list[_Raw]) -> tuple[Finding, ...]:
        hedged = any(m.has("hedge") for m in marks)
        if any(raw.explicit and raw.level != -3 for raw in raws):
            raws = [raw for raw in raws if not raw.sectional]
        prosthetic = any(m.has("prosthesis") for m in marks)
        new_with_stress = any(m.has("new_with_stress") for m in marks)
        grid = self.pack.grid
        best: dict[tuple[str, Phase], list[_Raw]] = {}
        pinned: set[str] = set()
        replaces: set[str] = set()
        for raw in raws:
            abnormality = grid.get((raw.structure, raw.aspect))
            if abnormality is None:
                continue
            phase = Phase.POST if raw.post else Phase.STRESS if raw.stress else Phase.BASELINE
            if raw.stress and raw.aspect == "regional" and (raw.level == -2 or raw.level > 0):
                if new_with_stress:
                    raw = replace(raw, level=-2)
                    phase = Phase.BASELINE
                    pinned.add(abnormality)
                    replaces.add(abnormality)
            elif raw.stress and raw.aspect == "regional" and raw.level == 0 and new_with_stress:
                phase = Phase.BASELINE
            elif new_with_stress and raw.aspect == "regional" and raw.level not in (0, -3):
                pinned.add(abnormality)  # in a stress section it is the study's own finding
            best.setdefault((abnormality, phase), []).append(raw)
        findings: set[Finding] = set()
        for (abnormality, phase), group in best.items():
            explicit = [r for r in group if r.explicit]
            use = explicit or group
            seen = [r for r in use if r.level != -3]
            use = seen or use
            firm = [r for r in use if not r.bare]
            chosen = firm or use
            if any(r.level > 0 for r in chosen):
                chosen = [r for r in chosen if r.level != -2]
            for raw in chosen:
                level = self.pack.fit(abnormality, raw.level)
                if level not in self.pack.abnormalities[abnormality].levels:
                    continue
                valve = raw.aspect in ("stenosis", "regurgitation")
                findings.add(
                    Finding(
                        abnormality,
                        level,
                        raw.explicit,
                        hedged,
                        phase,
                        prosthetic and valve,
                        frame.corrects or abnormality in replaces,
                        abnormality in pinned,
                    )
                )
        return tuple(sorted(findings))


_CONTRARY = frozenset({"but", "although", "though", "however", "yet"})


def _stands_after_all(raws: list[_Raw], before: int) -> None:
    """ "Suboptimally imaged but grossly normal": the finding stands (LABELLING 5)."""
    normal = {raw.structure for raw in raws[before:] if raw.level == 0}
    raws[:before] = [
        r for r in raws[:before] if r.explicit or r.level != -3 or r.structure not in normal
    ]


_BACK = frozenset({"which", ";", "where"})
_PRONOUNS = frozenset({"it", "this", "that"})


def _look_back(clauses: list[Clause]) -> None:
    """A value alone in a clause that looks back belongs to the last finding before it: "RVSP 28
    mmHg, which is normal"; "MR hidden by shadow; it is at least mild"."""
    for before, clause in zip(clauses, clauses[1:], strict=False):
        unit = clause.units[0]
        if clause.lead is None or unit.targets or unit.structures or unit.decoy or unit.negated:
            continue
        pronoun = bool(_PRONOUNS & set(unit.raw[:2]))
        if clause.lead.text not in _BACK or not (pronoun or clause.lead.text != ";" or unit.degree):
            continue
        last = before.units[-1]
        if not last.targets or last.degree or last.value or last.negated or unit.dim:
            continue
        if unit.degree is not None or unit.value or unit.aspects:
            last.degree, last.value, last.aspects = unit.degree, unit.value, unit.aspects
            last.dim = last.weak_dim = False
            last.predicate = True
            clause.units.pop(0)
            clause.units or clause.units.append(Unit(""))


_JET = frozenset(
    {"eccentric", "central", "directed", "posteriorly", "anteriorly", "posterior", "anterior"}
)

_REASON = frozenset(
    {"because", "because of", "due to", "owing to", "secondary to", "given", "related to",
     "as a result of", "in view of", "attributable to", "from the"}
)  # fmt: skip


def _belongs_to_decoy(unit: Unit, mark: Mark, target: Target) -> bool:
    """Do the words speak of a noun without label ("small apical mass", "root is dilated",
    "hypertrophy of the interatrial septum")?"""
    place = next((i for i, m in enumerate(unit.marks) if m is mark), None)
    if place is None:
        return False
    after = unit.marks[place + 1 :]
    if not target.adjective:
        words = [m.text for m in after[:2]]
        if words[:1] == ["of"]:
            noun = after[2:3] if words[1:] and words[1] in ("the", "a") else after[1:2]
            return bool(noun) and _decoy(noun[0])
        if mark.has("segment") and place > 0 and unit.marks[place - 1].has("segment"):
            return True  # "the inferolateral wall" is a place
        if target.level is None and place > 0 and _decoy(unit.marks[place - 1]):
            return not unit.marks[place - 1].has("filler")  # "root wall"
        return False
    head = None
    for m in after:  # of a run of nouns the last is the head: "LV apical mass"
        if _decoy(m) or m.roles.structures or any(not t.adjective for t in m.roles.targets):
            head = m
        elif not (m.has("segment") or m.has("filler") or m.roles.degree is not None):
            if m.text not in ("the", "a", "-", "sized", "secundum", "membranous"):
                break
    if head is not None:
        return _decoy(head)
    before = [m for m in unit.marks[:place] if _decoy(m) or m.roles.structures]
    return bool(before) and _decoy(before[-1])


def _decoy(mark: Mark) -> bool:
    return mark.has("decoy") and not mark.roles.targets and not mark.roles.aspects


def _only_the_cause(unit: Unit) -> bool:
    """ "Obscured by the mitral prosthesis": the structure hides, it is not hidden."""
    places = [m.start for m in unit.marks if m.roles.structures]
    dims = [m.start for m in unit.marks if m.has("dim_after") and not m.has("dim_before")]
    return bool(places and dims) and min(places) > max(dims)


def _dim_of_structure(unit: Unit) -> bool:
    """Is it the structure that is not seen, and a noun without label only where or how?"""
    for mark in unit.marks:
        if _decoy(mark):
            return False
        if mark.has("dim_after"):
            return unit.dim and bool(unit.structures)
    return False


def _unseen(unit: Unit) -> bool:
    return any(
        text in ("not seen", "is not seen", "are not seen", "not visible") for text in unit.raw
    )


def _VALVE_LIKE(pack: Pack) -> frozenset[str]:
    return frozenset(a.structure for a in pack.spec.abnormalities.values()) | {"PV"}
