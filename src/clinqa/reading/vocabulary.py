"""The words of a pack as a look-up: which roles the tokens at a place can play.

Half a name: "mild left and moderate right atrial enlargement" speaks of both atria.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rapidfuzz.distance import OSA

from clinqa.packs.loader import Pack
from clinqa.packs.schema import AspectSpec
from clinqa.reading.tokens import BLANK, Token, tokenize

__all__ = ["MarkedPhrase", "Target", "Vocabulary", "complete_sides"]


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can have a level: an aspect, perhaps with its structure.

    `level` is what the words are when nothing else is said; None for an attribute, which says
    nothing by itself.
    """

    aspect: str
    structure: str | None = None
    level: int | None = -2
    adjective: bool = False
    normal: bool = False  # words that call the aspect normal ("opens well")
    for_age: bool = False  # an attribute that counts only "for age"
    only_altered: bool = False  # an attribute that counts only where it is abnormal
    kind: str = ""  # lesions of one kind share a degree in a list
    measure: bool = False  # how something else is measured, a finding only where described


@dataclass(slots=True)
class Roles:
    """All that one phrase can be."""

    targets: tuple[Target, ...] = ()
    structures: tuple[str, ...] = ()
    weak: bool = False
    only_normal: bool = False
    degree: int | None = None
    trace: bool = False
    value: str = ""  # normal, abnormal
    aspects: frozenset[str] = frozenset()  # aspects that these words make abnormal
    tags: frozenset[str] = frozenset()
    cased: bool = False  # only in capitals, or after a degree or a denial


@dataclass(slots=True)
class MarkedPhrase:
    """A phrase found in a statement."""

    text: str
    roles: Roles
    start: int
    end: int
    upper: bool = False
    paren: bool = False
    extra: dict[str, object] = field(default_factory=dict)

    def has(self, tag: str) -> bool:
        return tag in self.roles.tags


NOTHING = Roles()
_BLANKED = Roles(tags=frozenset({"blank"}))


