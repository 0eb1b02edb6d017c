"""The letter of an option out of what a model wrote.

In this order: a field of JSON, readable even where the JSON is not; a stated answer ("the best
choice is C"); a letter alone or at the beginning with its mark; a bold one; the text of an option,
the longest where one holds another. "A" as an article is no answer, a letter that no option has is
unreadable, and two letters are no answer, nor is a list of all options. What is only denied ("not
B", "B is wrong") is not answered.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from clinqa.core.answers import AMBIGUOUS, REFUSED, UNREADABLE, Said
from clinqa.kinds.outputs import is_refusal, read_final

__all__ = ["read_letter"]

_KEY = r"(?:final[_ ]?)?(?:answer[_ ]?choice|answer|choice|option|answer[_ ]letter)"
_FIELD = re.compile(
    rf"[\"']{_KEY}[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|(\[[^\]]*\])|([A-Za-z]+))", re.I
)
_STATED = re.compile(
    r"(?:\b(?:answer|choice|option|conclusion|diagnosis)\b(?:\s+(?:here|would be|must be|should be|"
    r"is|are|therefore|thus|clearly|option|choice|letter))*"
    r"|\b(?:i\s+(?:choose|select|pick)|go\s+with|choose|selecting))"
    r"[\s:=\"'*_-]*(?:option|choice|letter)?[\s:=\"'*_-]*"
    r"(?:\(([A-J])\)|\[([A-J])\]|((?-i:[A-J])|[a-j](?=\W*$))(?![\w'-])"
    r"(?!\s+(?-i:(?!(?:and|or|because|since|as|which|is|for)\b)[a-z0-9])))",
    re.I,
)
_ALSO = re.compile(
    r"^[\s\"'*_)\].]*(?:,|/|&|,?\s*\b(?:and|or|und|oder)\b)\s*\(?([A-J])(?![\w'-])(?!\s+[a-z])"
)
_FIRST = re.compile(
    r"^[\s\"'`*_]*(?:option\s+)?"
    r"(?:\(([A-Ja-j])\)|\[([A-J])\]|([A-J])(?=[.):*\"'`,]|\s*$|\s*\n|\s+(?:and|or|&)\s)"
    r"|([a-j])(?=\)))"
)
#: A reply that is a letter and nothing else, however it is written.
_BARE = re.compile(r"[\W_]*([A-Ja-j])[\W_]*")
_ROW = re.compile(r"[A-J](?:[\s,;/]+[A-J])+")
_DENYING = (" not", " isn t", " rather than", " instead of")
_NO = r"(?:not|n['\u2019]t|rather\s+than|instead\s+of)"
_FALSE = r"(?:wrong|incorrect|false|ruled\s+out|excluded|unlikely)"
_DENIED = re.compile(
    rf"{_NO}\s+(?:option\s+|choice\s+)?\(?[A-J]\)?(?![\w'-])"
    rf"|(?<![\w'])\(?[A-J]\)?\s+(?:is|was|can|could|would)(?:\s+(?:be\s+)?{_FALSE}|n['\u2019]t"
    r"|\s*not\b)"
)
_BOLD = re.compile(r"(?:\*\*|__)\s*\(?([A-J])(?:\)|[.:]|(?=\s*(?:\*\*|__)))")
_LETTERS = re.compile(r"(?<![\w'])\(?([A-J])\)?(?![\w'-])")
_WORDS = re.compile(r"[^\W_]+")
_TURNED = re.compile(r"\b(?:wait|actually|correction|on second thought|sorry|final)\b", re.I)


def read_letter(output: str, options: Mapping[str, str] | Sequence[str] | str = "ABCD") -> Said:
    """The letter and `answered`, or why there is none.

    `options` are texts by letter, texts in order, or the letters alone.

    >>> read_letter("Conclusion: (B). Eliminated: (A), (C), (D).").answer
    'B'
    >>> read_letter('{"answer_choice": "E"}', "ABCD").status
    'unreadable'
    """
    return read_final(output, lambda text: _read(text, _texts(options)))


def _read(text: str, texts: dict[str, str]) -> Said:
    fields = [next(part for part in found.groups() if part is not None)
              for found in _FIELD.finditer(text)]  # fmt: skip
    if fields:
        return _of_value(fields[-1], texts)
    return _of_text(text, texts)


def _texts(options: Mapping[str, str] | Sequence[str] | str) -> dict[str, str]:
    if isinstance(options, str):
        return dict.fromkeys(options, "")
    if isinstance(options, Mapping):
        return {letter.upper(): text for letter, text in options.items()}
    return {chr(ord("A") + place): text for place, text in enumerate(options)}


def _of_value(value: str, texts: Mapping[str, str]) -> Said:
    """What a field holds: a letter, a letter with its text, a text, several letters."""
    plain = value.strip()
    if not plain or plain.casefold() in ("null", "none", "n/a", "na", "unknown"):
        return _by_text(plain, texts) or REFUSED
    if letter := re.fullmatch(r"[\[\"'(\s]*([A-Za-z])[\]\"').:\s]*", plain):
        return _letter(letter[1].upper(), texts)
    if exact := _exactly(plain, texts):
        return exact
    named = re.match(r"[\[\"'(\s]*(?:option\s+)?([A-Ja-j])\s*[).:\-]", plain, re.I)
    several = {
        found.upper() for found in _LETTERS.findall(re.sub(r"\bI\b(?=\s+[a-z])", " ", plain))
    }
    if len(several) > 1 and re.fullmatch(
        r"(?:[\[\]\s\"'(),;/&.]|[A-J](?!\w)|and|or|both|either|,)+", plain, re.I
    ):
        return AMBIGUOUS
    if named and not re.search(
        r"(?:,|/|&|\band\b|\bor\b)\s*\(?[A-J]\s*[).:]", plain[named.end() :]
    ):
        return _letter(named[1].upper(), texts)
    return _of_text(plain, texts)


def _of_text(text: str, texts: Mapping[str, str]) -> Said:
    if exact := _exactly(text, texts):
        return exact
    if alone := _BARE.fullmatch(unicodedata.normalize("NFKC", text)):
        return _letter(alone[1].upper(), texts)
    if _lists_all(text, texts):
        return AMBIGUOUS
    stated = [
        (found.start(), found.end(), next(part for part in found.groups() if part).upper())
        for found in _STATED.finditer(text)
    ]
    if stated:
        return _of_stated(text, stated, texts)
    if first := _FIRST.search(text):
        letter = next(part for part in first.groups() if part).upper()
        return AMBIGUOUS if _ALSO.search(text[first.end() :]) else _letter(letter, texts)
    if bold := set(_BOLD.findall(text)):
        return _letter(bold.pop(), texts) if len(bold) == 1 else AMBIGUOUS
    if by_text := _by_text(text, texts):
        return by_text
    if is_refusal(text):
        return REFUSED
    # "A" may be an article: only in brackets is it surely a letter here
    left = _DENIED.sub(" ", text)
    letters = set(re.findall(r"\(([A-J])\)", left)) or set(
        re.findall(r"(?<![\w'])([B-HJ])(?![\w'-])", left)
    )
    if len(letters) == 1:
        return _letter(letters.pop(), texts)
    return AMBIGUOUS if letters else UNREADABLE


def _of_stated(text: str, stated: list[tuple[int, int, str]], texts: Mapping[str, str]) -> Said:
    if len({letter for _, _, letter in stated}) > 1 and not _TURNED.search(
        text[stated[-2][0] : stated[-1][0]]
    ):
        return AMBIGUOUS
    if _ALSO.search(text[stated[-1][1] :]):
        return AMBIGUOUS
    return _letter(stated[-1][2], texts)


def _lists_all(text: str, texts: Mapping[str, str]) -> bool:
    """Is the reply a row of letters, or every option with its letter and no word more?"""
    if _ROW.fullmatch(text):
        return len(set(_LETTERS.findall(text))) > 1
    listed = [f"{letter} {option}" for letter, option in texts.items() if option]
    whole = " ".join(_plain(one) for one in listed)
    return len(listed) > 1 and _plain(text) == whole


def _letter(letter: str, texts: Mapping[str, str]) -> Said:
    """A letter counts only if an option has it."""
    return Said(letter, "answered") if letter in texts else UNREADABLE


def _exactly(text: str, texts: Mapping[str, str]) -> Said | None:
    """The option whose text this is, word by word."""
    words = _plain(text)
    same = [letter for letter, option in texts.items() if words and _plain(option) == words]
    return Said(same[0], "answered") if len(same) == 1 else None


def _by_text(text: str, texts: Mapping[str, str]) -> Said | None:
    """The options whose words stand in the text; one that lies within another does not count."""
    words = f" {_plain(text)} "
    found = []
    for letter, option in texts.items():
        plain = _plain(option)
        if not plain:
            continue
        at = words.find(f" {plain} ")
        while at >= 0:
            if not _is_denied(words[:at]):
                found.append((at, at + len(plain), letter))
            at = words.find(f" {plain} ", at + 1)
    outer = {
        letter
        for start, end, letter in found
        if not any(s <= start and end <= e and (s, e) != (start, end) for s, e, _ in found)
    }
    if not outer:
        return None
    return Said(outer.pop(), "answered") if len(outer) == 1 else AMBIGUOUS


def _is_denied(before: str) -> bool:
    """Do the words before an option's text say that it is not meant?

    >>> _is_denied(" the answer is not the"), _is_denied(" the answer is")
    (True, False)
    """
    return re.sub(r" (?:an?|the)$", "", before).endswith(_DENYING)


def _plain(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
