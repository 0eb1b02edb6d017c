"""The pack's words ready for use: sets, and patterns that match whole words, longest first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from clinqa.packs.references import ReferencePack, ReferenceSpec

__all__ = ["Opposite", "Words", "phrases", "words_of"]

_CAPITALS = {"p": "P", "qrs": "QRS", "t": "T", "pr": "PR", "qt": "QT", "st": "ST", "u": "U",
             "his": "His", "purkinje": "Purkinje", "av": "AV"}  # fmt: skip
_EDGE_LEFT, _EDGE_RIGHT = r"(?<![\w])", r"(?![\w])"


@dataclass(frozen=True, slots=True)
class Opposite:
    """What a word is exchanged for, and the kind of the pair."""

    word: str
    kind: str


@dataclass(frozen=True)
class Words:
    """See the module; made once a pack."""

    spec: ReferenceSpec
    opposites: dict[str, tuple[Opposite, ...]]
    opposite: re.Pattern[str]
    negation: re.Pattern[str]
    negating: frozenset[str]
    image: re.Pattern[str]
    context: re.Pattern[str]
    paper: re.Pattern[str]
    hedge: re.Pattern[str]
    openings: re.Pattern[str]
    first: frozenset[str]
    topics: dict[str, re.Pattern[str]]
    abbreviations: frozenset[str]
    closed: dict[str, str]
    open: dict[str, str]
    nouns: frozenset[str]
    functional: frozenset[str]
    moving: frozenset[str]
    open_after_be: re.Pattern[str]
    fixed: frozenset[str]
    """Single words that may not differ between a quote and its page."""
    unit_names: dict[str, str]
    unit: str
    """A pattern of every spelling of a unit."""


def _cased(term: str) -> str:
    """A term as it is written within a sentence."""
    return " ".join(_CAPITALS.get(word, word) for word in term.split())


def phrases(items: Iterable[str]) -> str:
    """A pattern that matches any of the phrases as whole words, the longest that fits."""
    ordered = sorted({item.casefold() for item in items}, key=lambda one: (-len(one), one))
    body = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in ordered)
    return f"{_EDGE_LEFT}(?:{body}){_EDGE_RIGHT}"


@lru_cache(maxsize=4)
def words_of(pack: ReferencePack) -> Words:
    """The words of a pack."""
    spec = pack.spec
    opposites = _opposites(spec)
    units = {s.casefold(): name for name, unit in spec.units.items() for s in unit.spellings}
    spelt = sorted(units, key=lambda one: (-len(one), one))
    return Words(
        spec=spec,
        opposites={word: tuple(found) for word, found in opposites.items()},
        opposite=re.compile(rf"(?<!-){phrases(opposites)}(?!-)", re.I),
        negation=re.compile(
            phrases(w for w in spec.negation if w != "n't") + r"|(?<=\w)n['\u2019]t\b", re.I
        ),
        negating=frozenset(w.casefold() for w in spec.negation if " " not in w),
        image=_compiled(spec.image_phrases),
        context=_compiled(spec.context_words),
        paper=_compiled(spec.paper_words),
        hedge=_compiled(spec.hedges),
        openings=re.compile(rf"^(?:{phrases(spec.openings)})\s*,\s*", re.I),
        first=frozenset(w.casefold() for w in spec.first_words),
        topics={name: _compiled(topic.terms) for name, topic in spec.topics.items()},
        abbreviations=frozenset(spec.abbreviations),
        closed={**spec.verbs.closed, **{base: base for base in spec.verbs.closed.values()}},
        open={**spec.verbs.open, **{base: base for base in spec.verbs.open.values()}},
        nouns=frozenset(spec.verbs.also_nouns),
        functional=frozenset(spec.verbs.functional),
        moving=frozenset(spec.verbs.moving),
        open_after_be=re.compile(
            rf"\s+(?:\w+ly\s+|also\s+)?{phrases(spec.verbs.open_after_be)}", re.I
        ),
        fixed=_fixed(spec, opposites, units),
        unit_names=units,
        unit="|".join(re.escape(one).replace(r"\ ", r"\s+") for one in spelt),
    )


def _opposites(spec: ReferenceSpec) -> dict[str, list[Opposite]]:
    opposites: dict[str, list[Opposite]] = {}
    for kin in spec.kin:
        for word in kin:
            opposites.setdefault(word.casefold(), []).extend(
                Opposite(_cased(other), "term") for other in kin if other != word
            )
    for kind, pairs in spec.opposites.items():
        for one, other in pairs:
            for word, against in ((one.casefold(), other), (other.casefold(), one)):
                opposites.setdefault(word, []).append(Opposite(against, kind))
    return opposites


def _fixed(spec: ReferenceSpec, opposites: Iterable[str], units: Iterable[str]) -> frozenset[str]:
    """Single words that stand in opposites, counts, degrees and units."""
    counts = (*spec.ordinals, *spec.degrees, *spec.number_words)
    return frozenset(
        [
            *(word for phrase in opposites for word in phrase.split()),
            *(word for phrase in counts for word in phrase.split("-")),
            *(word for spelling in units for word in spelling.split() if word.isalpha()),
        ]
    )


def _compiled(items: Iterable[str]) -> re.Pattern[str]:
    return re.compile(phrases(items), re.I)
