"""What an answer says: its findings, and what it says of the abnormality that was asked for.

The pack's own labeller reads the answer's sentences as it reads a report's, under the structure
of the question. Answers need a little more than reports do: a bare degree ("Moderate.") is read
under the abnormality asked for, "yes" and "no" under the question, "the report does not mention
it" is no denial, and "normal leaflets" speaks of the valve (EchoQA accepts it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from clinqa.core.records import Level
from clinqa.kinds.long_form.answer_words import answer_words, structure_parts, value_words
from clinqa.kinds.long_form.questions import QuestionType, questionnaire
from clinqa.kinds.long_form.sentences import (
    FENCE,
    SaidOfStructure,
    Sentences,
    phrases,
    statement_key,
)
from clinqa.packs.loader import Pack
from clinqa.reading.attribute import resolution_table, resolve

__all__ = [
    "ABNORMAL",
    "ABSENT",
    "ADEQUATE",
    "AnswerReader",
    "AnswerReading",
    "AskedAbout",
    "answer_text",
    "statement_key",
]

ABNORMAL = frozenset({-2, 1, 2, 3})
ABSENT = frozenset({0, -1})
ADEQUATE = frozenset({-2, -1, 0, 1, 2, 3})
SHORT = 8  # words of an answer that may be a bare degree
_THINKING = "</think>"
_LETTERS = re.compile(r"[^\W\d_]+")
_MARKS = re.compile('["\u201c\u201d\u00ab\u00bb`]|</?[a-zA-Z]{1,10}>')  # quotes and tags
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|\d+\+?")


@dataclass(frozen=True, slots=True)
class _Word:
    """What an answer says of the asked abnormality; the fields as those of `AnswerReading`."""

    levels: frozenset[int] = frozenset()
    abstained: bool = False
    contradicts: bool = False
    bare: bool = False


_NOTHING, _UNGRADED = _Word(), _Word(frozenset({-2}))
_ADEQUATE, _INADEQUATE = _Word(ADEQUATE), _Word(frozenset({-3}))


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """What a question asks: one abnormality of one structure, in one way."""

    abnormality: str
    structure: str
    question_type: str


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """An answer as read.

    `levels` are those that its last word on the asked abnormality leaves open: one for a stated
    level or a bare yes (-2) or no (0), several for "not severe", empty where it says nothing of
    it; where it `contradicts` itself, those that cannot all hold. `bare`: a yes or no alone states
    no level. `abstained`: it says that the report does not say. `findings` are the
    resolved levels of all abnormalities named; `implied` those that only follow from a
    structure called normal or not seen.
    """

    levels: frozenset[int] = frozenset()
    abstained: bool = False
    findings: dict[str, int] = field(default_factory=dict)
    implied: frozenset[str] = frozenset()
    contradicts: bool = False
    bare: bool = False

    @property
    def level(self) -> int | None:
        """The level, where it states one."""
        alone = len(self.levels) == 1 and not self.contradicts and not self.bare
        return next(iter(self.levels)) if alone else None


def answer_text(output: str) -> str | None:
    """The answer in what a model put out: what follows its reasoning; None if nothing does.

    >>> answer_text("<think>Mild? No.</think> Moderate.")
    'Moderate.'
    """
    if _THINKING in output:
        output = output.rpartition(_THINKING)[2]
    elif "<think>" in output:
        output = output.partition("<think>")[0]
    return output.strip() or None


class AnswerReader:
    """Reads answers with one pack's words; each distinct answer once."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._sentences = Sentences(pack)
        self._resolution = resolution_table(pack)
        words = answer_words()
        self._opening = re.compile(
            r"\s*(?:" + "|".join(map(re.escape, words.openings)) + r")\s*[:\-]\s*", re.I
        )
        lead = "|".join(map(re.escape, [*words.yes, *words.no]))
        self._lead = re.compile(rf"\s*({lead})(?=\s*$|\s*[.,;:!(\n]|\s+-\s)[\s.,;:!-]*", re.I)
        pronouns = "|".join(map(re.escape, words.pronouns))
        self._pronoun = re.compile(
            rf"\s*(?:{pronouns})\s+(?=is|was|has|appears|remains|were)", re.I
        )
        self._yes = frozenset(words.yes)
        self._adequate = phrases(words.adequate)
        self._inadequate, self._unseen = phrases(words.inadequate), phrases(words.unseen)
        asks = "|".join(map(re.escape, words.asks))
        self._question = re.compile(rf"(?:(?<=[.!?\n])|^)\s*(?:{asks})\b[^.!?\n]*\?", re.I)
        self._levels = {text: level for level, all_ in words.levels.items() for text in all_}
        self._normal, self._beside = frozenset(words.normal), frozenset(words.beside)
        self._names = {
            name: frozenset(
                word
                for term in [spec.name, *spec.terms, *structure_parts(pack).get(name, [])]
                for word in _words(term)
            )
            for name, spec in pack.spec.structures.items()
        }
        self._parts = {name: frozenset(all_) for name, all_ in structure_parts(pack).items()}
        spec = pack.spec.structures
        self._structures = {
            name: (
                phrases(spec[name].terms),
                phrases({t for other in spec.values() for t in other.terms} - {*spec[name].terms}),
            )
            for name in spec
        }
        self._values = value_words(pack)
        self._degrees = phrases(t for degree in pack.english.degrees for t in degree.terms)
        self._readings: dict[tuple[AskedAbout, str], AnswerReading] = {}
        self._canonical, prefixes, self._nominal = _questions(pack)
        self._prefixes = {
            name: [(text, self._resolved(text).get(name)) for text in texts]
            for name, texts in prefixes.items()
        }

    def read(self, text: str, asked: AskedAbout) -> AnswerReading:
        """What `text` says in answer to this question."""
        key = (asked, text)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = self._read(text, asked)
        return reading

    def _read(self, text: str, asked: AskedAbout) -> AnswerReading:
        text = self._question.sub(" ", _MARKS.sub("", text)).strip()
        text = self._opening.sub("", text, count=1) if self._opening.match(text) else text
        lead: bool | None = None
        rest = text
        if found := self._lead.match(text):
            lead = found[1].casefold() in self._yes
            rest = text[found.end() :]
        said = self._sentences.read(rest, asked.structure)
        findings = resolve(said.findings, self._resolution)
        explicit = {f.abnormality for f in said.findings if f.explicit}
        level = findings.get(asked.abnormality)
        if asked.abnormality not in explicit:
            if level is None and self._part_is_normal(said.sentences, asked):
                findings[asked.abnormality] = level = 0
            elif (bare := self._bare(rest, asked, bool(explicit))) is not None:
                findings, explicit, level = {asked.abnormality: bare}, {asked.abnormality}, bare
        word = self._answered(lead, level, rest, said, asked)
        implied = frozenset(findings) - explicit
        return AnswerReading(
            word.levels, word.abstained and not word.levels, findings, implied, word.contradicts,
            word.bare,
        )  # fmt: skip

    def _answered(
        self,
        lead: bool | None,
        level: int | None,
        rest: str,
        said: SaidOfStructure,
        asked: AskedAbout,
    ) -> _Word:
        """What the answer says of the asked abnormality."""
        kind = asked.question_type.upper()
        mute = any(self._speaks_of(clause, asked) for clause in said.abstentions)
        undescribed = any(self._speaks_of(clause, asked) for clause in said.undescribed)
        if kind == QuestionType.ADEQUACY.name:
            word = self._is_adequate(lead, level, rest, said, asked)
            return replace(word, abstained=mute or undescribed)
        if kind == QuestionType.PRESENCE.name:
            lead = False if lead is None and undescribed else lead
            return replace(self._is_present(lead, level, said, asked), abstained=mute)
        if level is not None:
            return _Word(frozenset({level}))
        if kind == QuestionType.SEVERITY.name and self._degree_unsaid(said, asked):
            return _UNGRADED
        if lead is not None and not rest.strip(FENCE) and asked.abnormality in self._nominal:
            return _UNGRADED if lead else _Word(frozenset({0}))
        return _Word(abstained=mute or undescribed)

    def _is_adequate(
        self,
        lead: bool | None,
        level: int | None,
        rest: str,
        said: SaidOfStructure,
        asked: AskedAbout,
    ) -> _Word:
        if lead is None and level is None:
            named = any(finding.explicit for finding in said.findings)
            if named or self._speaks_of_another(rest, asked):
                return _NOTHING
        return self._adequacy(lead, level, rest)

    def _is_present(
        self, lead: bool | None, level: int | None, said: SaidOfStructure, asked: AskedAbout
    ) -> _Word:
        if level is None:
            if lead is not None:
                return _Word(frozenset({-2 if lead else 0}), bare=True)
            return _UNGRADED if self._degree_unsaid(said, asked) else _NOTHING
        if lead is None or lead == (level in ABNORMAL) or (level == Level.INADEQUATE and not lead):
            return _Word(frozenset({level}))
        return _Word(frozenset({-2 if lead else 0, level}), contradicts=True)

    def _adequacy(self, lead: bool | None, level: int | None, rest: str) -> _Word:
        if lead is not None:
            if lead and level == Level.INADEQUATE:
                return _Word(ADEQUATE | _INADEQUATE.levels, contradicts=True)
            return _ADEQUATE if lead else _INADEQUATE
        words = statement_key(rest)
        if self._inadequate.search(words):
            return _INADEQUATE
        if level is not None:
            return _INADEQUATE if level == Level.INADEQUATE else _ADEQUATE
        if self._unseen.search(words):
            return _INADEQUATE
        return _ADEQUATE if self._adequate.search(words) else _NOTHING

    def _bare(self, text: str, asked: AskedAbout, elsewhere: bool) -> int | None:
        """The level of an answer that names nothing ("Mild to moderate.", "3+", "None")."""
        key = statement_key(text)
        if not key or elsewhere:
            return None
        name = asked.abnormality
        known = self._canonical[name].get(key, self._levels.get(key))
        if known is not None:
            return self.pack.fit(name, known)
        if self._sentences.says_nothing(key):
            return None
        if pronoun := self._pronoun.match(text):
            for prefix, _ in self._prefixes[name]:
                found = self._resolved(f"{prefix} {text[pronoun.end() :]}")
                if set(found) == {name}:
                    return found[name]
        # a noun that is not the question's has its own degree ("severely thickened leaflets")
        if len(key.split()) > SHORT or not set(_LETTERS.findall(key)) <= self._values[name]:
            return None
        if self._sentences.read(text, "*").findings:
            return None
        for prefix, alone in self._prefixes[name]:
            found = self._resolved(f"{prefix}: {text.strip(FENCE)}")
            # a noun is a finding by itself: what adds nothing to it has not been understood
            added = found.get(name) != alone or self._degrees.search(key) is not None
            if set(found) == {name} and added:
                return found[name]
        return None

    def _resolved(self, text: str) -> dict[str, int]:
        return resolve(self._sentences.read(text, "*").findings, self._resolution)

    def _part_is_normal(self, sentences: Iterable[str], asked: AskedAbout) -> bool:
        """Is a part of the structure called normal, and nothing else said in that sentence?"""
        structure = asked.structure
        implied = self.pack.spec.structures[structure].normal
        if asked.abnormality not in implied:
            return False
        names, parts = self._names[structure], self._parts.get(structure, frozenset())
        for sentence in sentences:
            words = set(_words(sentence))
            if (
                words & self._normal
                and words & (names | parts)
                and words <= names | parts | self._normal | self._beside
            ):
                return True
        return False

    def _degree_unsaid(self, said: SaidOfStructure, asked: AskedAbout) -> bool:
        """ "The severity of it is not stated": it is there, and how severe is not known."""
        return any(
            self._sentences.of_degree(clause) and self._speaks_of(clause, asked)
            for clause in said.abstentions
        )

    def _speaks_of(self, clause: str, asked: AskedAbout) -> bool:
        """Is this clause, which says that something is not said, about what was asked?

        It is, unless it names other abnormalities only.
        """
        named = self._sentences.named_in(clause)
        return not named or asked.abnormality in named

    def _speaks_of_another(self, text: str, asked: AskedAbout) -> bool:
        """Does it name a structure, and not the one asked for?"""
        own, others = self._structures[asked.structure]
        return own.search(text) is None and others.search(text) is not None


def _questions(
    pack: Pack,
) -> tuple[dict[str, dict[str, int]], dict[str, tuple[str, ...]], frozenset[str]]:
    """By abnormality: canonical answers with their levels, what a bare degree is read after;
    and the abnormalities that the question names, so that a bare yes or no answers it."""
    asked = questionnaire(pack)
    canonical: dict[str, dict[str, int]] = {}
    prefixes: dict[str, tuple[str, ...]] = {}
    nominal = set()
    severity = asked.answers[QuestionType.SEVERITY]
    for (name, spec), answers in zip(pack.abnormalities.items(), severity, strict=True):
        canonical[name] = {statement_key(text): level for level, text in answers.items()}
        topic = pack.spec.questions.get(f"topic_{name}", spec.name)
        prefixes[name] = tuple(dict.fromkeys((topic.capitalize(), spec.name.capitalize())))
        if topic == spec.name:
            nominal.add(name)
    return canonical, prefixes, frozenset(nominal)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
