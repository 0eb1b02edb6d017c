"""From a statement's characters to tokens; numbers that no rule reads become alike."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["BLANK", "Token", "abstract", "plain", "tokenize"]

BLANK = "□"  # a placeholder left by de-identification

_ASCII = str.maketrans(
    {
        "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u200b": "", "\u00ad": "",
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-",
        "\u2014": " - ", "\u2018": "'", "\u2019": "'", "\u2032": "'", "\u201c": '"',
        "\u201d": '"', "\u2265": ">", "\u2264": "<", "\u2248": "~", "\u00d7": "x",
        "\u2026": " ", "\ufffd": "", "\x00": "", "\u2022": " ", "\u00b7": " ", "*": "",
    }
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\[\*\*.*?\*\*\]|_{2,}|\*{3}.*?\*{3}|\bX{3,}\b", re.S)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_TOKEN = re.compile(
    BLANK + r"|\d+(?:\.\d+)?|[^\W\d_]+(?:'[^\W\d_]+)*'?|>=|<=|\s-+\s|--+|[^\w\s]", re.UNICODE
)
_LEADER = re.compile(r"\s*(?:\|\s*)+|\s*\.{3,}\s*|(?<=[^\s:])\t(?=\S)")
_LATIN = re.compile(r"\b([ie])\.\s?([eg])\.,?", re.I)
_PLUS = re.compile(r"(?<=[a-z]) \+ (?=[a-z])")
_CANNOT = re.compile(r"\bcan't\b", re.I)
_NOT = re.compile(r"n't\b", re.I)
_HYPHEN_TO = re.compile(r"-to-(?=[a-zA-Z0-9])", re.I)
_QUOTED = re.compile(r'"[^"]{1,80}"')


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign: `text` folded, `upper` if it stood in capitals."""

    text: str
    upper: bool


def plain(text: str) -> str:
    """Unwrapped, with placeholders as one sign and typographic signs in ASCII.

    >>> plain("Mild ([**12-18**]+) MR,\\n posterior jet")
    'Mild (□+) MR, posterior jet'
    """
    # each rule is tried only where its sign stands: most statements have none of them
    if " + " in text:
        text = _PLUS.sub(" and ", text)
    if "." in text[:-1]:
        text = _LATIN.sub(r"\1\2 ", text)
    if "**" in text or "__" in text or "XXX" in text:
        text = _PLACEHOLDER.sub(BLANK, text)
    if "|" in text or "..." in text or "\t" in text:
        text = _LEADER.sub(" : ", text)
    if not text.isascii() or "*" in text or "\x00" in text:
        text = text.translate(_ASCII)
    return " ".join(text.split())


def abstract(text: str) -> str:
    """The statement with numbers that no rule reads made alike, so that it is read once.

    Decimals and whole numbers above 25 say nothing that a rule could use, but 50 does: rules read
    grades ("2+"), ranges of small numbers and "more than 50 %".

    >>> abstract("LVEF 35.5%, PASP 62 mmHg, 2+ MR")
    'LVEF 0.5%, PASP 99 mmHg, 2+ MR'
    """
    return _NUMBER.sub(_alike, text)


def _alike(match: re.Match[str]) -> str:
    number = match.group()
    if not number.isdigit():
        return "0.5"
    return number if len(number) < 3 and (int(number) <= 25 or number == "50") else "99"


def tokenize(text: str) -> list[Token]:
    """The tokens of a plain statement. A dash between spaces is a token of its own (" - ").

    >>> [token.text for token in tokenize("Stenosis - no. Mild-moderate TR.")]
    ['stenosis', ' - ', 'no', '.', 'mild', '-', 'moderate', 'tr', '.']
    """
    if "n't" in text or "N'T" in text:
        text = _NOT.sub(" not", _CANNOT.sub("cannot", text))
    if '"' in text:
        text = _QUOTED.sub(" ", text)
    if "-to-" in text or "-TO-" in text:
        text = _HYPHEN_TO.sub(" to ", text)
    tokens = []
    for match in _TOKEN.finditer(text):
        raw = match.group()
        if raw[0].isspace() or raw.startswith("--"):
            tokens.append(Token(" - ", False))
        else:
            tokens.append(Token(raw.lower(), raw.isupper()))
    return tokens