class Vocabulary:
    """The phrases of a pack, compiled once."""

    def __init__(self, pack: Pack) -> None:
        self._phrases: dict[tuple[str, ...], Roles] = {}
        self._known: set[str] = set()
        self._fixable: dict[str, list[str]] = defaultdict(list)
        self._fixed: dict[str, str] = {}
        self._spellings = {**pack.english.spellings, **pack.spec.spellings}
        self._fill(pack)
        lengths: dict[str, set[int]] = defaultdict(set)
        for roles in self._phrases.values():
            roles.targets = tuple(
                replace(t, kind=pack.spec.aspects[t.aspect].kind or t.aspect)
                if t.aspect in pack.spec.aspects
                else t
                for t in roles.targets
            )
        for phrase in self._phrases:
            lengths[phrase[0]].add(len(phrase))
            self._known.update(phrase)
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}
        for word in (*pack.spec.plain_words, *pack.english.plain_words):
            self._known.update(token.text for token in tokenize(word))

    def _add(self, terms: Iterable[str], **roles: Any) -> None:
        for term in terms:
            key = tuple(token.text for token in tokenize(term))
            if not key:
                continue
            entry = self._phrases.setdefault(key, Roles())
            for name, value in roles.items():
                if name == "targets":
                    value = tuple(dict.fromkeys((*entry.targets, *value)))
                elif name in ("tags", "aspects"):
                    value = getattr(entry, name) | value
                setattr(entry, name, value)

    def _correctable(self, terms: Iterable[str]) -> None:
        """Words whose misspellings are read: degrees and findings."""
        for term in terms:
            for token in tokenize(term):
                word = token.text
                if len(word) >= 5 and word.isalpha() and word not in self._fixable[word[0]]:
                    self._fixable[word[0]].append(word)

    def _fill(self, pack: Pack) -> None:
        english, spec = pack.english, pack.spec
        for degree in english.degrees:
            self._add(degree.terms, degree=degree.level, trace=degree.trace)
            self._correctable(degree.terms)
        self._add(english.values["normal"], value="normal")
        self._add(english.values["abnormal"], value="abnormal")
        self._correctable(english.values["normal"][:2] + english.values["abnormal"][:1])
        for key, structure in spec.structures.items():
            self._add(structure.terms, structures=(key,))
            self._correctable(structure.terms)
        for group in spec.groups:
            self._add(
                group.terms,
                structures=tuple(group.structures),
                weak=group.weak,
                only_normal=group.only_normal,
            )
        for name, aspect in spec.aspects.items():
            self._fill_aspect(name, aspect)
        for item in spec.named:
            level = item.level if item.level is not None else -2 if item.as_ == "finding" else None
            target = Target(
                item.aspect,
                item.structure,
                level,
                only_altered=item.only_altered,
                measure=item.measure,
            )
            self._add(item.terms, targets=[target])
            self._correctable(item.terms)
            for term in item.terms:
                if len(term) <= 3:
                    self._add([term], cased=True)
        self._add(spec.cased, cased=True)
        self._correctable(word for word in spec.decoys if " " not in word)
        self._fill_tags(pack)

    def _fill_tags(self, pack: Pack) -> None:
        """What is marked by a tag alone: by its own name, or by those that the pack lists."""
        english, spec = pack.english, pack.spec
        forms = english.inadequate_forms
        said = [
            f"{lead} {adverb}{participle}"
            for lead in (*forms["auxiliaries"], "not")
            for adverb in ("", *(f"{word} " for word in forms["adverbs"]))
            for participle in forms["participles"]
            if adverb or lead != "not"
        ]
        for terms, tags in (
            (english.plain_words, {"plain"}),
            (english.attributive, {"attributive"}),
            (english.between, {"between"}),
            (english.scale, {"scale"}),
            (english.grade_words, {"grade"}),
            (english.no_sight, {"no_sight"}),
            (said, {"dim_after"}),
            (english.hedges, {"hedge"}),
            (spec.decoys, {"decoy"}),
            (spec.segments, {"segment"}),
            (spec.remaining, {"remaining"}),
            (spec.fillers, {"filler"}),
            (spec.prosthesis, {"prosthesis"}),
            (spec.partial, {"partial"}),
            (spec.whole, {"whole"}),
            (spec.described, {"described"}),
            (spec.structure_only, {"decoy", "structure_only"}),
            (spec.not_enough, {"decoy", "dim_before"}),
        ):
            self._add(terms, tags=tags)
        for lead, named in (
            ("", english.bounds),
            ("no_", english.negation),
            ("dim_", english.inadequate),
            ("", english.time),
            ("", english.connect),
            ("mod_", spec.modifiers),
            ("", spec.ignore_clauses),
            ("unreadable:", spec.unreadable),
        ):
            for name, terms in named.items():
                self._add(terms, tags={f"{lead}{name}"})
        for name, rows in spec.range_words.items():
            for row in rows:
                self._add(row.terms, tags={f"range:{name}:{row.level}"})
        for aspect in spec.aspects.values():
            for terms in aspect.qualified_by.values():
                self._add(terms, tags={"qualifier"})

    def _fill_aspect(self, name: str, aspect: AspectSpec) -> None:
        adjectives = set(aspect.adjective)
        self._add(aspect.attribute, targets=[Target(name, None, None)])
        self._add(aspect.normal_attribute, targets=[Target(name, None, None, normal=True)])
        self._add(aspect.age_attribute, targets=[Target(name, None, None, for_age=True)])
        for term in aspect.finding:
            self._add([term], targets=[Target(name, None, -2, term in adjectives)])
        for row in aspect.finding_levels:
            for term in row.terms:
                target = Target(name, None, row.level, term in adjectives)
                self._add([term], targets=[target])
        self._add(aspect.normal, targets=[Target(name, None, 0, True, True)])
        self._add(aspect.up, aspects={name})
        self._add(aspect.down, aspects={name})
        self._add(aspect.normal_only, tags={"normal_only"})
        self._correctable((*aspect.attribute, *aspect.finding, *aspect.up, *aspect.down))
        for row in aspect.finding_levels:
            self._correctable(row.terms)

    def correct(self, word: str) -> str:
        """The pack's word that `word` misspells, or `word` itself.

        One slip in words of five to seven letters, two from eight on; the first letter stands.
        """
        if word in self._spellings:
            return self._spellings[word]
        if len(word) < 5 or word in self._known or not word.isalpha():
            return word
        fixed = self._fixed.get(word)
        if fixed is None:
            slips = 1 if len(word) < 8 else 2
            best = (slips + 1, word)
            for candidate in self._fixable.get(word[0], ()):
                if abs(len(candidate) - len(word)) <= slips:
                    distance = OSA.distance(word, candidate, score_cutoff=slips)
                    if distance <= slips:
                        best = min(best, (distance, candidate))
            fixed = self._fixed[word] = best[1]
        return fixed

    def marks(self, tokens: Sequence[Token]) -> list[MarkedPhrase]:
        """The phrases in a statement, left to right, the longest at each place."""
        words = [self.correct(token.text) for token in tokens]
        shouting = not any(t.text.isalpha() and not t.upper and len(t.text) > 1 for t in tokens)
        found: list[MarkedPhrase] = []
        place = 0
        while place < len(words):
            mark = None
            for length in self._lengths.get(words[place], ()):
                end = place + length
                roles = self._phrases.get(tuple(words[place:end]))
                if roles is None or end > len(words):
                    continue
                if roles.cased and not self._stands(tokens, place, end, shouting, found):
                    continue
                upper = all(t.upper for t in tokens[place:end])
                mark = MarkedPhrase(" ".join(words[place:end]), roles, place, end, upper)
                break
            if mark is None:
                roles = _BLANKED if words[place] == BLANK else NOTHING
                mark = MarkedPhrase(words[place], roles, place, place + 1, tokens[place].upper)
            found.append(mark)
            place = mark.end
        return found

    def _stands(
        self,
        tokens: Sequence[Token],
        start: int,
        end: int,
        shouting: bool,
        before: list[MarkedPhrase],
    ) -> bool:
        """Is this short form really meant? "AS" is stenosis, "as" a conjunction."""
        if start > 0 and tokens[start - 1].text[0].isdigit():
            return False  # "245 ms" are milliseconds
        capitals = all(t.upper for t in tokens[start:end])
        if capitals and not shouting:
            return True
        led = bool(before) and (
            before[-1].roles.degree is not None
            or before[-1].has("no_before")
            or before[-1].text in ("+", ")", "]", BLANK)
        )
        if not capitals:
            return led and tokens[start].text != "as"
        if tokens[start].text != "as":
            return True
        if end >= len(tokens):
            return True
        following = tokens[end].text
        return led or start == 0 or following in (",", ".", ":", " - ", "and", "or", "/", "absent")


_REACH = 4


def complete_sides(
    marks: list[MarkedPhrase], sides: dict[str, dict[str, str]]
) -> list[MarkedPhrase]:
    """Give a lone side the structure that its partner names: {"left": {"RA": "LA"}}."""
    if not sides:
        return marks
    out = list(marks)
    for i, mark in enumerate(marks):
        pairs = sides.get(mark.text)
        if pairs is None or mark.roles.structures or mark.roles.targets:
            continue
        joined = False
        for other in marks[i + 1 : i + 1 + _REACH]:
            joined |= other.has("and") or other.has("or") or other.text == "/"
            named = other.roles.structures or [t.structure for t in other.roles.targets]
            if any(named):
                whole = tuple(pairs[s] for s in named if s in pairs)
                if joined and whole:
                    out[i] = replace(mark, roles=replace(mark.roles, structures=whole))
                break
    return out
