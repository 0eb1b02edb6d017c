"""What an answer says: its findings, and what it says of the abnormality that was asked for.

The pack's own labeller reads the answer's sentences as it reads a report's, under the structure
of the question. Answers need a little more than reports do: a bare degree ("Moderate.") is read
under the abnormality asked for, "yes" and "no" under the question, "the report does not mention
it" is no denial, and "normal leaflets" speaks of the valve (EchoQA accepts it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from clinqa.core.records import Level
from clinqa.kinds.long_form.answer_bounds import DegreeBounds
from clinqa.kinds.long_form.answer_forms import AnswerForms
from clinqa.kinds.long_form.answer_readings import (
    ABNORMAL,
    ABSENT,
    ADEQUATE,
    NOTHING,
    SEEN,
    UNGRADED,
    UNSEEN,
    AnswerReading,
    AskedAbout,
    AskedWord,
)
from clinqa.kinds.long_form.answer_words import answer_words, structure_parts, value_words
from clinqa.kinds.long_form.last_word import LastWord
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

SHORT = 8  # words of an answer that may be a bare degree
_THINKING = "</think>"
_LETTERS = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[,;:\n]|\.(?!\d)|\s[–—-]\s")
_COMMA = re.compile(r"[,;\n]|\.(?!\d)")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|\d+\+?")


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
        self.forms = AnswerForms(pack)
        self._last, self._bounds = LastWord(), DegreeBounds(pack)
        self._sentences = Sentences(pack)
        self._resolution = resolution_table(pack)
        words = answer_words()
        self._opening = re.compile(
            r"\s*(?:" + "|".join(map(re.escape, words.openings)) + r")\s*[:\-–—=→>]+\s*", re.I
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
        text = self._question.sub(" ", self.forms.plain(text)).strip()
        whole = self._said(text, asked)
        name = asked.abnormality
        for part in (*self._last.corrections(text), *self._last.conclusions(text)):
            last = self._said(part, asked)
            weak = name in last.implied and not last.bare
            # "mild, so not severe" says no less than "mild"
            weak |= not whole.contradicts and whole.levels < last.levels
            if last.abstained or (last.levels and not (weak and whole.levels)):
                findings = {one: level for one, level in whole.findings.items() if one != name}
                findings |= {one: at for one, at in last.findings.items() if one == name}
                implied = whole.implied - {name} | last.implied & {name}
                return replace(last, findings=findings, implied=implied)
        return whole

    def _said(self, text: str, asked: AskedAbout) -> AnswerReading:
        """What one part of an answer says, none of which is taken back."""
        text = self._opening.sub("", text, count=1) if self._opening.match(text) else text
        lead: bool | None = None
        rest = text
        if found := self._lead.match(text):
            lead = found[1].casefold() in self._yes
            rest = text[found.end() :]
        said = self._sentences.read(rest, asked.structure)
        findings = resolve(said.findings, self._resolution)
        explicit = {f.abnormality for f in said.findings if f.explicit}
        name = asked.abnormality
        level = findings.get(name)
        stated = frozenset(
            f.level
            for f in said.findings
            if f.abnormality == name and f.explicit and not f.corrects
        )
        if name not in explicit:
            if level is None and self._part_is_normal(said.sentences, asked):
                findings[name] = level = 0
            elif (bare := self._bare(rest, asked, bool(explicit))) is not None:
                findings, explicit, level = {name: bare}, {name}, bare
        if (name not in explicit or stated == UNGRADED.levels) and (
            first := self._alone(said, rest, asked)
        ) is not None:
            findings[name], level, stated = first, first, frozenset({first})
            explicit.add(name)
        word = self._answered(lead, level, rest, said, asked)
        if len(word.levels) == 1 and level in word.levels:
            word = self._opened(word, stated, rest, asked)
        return AnswerReading(
            word.levels, word.abstained and not word.levels, findings,
            frozenset(findings) - explicit, word.contradicts, word.bare,
        )  # fmt: skip

    def _opened(
        self, word: AskedWord, stated: frozenset[int], text: str, asked: AskedAbout
    ) -> AskedWord:
        """A stated level as its words leave it: open above or below, or against another one."""
        degrees = stated - {int(Level.UNSPECIFIED)}
        if len(degrees) > 1 and (degrees != {0, -1}):
            return AskedWord(degrees, contradicts=True)
        binary = self.pack.abnormalities[asked.abnormality].binary
        if binary or not self._bounds.possible(text):
            return word
        (level,) = word.levels
        for sentence in self._sentences.read(text, asked.structure).sentences:
            found = self._sentences.read(sentence, asked.structure).findings
            if self._sentences.says_nothing(sentence):
                continue
            bare = len(statement_key(sentence).split()) <= SHORT and not found
            if bare or any(f.abnormality == asked.abnormality for f in found):
                levels = self._bounds.left_open(sentence, level)
                if levels:
                    return AskedWord(levels)
        return word

    def _alone(self, said: SaidOfStructure, text: str, asked: AskedAbout) -> int | None:
        """The level that stands alone in front ("Mild, with a dilated atrium"), or in a sentence of
        its own where nothing else but the asked abnormality is named ("MR is there. Severe.")."""
        text = text.strip(FENCE)
        parts = [split.split(text, maxsplit=1)[0] for split in (_CLAUSE, _COMMA)]
        if {f.abnormality for f in said.findings} <= {asked.abnormality}:
            parts += said.sentences
        for part in parts:
            if part.strip() != text:
                level = self._bare(part, asked, False)
                if level is not None:
                    return level
        return None

    def _answered(
        self,
        lead: bool | None,
        level: int | None,
        rest: str,
        said: SaidOfStructure,
        asked: AskedAbout,
    ) -> AskedWord:
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
            return AskedWord(frozenset({level}))
        if kind == QuestionType.SEVERITY.name and self._degree_unsaid(said, asked):
            return UNGRADED
        if lead is not None and not rest.strip(FENCE) and asked.abnormality in self._nominal:
            return UNGRADED if lead else AskedWord(frozenset({0}))
        return AskedWord(abstained=mute or undescribed)

    def _is_adequate(
        self,
        lead: bool | None,
        level: int | None,
        rest: str,
        said: SaidOfStructure,
        asked: AskedAbout,
    ) -> AskedWord:
        if lead is None and level is None:
            named = any(finding.explicit for finding in said.findings)
            if named or self._speaks_of_another(rest, asked):
                return NOTHING
        return self._adequacy(lead, level, rest)

    def _is_present(
        self, lead: bool | None, level: int | None, said: SaidOfStructure, asked: AskedAbout
    ) -> AskedWord:
        if level is None:
            if lead is not None:
                return AskedWord(frozenset({-2 if lead else 0}), bare=True)
            return UNGRADED if self._degree_unsaid(said, asked) else NOTHING
        if lead is None or lead == (level in ABNORMAL) or (level == Level.INADEQUATE and not lead):
            return AskedWord(frozenset({level}))
        return AskedWord(frozenset({-2 if lead else 0, level}), contradicts=True)

    def _adequacy(self, lead: bool | None, level: int | None, rest: str) -> AskedWord:
        if lead is not None:
            if lead and level == Level.INADEQUATE:
                return AskedWord(ADEQUATE | UNSEEN.levels, contradicts=True)
            return SEEN if lead else UNSEEN
        words = statement_key(rest)
        if self._inadequate.search(words):
            return UNSEEN
        if level is not None:
            return UNSEEN if level == Level.INADEQUATE else SEEN
        if self._unseen.search(words):
            return UNSEEN
        return SEEN if self._adequate.search(words) else NOTHING

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
