"""What a bank's answers are: letters, texts of options, or numbers counted from 0 or from 1.

The base of numbers is found over the whole file, never assumed: MedMCQA's `cop` is 1 to 4 in its
original files and 0 to 3 in copies. A 0 or a number as large as the options decides; where neither
occurs, letters that the explanations name do ("Ans. is 'c'"); where nothing does, it is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from clinqa.core.errors import SourceError

__all__ = ["Answers", "Survey", "plain"]

_LETTER = re.compile(r"\(?\s*([A-Ja-j])\s*[).:]?")
_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
_SAYS = re.compile(
    r"\bans(?:wer)?\b[\s.:;-]*(?:is|ans)?[\s.:;\"'(]*([a-e])(?=[\s.:;\"'),]|\s*-)", re.I
)
#: With so many explanations that name a letter, and so clear a majority, they decide the base.
_ENOUGH, _CLEAR = 3, 0.8


@dataclass(frozen=True, slots=True)
class Answers:
    """How to read the answers of one file: `letter`, `number` with its `base`, or `text`."""

    kind: str
    base: int = 0
    why: str = ""

    def index(self, value: Any, options: tuple[str, ...]) -> int | None:
        """The place of the right option; None where the value means none."""
        text = plain(value)
        if not text:
            return None
        if self.kind == "letter":
            found = _LETTER.fullmatch(text)
            place = "abcdefghij".index(found[1].casefold()) if found else -1
        elif self.kind == "number":
            place = int(float(text)) - self.base if _NUMBER.fullmatch(text) else -1
        else:
            same = [i for i, option in enumerate(options) if _same(option) == _same(text)]
            place = same[0] if len(same) == 1 else -1
        return place if 0 <= place < len(options) else None


@dataclass(slots=True)
class Survey:
    """Looks at every answer of a file first."""

    seen: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    numbers: Counter[int] = field(default_factory=Counter)
    full: int = 0  # numbers as large as the options are many
    over: int = 0
    says: Counter[int] = field(default_factory=Counter)

    def add(self, value: Any, options: tuple[str, ...], explanation: Any = None) -> None:
        """One record. A missing answer (empty, or -1 as in test files) says nothing."""
        text = plain(value)
        if not text or text == "-1":
            return
        self.seen += 1
        number = int(float(text)) if _NUMBER.fullmatch(text) else None
        if number is not None:
            self.kinds["number"] += 1
            self.numbers[number] += 1
            self.full += number == len(options)
            self.over += not 0 <= number <= len(options)
            told = _SAYS.search(explanation) if isinstance(explanation, str) else None
            if told:
                for base in (0, 1):
                    self.says[base] += number - base == "abcde".index(told[1].casefold())
        if _LETTER.fullmatch(text):
            self.kinds["letter"] += 1
        if sum(_same(option) == _same(text) for option in options) == 1:
            self.kinds["text"] += 1

    def decide(self, where: str, base: int | None = None) -> Answers:
        """What the answers are; SourceError where it cannot be told."""
        if not self.seen:
            raise SourceError(f"{where}: no record has an answer")
        best = max(("letter", "number", "text"), key=lambda kind: self.kinds[kind])
        # options that are numbers themselves: a text is what fits everywhere when a base does not
        if best != "text" and self.kinds["text"] == self.kinds[best] == self.seen and self.over:
            best = "text"
        if 2 * self.kinds[best] <= self.seen:
            raise SourceError(
                f"{where}: most answers are neither a letter, a number, nor the text of one option"
            )
        if best != "number":
            return Answers(best)
        if base is not None:
            return Answers("number", base, "given")
        return self._base(where)

    def _base(self, where: str) -> Answers:
        zeros = self.numbers[0]
        if bool(zeros) != bool(self.full):
            # the odd one out may be a slip, but one is all it takes to contradict the other base
            return Answers("number", 0 if zeros else 1, f"{zeros or self.full} answers say so")
        told = self.says.total()
        base = max((0, 1), key=lambda one: self.says[one])
        if told >= _ENOUGH and self.says[base] >= _CLEAR * told:
            return Answers("number", base, f"{self.says[base]} explanations say so")
        met = "no answer is 0 and none the number of options"
        if zeros:
            met = f"{zeros} answers are 0 and {self.full} the number of options"
        raise SourceError(
            f"{where}: cannot tell whether answers count from 0 or from 1 ({met}); "
            "say it with --answer-base 0 or 1"
        )


def plain(value: Any) -> str:
    """A value of a record as text; nothing of what is none."""
    if value is None or isinstance(value, bool | list | dict):
        return ""
    return str(value).strip()


def _same(text: str) -> str:
    return " ".join(text.casefold().split())
