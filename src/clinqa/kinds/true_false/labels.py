"""True or False out of what a model wrote.

In this order: a field of JSON; a stated answer ("the answer is False", "the statement is not
true"); what is printed bold; the first word; whatever else says one of the two. The first of
these that speaks decides, and where it says both, nothing was answered: a guess would be ours.
"""

from __future__ import annotations

import re

from clinqa.core.answers import AMBIGUOUS, EMPTY, REFUSED, UNREADABLE, Said
from clinqa.kinds.outputs import is_refusal, plain, read_final

__all__ = ["read_label"]

_TRUE = r"true|correct|right|accurate|wahr|richtig|vrai|verdader[oa]|cierto|vero"
_FALSE = r"false|untrue|incorrect|wrong|inaccurate|falsch|unwahr|faux|fals[oa]|incorrecto"
_LABEL = rf"(?:{_TRUE}|{_FALSE})"
_IS_TRUE = re.compile(_TRUE, re.I)
_NOT = (
    r"(?:(?:not|never|n't|nicht|pas|non|cannot\s+be|hardly|far\s+from)"
    r"(?:\s+(?:be|at\s+all|entirely|quite|completely|strictly|actually|necessarily|a|the))*\s+)"
)
#: "right axis deviation" and "false positive" are no verdicts: after a label no noun of its own.
_NO_NOUN = (
    r"(?!\s+(?!(?:because|since|as|for|and|but|so|in|given|according|based|by|statement|claim|with|"
    r"from|due|here|at|on|under|of|to|is|it|the|this|per|overall|therefore|thus|hence|although|"
    r"though|while|however|not|true|false|weil|da|denn|parce|porque)\b)[a-z])"
)
_QUOTES = r"[\s\"'`*_(\[{<:=.-]*"
#: The question handed back, which says nothing: "True or False?"
_ECHO = re.compile(
    rf"\b(?:{_TRUE})\s*(?:or|/|\||oder|ou|o)\s*(?:{_FALSE})\b\??"
    rf"|\b(?:{_FALSE})\s*(?:or|/|\||oder|ou|o)\s*(?:{_TRUE})\b\??|\bT\s*/\s*F\b",
    re.I,
)
_BOTH = re.compile(
    rf"\b(?:both|neither|partly|partially|half)\b[^.\n]{{0,20}}\b{_LABEL}\b"
    rf"|\b(?:{_TRUE})\s+(?:(?:and|nor)\s+)?(?:{_FALSE})\b"
    rf"|\b(?:{_FALSE})\s+(?:(?:and|nor)\s+)?(?:{_TRUE})\b",
    re.I,
)
_FIELD = re.compile(
    r"[\"'](?:final[_ ]?)?(?:answer|label|verdict|prediction|judge?ment|response|result|is_true|"
    r"is_correct|correct|value|true_or_false)[\"']\s*:\s*(?:\"([^\"]*)\"|'([^']*)'|(true|false|null|none|[01])\b)",
    re.I,
)
_BOXED = re.compile(r"\\boxed\{\s*(?:\\text\{)?\s*(true|false)\b", re.I)
_STATED = re.compile(
    r"(?:\b(?:answer|verdict|conclusion|label|judge?ment|antwort|réponse|respuesta|risposta)\b"
    r"(?:\s+(?:here|to this|would be|must be|should be|is|ist|est|es|è|therefore|thus|that|"
    r"the|it|this|statement|clearly))*"
    r"|\b(?:statement|claim|sentence|assertion|aussage|this|that|it)\s*(?:is|'s|isn't|ist|est|"
    r"was|appears\s+to\s+be|seems\s+to\s+be)"
    r"(?:\s+(?:therefore|thus|hence|clearly|indeed|in\s+fact|actually|generally|considered))*)"
    rf"({_QUOTES})({_NOT}?)({_LABEL})\b(?!-|\s+(?:if|when|only|unless|that|or)\b){_NO_NOUN}",
    re.I,
)
_ISNT = re.compile(r"isn't$", re.I)
_BOLD = re.compile(rf"(?:\*\*|__)\s*\"?({_NOT}?)({_LABEL})\"?[.!]?\s*(?:\*\*|__)", re.I)
_FIRST = re.compile(
    rf"^[\s\"'`*_(\[{{<#>:-]*({_NOT}?)({_LABEL})\b(?!-)(?=\s*(?:[^\w\s]|$|\n|\s(?:because|since|as|"
    r"for|the|this|that|it|in|explanation|statement|reason)\b))",
    re.I,
)
_YES = re.compile(
    r"^[\s\"'`*_(]*(yes|no|ja|nein|oui|non|sí|sì)\b(?=\s*(?:[.,;:!)*\"'`\n-]|$))", re.I
)
#: The same in a letter: "Answer: T"
_STATED_LETTER = re.compile(
    r"\b(?i:answer|verdict|label|conclusion)\b\s*(?:is\b|:|=|-)[\s\"'`*_(\[:]*([TF])\b(?![\w'-]|\s+\w)"
)
_TAG = re.compile(r"<(/?)(?:final_?)?(?:answer|label|verdict)>", re.I)
_LETTER = re.compile(r"[\s\"'`*_(\[]*([TF])[\s\"'`*_)\].]*")
#: In running text "right" is a side, so it says nothing there.
_PLAIN = _LABEL.replace("|right", "").replace("|accurate", "")
_ANY = re.compile(
    rf"({_NOT}?)\b({_PLAIN})\b(?=\s*(?:[.,;:!?)\]\"'*`\n-]|$|\b(?:because|since|as)\b))", re.I
)
#: "if it were true", "whether this is true": nothing is said by these
_SUPPOSED = re.compile(
    r"\b(?:if|whether|would|could|might|may|were|unless|suppose|assuming|wenn|ob|si)\b[^.\n]{0,40}$",
    re.I,
)
#: "I doubt that it is true": neither
_DOUBTED = re.compile(
    r"\b(?:doubt|doubtful|unsure|uncertain|unclear|unlikely|not\s+(?:sure|certain|clear)|"
    r"no\s+(?:evidence|proof|reason)|questionable)\b[^.\n;]{0,40}$",
    re.I,
)
#: "I do not think that it is true": the other
_DENIED = re.compile(
    r"(?:\bnot|n't)\s+(?:\w+\s+)?(?:think|believe|agree|accept|say|claim|hold|consider|the\s+case)\b"
    r"[^.,\n;]{0,40}$|\b(?:disagree|deny|denied)\b[^.,\n;]{0,40}$",
    re.I,
)
_TURNED = re.compile(
    r"\b(?:wait|actually|correction|on second thought|no,|sorry|let me correct|final)\b", re.I
)
_YES_WORDS = frozenset(("yes", "ja", "oui", "sí", "sì"))


