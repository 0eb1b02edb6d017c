"""Which abnormalities a statement speaks of at all, whatever it labels.

"The report does not say" is a right answer only where no statement of the report names what is
asked. A statement may name it and label nothing: a number alone ("LVEF 60 %"), an earlier value, a
finding of one region where the whole is asked for. So this look-up is generous on purpose: a
question too few is no harm, a false "does not say" is a wrong item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from clinqa.core.arrays import Int32s, Ints
from clinqa.packs.loader import Pack
from clinqa.reading.labeller import LONGEST
from clinqa.reading.pieces import Pieces, Statements
from clinqa.reading.tokens import Token, abstract, plain, tokenize
from clinqa.reading.vocabulary import MarkedPhrase, Roles, Target, Vocabulary, complete_sides

__all__ = ["MentionTable", "Mentions"]


class Mentions:
    """Reads statements with one pack's words."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._vocabulary = Vocabulary(pack)
        self._within = {name: frozenset(self._reach(name)) for name in pack.spec.aspects}
        self._speaks: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for abnormality, terms in pack.spec.speaks_of.items():
            for term in terms:
                words = tuple(token.text for token in tokenize(term))
                self._speaks[words[0]].append((words, abnormality))
        self._signs = {
            sign.structure: combination.abnormality
            for combination in pack.spec.combinations
            for sign in combination.signs
            if not any(s == sign.structure for s, _ in pack.grid)
        }
        self._read: dict[tuple[str, str], frozenset[str]] = {}

    def of(self, text: str, section: str = "*") -> frozenset[str]:
        """The abnormalities that a statement in the section of structure `section` speaks of.

        >>> from clinqa.packs.loader import builtin_pack
        >>> sorted(Mentions(builtin_pack("echo")).of("PA systolic pressure 28 mmHg."))
        ['pulmonary_hypertension']
        """
        if len(text) > LONGEST:
            return frozenset(self._pack.abnormalities)  # nobody reads it, so nobody knows
        if section == "?":
            section = self._pack.spec.blank_section or "*"
        key = (section, abstract(plain(text)))
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = frozenset(self._find(tokenize(key[1]), section))
        return found

    def _reach(self, aspect: str) -> Iterator[str]:
        """The aspects as which an aspect's words may count, itself among them."""
        spec = self._pack.spec.aspects[aspect]
        others = (spec.alias, spec.merges, spec.when_segmental, spec.when_global)
        yield aspect
        yield from (other for other in others if other is not None)
        yield from (*spec.expands, *spec.qualified_by)

    def _find(self, tokens: list[Token], section: str) -> set[str]:
        spec, grid = self._pack.spec, self._pack.grid
        marks = complete_sides(self._vocabulary.marks(tokens), spec.sides)
        roles = [mark.roles for mark in marks]
        roles += [inner for mark in marks for inner in self._inside(tokens, mark)]
        targets = [target for role in roles for target in role.targets]
        named = {name for role in roles for name in role.structures}
        named |= {target.structure for target in targets if target.structure is not None}
        spoken = named or ({section} & set(spec.structures))
        tags = {tag for role in roles for tag in role.tags}
        found = {
            grid[place]
            for target in targets
            for place in self._places(target, named, section)
            if place in grid
        }
        counted = any(token.text[0].isdigit() for token in tokens)
        if counted and not targets and (named or "decoy" not in tags):
            found.update(name for (structure, _), name in grid.items() if structure in spoken)
        if not found and any(role.value == "normal" for role in roles):
            found.update(a for name in spoken for a in spec.structures[name].normal)
        if any(tag == "no_sight" or tag.startswith("dim_") for tag in tags):
            found.update(a for name in spoken for a in spec.structures[name].unseen)
        if "blank" in tags and not targets:
            blanked = {(name, spec.blanks.get(name, "")) for name in spoken}
            found.update(grid[place] for place in blanked if place in grid)
        for role in roles:  # "the walls are thick": what makes an aspect of it abnormal
            found.update(grid[s, a] for s in spoken for a in role.aspects if (s, a) in grid)
        aspects = [spec.aspects[t.aspect] for t in targets if t.aspect in spec.aspects]
        own = {aspect.own_structure for aspect in aspects}
        found.update(self._signs[s] for s in (*named, *own) if s in self._signs)
        found.update(name for name in spec.unreadable if f"unreadable:{name}" in tags)
        found.update(self._spoken_of(tokens))
        return found

    def _inside(self, tokens: Sequence[Token], mark: MarkedPhrase) -> Iterator[Roles]:
        """The phrases within a longer one that has no label ("TR" in "TR gradient")."""
        if mark.roles.targets or not mark.has("decoy"):
            return
        for start in range(mark.start, mark.end):
            for end in range(start + 1, mark.end + 1):
                if end - start < mark.end - mark.start:
                    inner = self._vocabulary.marks(tokens[start:end])
                    if len(inner) == 1:
                        yield inner[0].roles

    def _places(self, target: Target, named: set[str], section: str) -> set[tuple[str, str]]:
        """(structure, aspect) of all that a target may speak of."""
        within = self._within.get(target.aspect, frozenset())
        if target.structure is not None:
            return {(target.structure, aspect) for aspect in within}
        grid = self._pack.grid
        places: set[tuple[str, str]] = set()
        for aspect in within:
            specs = [self._pack.spec.aspects[name] for name in {aspect, target.aspect}]
            fitting = {name for name in {*named, section} if (name, aspect) in grid}
            if not fitting:
                for spec in specs:
                    single = {spec.default_structure, spec.own_structure} - {None}
                    several = (*spec.default_structures, *spec.when_unnamed_normal)
                    fitting.update(name for name in (*single, *several) if name is not None)
            if not fitting and not named:
                fitting = {structure for structure, own in grid if own == aspect}
            places.update((structure, aspect) for structure in fitting)
        return places

    def _spoken_of(self, tokens: Sequence[Token]) -> Iterator[str]:
        """By the pack's words for it, anything between them ("TR is mild, gradient 24 mmHg")."""
        words = [token.text for token in tokens]
        for place, word in enumerate(words):
            for phrase, abnormality in self._speaks.get(word, ()):
                rest = iter(words[place:])
                if all(part in rest for part in phrase):
                    yield abnormality


class MentionTable:
    """What each distinct statement of a build speaks of, each read once."""

    def __init__(self, pack: Pack) -> None:
        self._mentions = Mentions(pack)
        self._code = {name: code for code, name in enumerate(pack.abnormalities)}
        self._rows = np.zeros((1024, len(self._code)), bool)
        self._size = 0

    def pairs(self, pieces: Pieces, words: Statements) -> tuple[Int32s, Ints]:
        """Study and abnormality of everything that a batch's statements speak of."""
        self._grow(int(pieces.statement.max()) + 1 if len(pieces) else 0, words)
        place, abnormality = np.nonzero(self._rows[pieces.statement])
        return pieces.study[place], abnormality

    def _grow(self, size: int, words: Statements) -> None:
        if size > len(self._rows):
            room = np.zeros((max(size, 2 * len(self._rows)), len(self._code)), bool)
            room[: self._size] = self._rows[: self._size]
            self._rows = room
        for number in range(self._size, size):
            found = self._mentions.of(words.texts[number], words.structures[number])
            self._rows[number, [self._code[name] for name in found]] = True
        self._size = max(self._size, size)
