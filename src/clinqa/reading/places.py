"""Of which structures a target speaks, and under which aspect its level counts."""

from __future__ import annotations

from dataclasses import dataclass, field

from clinqa.packs.loader import Pack
from clinqa.reading.clauses import Unit
from clinqa.reading.vocabulary import Target

__all__ = ["Context", "Places"]


@dataclass(slots=True)
class Context:
    """Where a unit stands: its section, and what was named before and comes after.

    `carried` are the structures last named; `generic` those of a word such as "chambers" that
    counts only where the finding is normal; `following` is the next unit that names a structure.
    """

    section: str
    carried: list[str] = field(default_factory=list)
    generic: list[str] = field(default_factory=list)
    following: Unit | None = None


class Places:
    """Places targets with one pack's structures and aspects."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._aspects = pack.spec.aspects
        self._signs = {
            (sign.structure, sign.aspect)
            for combination in pack.spec.combinations
            for sign in combination.signs
        }

    def aspects(
        self, unit: Unit, target: Target, level: int, context: Context
    ) -> list[tuple[str, int]]:
        """The aspects under which a target's level counts, each with its level."""
        spec = self._aspects[target.aspect]
        if spec.qualified_by:
            text = f" {' '.join(unit.raw + unit.after)} "
            return [
                (name, level)
                for name, terms in spec.qualified_by.items()
                if any(f" {term} " in text for term in terms)
            ]
        if spec.expands:
            return [(name, level) for name in spec.expands] if level in (0, -3) else []
        name = spec.merges or spec.alias or target.aspect
        both = {"mod_regional", "mod_global"} <= unit.tags
        if spec.when_segmental and self._segmental(unit, target, context):
            segmental = spec.when_segmental
            if both:
                return [(name, level), (segmental, level)]
            if "mod_regional" in unit.tags:
                return [(segmental, level)]
            if unit.segments and "mod_global" not in unit.tags:
                if level == 0 and {"all", "every", "each"} & set(unit.raw):
                    return [(segmental, 0)]
                if target.level == -2:
                    ignores = spec.segmental_ignores_degree and level > 0
                    return [(segmental, -2 if ignores else level)]
        if spec.when_global and "mod_global" in unit.tags:
            overall = (spec.when_global, level)
            return [(name, level), overall] if both else [overall]
        return [(name, level)]

    def _segmental(self, unit: Unit, target: Target, context: Context) -> bool:
        """Does the structure meant have a segmental aspect of its own?"""
        grid = self._pack.grid
        segmental = self._aspects[target.aspect].when_segmental or ""
        if target.structure is not None:
            return (target.structure, segmental) in grid
        names = unit.structures or context.carried or [context.section]
        meant = [s for s in names if (s, target.aspect) in grid]
        return not meant or any((s, segmental) in grid for s in meant)

    def structures(
        self, unit: Unit, target: Target, aspect: str, level: int, context: Context
    ) -> list[str]:
        """The structures a target speaks of: named with it, beside it, before it in the sentence,
        or by its section; at last where the pack has a default."""
        spec, base = self._aspects[aspect], self._aspects[target.aspect]
        if target.structure is not None and (
            (target.structure, aspect) in self._pack.grid or aspect == target.aspect
        ):
            return [target.structure]
        own = spec.own_structure or base.own_structure
        if own is not None:
            excluded = {*spec.excluded, *base.excluded}
            return [] if excluded & set(unit.structures or context.carried) else [own]
        named, carried, section = unit.structures, context.carried, context.section
        if named and not unit.weak and (self._fit(named, aspect) or self._certain(named)):
            return self._fit(named, aspect)
        shared = self._after(unit, target, context.following)
        if shared and self._fit(shared, aspect):
            return self._fit(shared, aspect)
        if carried and (self._fit(carried, aspect) or self._certain(carried)):
            return self._fit(carried, aspect)
        if self._fit([section], aspect):
            return [section]
        if named and unit.weak:
            return [] if unit.only_normal and level != 0 else self._fit(named, aspect)
        if context.generic and not carried:
            return self._fit(context.generic, aspect) if level == 0 else []
        if section != "*" and section not in self._pack.spec.structures:
            return []  # a section about something that has no labels
        default = spec.default_structure or base.default_structure
        if default is not None and {"its", "their"} & set(unit.raw):
            return []  # of something named in another sentence
        if default is not None:
            only = spec.only_section or base.only_section
            return [default] if not only or section in only else []
        several = base.default_structures or spec.default_structures
        if several and level in (0, -3):
            return self._fit(several, aspect)
        whole = level == 0 or (level == -3 and "any" in unit.raw)
        if whole and section == "*" and not unit.decoy and not target.normal:
            return self._fit(spec.when_unnamed_normal, aspect)
        return []

    def _after(self, unit: Unit, target: Target, following: Unit | None) -> list[str]:
        """ "Mildly dilated, moderately hypokinetic right ventricle": adjectives before one noun."""
        if (
            following is not None
            and target.adjective
            and not unit.structures
            and following.targets
            and following.targets[0][1].adjective
            and not following.structure_first
        ):
            return following.structures
        return []

    def _fit(self, names: list[str], aspect: str) -> list[str]:
        return [n for n in names if (n, aspect) in self._pack.grid or (n, aspect) in self._signs]

    def _certain(self, names: list[str]) -> bool:
        """Are these what is spoken of, and not only where ("septum")?"""
        return any(not self._pack.spec.structures[name].place for name in names)