def read_label(output: str) -> Said:
    """ "true" or "false" and `answered`, or why there is none.

    >>> read_label("It is untrue."), read_label("Ich kann das nicht beantworten.").status
    (Said(answer='false', status='answered'), 'refused')
    >>> read_label("T").answer, read_label("T wave inversion").status
    ('true', 'unreadable')
    """
    return read_final(output, lambda text: _read(shown) if (shown := plain(text)) else EMPTY)


def _read(text: str) -> Said:
    fields = [next(part for part in found.groups() if part is not None)
              for found in _FIELD.finditer(text)]  # fmt: skip
    if fields:
        return _of_fields(fields)
    said = _ECHO.sub(" ", _TAG.sub(lambda found: ".\n" if found[1] else "\nAnswer: ", text)).strip()
    if whole := _LETTER.fullmatch(said):
        return Said("true" if whole[1] == "T" else "false", "answered")
    if boxed := {found.casefold() for found in _BOXED.findall(said)}:
        return _one(boxed)
    stated = _stated(said)
    if opening := _opening(said):
        return _turned(said, stated, opening)
    if stated:
        return _last(said, stated)
    if bold := {_polarity(bool(found[0].strip()), found[1]) for found in _BOLD.findall(said)}:
        return _one(bold)
    if _BOTH.search(said):
        return AMBIGUOUS
    if is_refusal(said):
        return REFUSED
    rest = {
        _polarity(bool(found[1].strip()) != _is_denied(said, found), found[2])
        for found in _ANY.finditer(said)
        if _is_meant(said, found)
    }
    return _one(rest) if rest else UNREADABLE


