"""An answer in the pack's own words: without markup, JSON, frames and words for patients.

Models write answers that no report would hold: a JSON object, a list in Markdown, "The report says
that …", "your main pumping chamber squeezes well". What they say is said again here in the words
that the labeller reads; nothing is added, and no level is decided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clinqa.kinds.long_form.answer_words import answer_words, lay_words
from clinqa.kinds.long_form.sentences import any_of
from clinqa.packs.loader import Pack

__all__ = ["AnswerForms", "unmarked"]

_QUOTES = re.compile('["\u201c\u201d\u00ab\u00bb`]|</?[a-zA-Z]{1,10}>')
_MARKUP = re.compile(r"\*\*|__|~~|^\s{0,3}#{1,6}\s+|^\s{0,3}>\s+", re.M)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+", re.M)
_FENCE = re.compile(r"```[a-zA-Z]*\n?|```")
_MEASURED = re.compile(r"\s*\([^()]*\d[^()]*[a-zA-Z%°²/][^()]*\)")
_GRADED = re.compile(r"\d\s*(?:\+|/\s*4)|grade", re.I)
_PLUSES = re.compile(r"(?<=\w)\s*(?<!\d)(\+{2,4})(?![\w+])")
_SAYS_NOTHING = "not mentioned"
_MOST_JSON = 20_000
_Words = Mapping[str, str]


def unmarked(text: str) -> str:
    """The text without quotes, tags and the marks of Markdown.

    >>> unmarked('**Severity:** "mild"')
    'Severity: mild'
    """
    return _MARKUP.sub("", _FENCE.sub("", _QUOTES.sub("", text))).strip()


class AnswerForms:
    """Says answers again in one pack's words."""

    def __init__(self, pack: Pack) -> None:
        words = answer_words()
        self._instead = {key.casefold(): value for key, value in words.means.items()}
        self._instead |= {key.casefold(): value for key, value in lay_words(pack).items()}
        self._means = re.compile(rf"(?<![\w'-])(?:{any_of(self._instead)})(?![\w'-])", re.I)
        self._signs = {key.casefold(): value for key, value in words.signs.items()}
        self._sign = re.compile(rf"(?<=\w)\s*(?:{any_of(self._signs)})", re.I)
        self._empty = re.compile(rf":\s*(?:{any_of(words.empty_values)})\s*(?=[.,;\n]|$)", re.I)
        who, verb = any_of(words.frames["who"]), any_of(words.frames["verb"])
        # "The report states that there is": what follows is said of the heart
        self._frame = re.compile(
            rf"(?:(?<=[.;:!?\n])|^)(\s*)(?:the |this |that |your )?(?:\w+ )?(?:{who})\s+"
            rf"(?:\w+ly )?(?:{verb})(?: that)?\s*:?\s+(?=\S)",
            re.I,
        )
        denies = any_of(words.frames["denies"])
        self._denies = re.compile(
            rf"(?:(?<=[.;:!?\n])|^)(\s*)(?:the |this |that )?(?:\w+ )?(?:{who})\s+(?:{denies})\s+",
            re.I,
        )
        told = any_of(words.told)
        self._told = re.compile(rf"\b(no|without)\b([^.;,\n]{{1,80}}?)\s+(?:{told})\b", re.I)
        degrees = any_of([t for d in pack.english.degrees if d.level > 0 for t in d.terms])
        # "MR is not mild but moderate": what it is not is no statement
        self._not_but = re.compile(
            rf"(?:\b(?:is|are|was|were)\s+)?\bnot\s+(?:an?\s+)?(?:{degrees})\b([^.;,\n]{{0,40}}?)"
            r"\s*[;,.–—-]?\s*\b(?:but|it is|it's|rather|instead)\s+(?!than\b)"
            r"(?:it is\s+|rather\s+)?",
            re.I,
        )
        self._made: dict[str, str] = {}
        self._kinds = frozenset(words.fields)
        fields = any_of(words.fields)
        self._field = re.compile(rf"(?:(?<=\n)|^)\s*(?:{fields})\s*[:=]\s*", re.I)

    def plain(self, text: str) -> str:
        """The answer in plain sentences.

        >>> from clinqa.packs.loader import builtin_pack
        >>> forms = AnswerForms(builtin_pack("echo"))
        >>> forms.plain('{"mitral_stenosis": false, "severity": null}')
        'not mentioned.\\nmitral stenosis: none.'
        >>> forms.plain("The report states that the main pumping chamber is squeezing well.")
        'the left ventricle is contracting well.'
        """
        made = self._made.get(text)
        if made is None:
            made = self._made[text] = self._plain(text)
        return made

    def _plain(self, text: str) -> str:
        text = text.replace("\u2019", "'")
        said = self._from_json(_FENCE.sub("", text).strip())
        text = unmarked(text) if said is None else said
        text = _BULLET.sub("", text)
        text = self._empty.sub(f": {_SAYS_NOTHING}", text)
        text = self._field.sub("", text)
        text = _MEASURED.sub(_kept_grade, text)
        text = _PLUSES.sub(lambda found: f" {len(found[1])}+", text)
        text = self._sign.sub(lambda found: self._signs[found[0].strip().casefold()], text)
        text = self._denies.sub(r"\1no ", text)
        text = self._frame.sub(r"\1", text)
        text = self._means.sub(lambda found: self._instead[found[0].casefold()], text)
        text = self._not_but.sub(r"\1: ", text)
        return self._told.sub(r"\1\2", text).strip()

    def _from_json(self, text: str) -> str | None:
        """A JSON object as a line for each field; None where the text is none."""
        if not (text.startswith("{") and text.endswith("}")) or len(text) > _MOST_JSON:
            return None
        try:
            made = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(made, dict):
            return None
        lines = list(self._fields(made))
        # "finding: MS", "grade: severe": fields that only say what kind of thing stands in them
        own = [line for name, line in lines if name.casefold() in self._kinds]
        others = [f"{name}: {line}." for name, line in lines if name.casefold() not in self._kinds]
        joined = [f"{': '.join(own[:2])}{''.join(f', {one}' for one in own[2:])}."] if own else []
        return "\n".join([*joined, *others])

    def _fields(self, made: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for key, value in made.items():
            name = str(key).replace("_", " ").strip()
            if isinstance(value, Mapping):
                # what stands within belongs to the name before it
                for inner, line in self._fields(value):
                    kind = inner.casefold() in self._kinds
                    yield (name, line) if kind else (f"{name} {inner}", line)
            else:
                each = value if isinstance(value, list) else [value]
                yield name, ", ".join(map(_value, each)) or "none"


def _kept_grade(found: re.Match[str]) -> str:
    """A bracket with a measurement says no level; one with a grade does."""
    return found[0] if _GRADED.search(found[0]) else ""


def _value(value: Any) -> str:
    if value is None:
        return _SAYS_NOTHING
    if isinstance(value, bool):
        return "present" if value else "none"
    return str(value).replace("_", " ")