def _stated(said: str) -> list[tuple[int, str]]:
    """The answers that are stated as such, and where, in order."""
    words = [
        (found.start(), _polarity(_is_negated(found) != _is_denied(said, found), found[3]))
        for found in _STATED.finditer(said)
        if _is_meant(said, found)
    ]
    letters = [
        (found.start(), "true" if found[1] == "T" else "false")
        for found in _STATED_LETTER.finditer(said)
    ]
    return sorted(words + letters)


def _opening(said: str) -> str | None:
    """The answer that the text begins with, in a label's word or with yes or no."""
    first = _FIRST.search(said)
    if first and not _BOTH.match(said[first.start(2) :]):
        return _polarity(bool(first[1].strip()), first[2])
    yes = _YES.search(said)
    return None if yes is None else "true" if yes[1].casefold() in _YES_WORDS else "false"


def _of_fields(fields: list[str]) -> Said:
    """What the fields of a JSON answer say; several must say the same."""
    read = [_of_field(value.strip()) for value in fields]
    answers = {said.answer for said in read if said.answer is not None}
    if len(answers) > 1:
        return AMBIGUOUS
    return next((said for said in read if said.answer is not None), read[0])


def _of_field(value: str) -> Said:
    folded = value.casefold()
    if folded in ("true", "false"):
        return Said(folded, "answered")
    if folded in ("1", "0"):
        return Said("true" if folded == "1" else "false", "answered")
    if folded in ("", "null", "none"):
        return REFUSED
    return _read(value)


def _turned(said: str, stated: list[tuple[int, str]], opening: str) -> Said:
    """The first word counts, unless the text takes it back in so many words."""
    if stated and stated[-1][1] != opening:
        if _TURNED.search(said[: stated[-1][0]]):
            return Said(stated[-1][1], "answered")
        return AMBIGUOUS
    return Said(opening, "answered")


def _last(said: str, stated: list[tuple[int, str]]) -> Said:
    """One answer stated, or several that agree, or the last after a word that takes back."""
    if len({answer for _, answer in stated}) == 1:
        return Said(stated[0][1], "answered")
    before, last = stated[-2][0], stated[-1]
    if _TURNED.search(said[before : last[0]]):
        return Said(last[1], "answered")
    return AMBIGUOUS


def _is_meant(said: str, found: re.Match[str]) -> bool:
    """Is it said, and not supposed or doubted?"""
    before = said[: found.start()]
    return not (_SUPPOSED.search(before) or _DOUBTED.search(before))


def _is_denied(said: str, found: re.Match[str]) -> bool:
    """Is what is said said to be otherwise?"""
    return _DENIED.search(said[: found.start()]) is not None


def _is_negated(found: re.Match[str]) -> bool:
    """Of a stated answer: "is not true", or "isn't true"."""
    before = found[0][: found.start(1) - found.start()]
    return bool(found[2].strip()) or _ISNT.search(before) is not None


def _polarity(negated: bool, word: str) -> str:
    true = _IS_TRUE.fullmatch(word) is not None
    return "true" if true is not negated else "false"


def _one(found: set[str]) -> Said:
    return Said(next(iter(found)), "answered") if len(found) == 1 else AMBIGUOUS
