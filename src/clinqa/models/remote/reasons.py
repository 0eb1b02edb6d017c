"""A server's own words, made fit to be shown.

They may hold a key, or quote the prompt that they refuse. What is shown is one line of a bounded
length, with control characters written out, and without

- keys: those that were sent, parts of them, what a server has masked of one, what looks like one
- the prompt: a word that stands in what was sent, unless it is one of the few hundred with which
  services speak (`service_words.txt`); so a quoted report leaves nothing but such words
- quoted text of several words, whoever's it may be

Where less is left than went, nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from clinqa.core.visible import visible

__all__ = ["HIDDEN", "safe_name", "safe_reason", "without_keys"]

HIDDEN = "***"
GONE = "…"
LONGEST = 160
LONGEST_NAME = 60
_SHORT = 4
_LONG = 32
_BEGINNINGS = ("sk-", "AKIA", "hf_", "gsk_", "AIza", "eyJ")
_PART = 6  # so many characters of a key in a row are a part of it
_TOKEN = re.compile(r"[^\s\"'`,;()\[\]{}<>]+")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"(?P<mark>[\"'`“‘])(?P<said>[^\"'`”’\n]{1,400})[\"'`”’]")
_NAME = re.compile(r"[A-Za-z][\w.:/-]{0,60}")
_LIKE_KEY = re.compile(
    r"sk-[\w-]{6,}|AKIA\w{8,}|hf_\w{8,}|gsk_\w{8,}|AIza[\w-]{10,}|eyJ[\w.-]{10,}|"
    r"\S{0,100}\*{3,}\S{0,100}|[A-Za-z0-9+/_-]{32,}=*"
)


def safe_reason(said: str, keys: Iterable[str], sent: Sequence[str]) -> str:
    """The words of a server without keys and without the texts that were `sent`.

    >>> safe_reason("Unknown field: 'seed'\\x07, in: Quimby, aged 71", [], ["Mr Quimby, 71 years"])
    "Unknown field: 'seed'\\\\x07, in: …, aged …"
    """
    line = " ".join(said.split())[: 8 * LONGEST]
    line = without_keys(line, keys)
    prompt = "\n".join(sent).casefold()
    line = _QUOTED.sub(_told, line)
    line = _WORD.sub(lambda found: _shown(found[0], prompt), line)
    left, gone = len(_WORD.findall(line)), line.count(GONE)
    if gone > left:
        return ""
    line = re.sub(rf"{GONE}(?:[\s,;:.]*{GONE})+", GONE, line)
    return _cut(visible(line), LONGEST)


def safe_name(said: str, keys: Iterable[str], sent: Sequence[str]) -> str:
    """The name of a model, an error code or a finish reason, where it is one; else what can be
    shown of it."""
    name = " ".join(said[: 8 * LONGEST].split())
    if without_keys(name, keys) == name and _NAME.fullmatch(name):
        prompt = "\n".join(sent).casefold()
        if len(name) < 4 or name.casefold() not in prompt:
            return _cut(name, LONGEST_NAME)
    return _cut(safe_reason(said, keys, sent), LONGEST_NAME)


def without_keys(text: str, keys: Iterable[str]) -> str:
    """The text with keys, parts of them and what looks like one hidden.

    >>> without_keys("Incorrect API key provided: sk-ab****yz9", [])
    'Incorrect API key provided: ***'
    """
    known = [key for key in keys if key]
    for key in known:
        if len(key) >= _PART:
            text = text.replace(key, HIDDEN)
    parts = {key[at : at + _PART] for key in known for at in range(max(0, len(key) - _PART + 1))}
    if parts:
        text = _TOKEN.sub(lambda found: _or_hidden(found[0], parts), text)
    return _LIKE_KEY.sub(_unless_a_word, text)


def _unless_a_word(found: re.Match[str]) -> str:
    """A long run of letters alone, or of digits alone, is no key."""
    said = found[0]
    if len(said) < _LONG or not said.isascii() or not re.fullmatch(r"[\w+/-]+=*", said):
        return HIDDEN
    mixed = re.search(r"\d", said) and re.search(r"[A-Za-z]", said)
    return HIDDEN if mixed or said.startswith(_BEGINNINGS) else said


def _or_hidden(token: str, parts: set[str]) -> str:
    windows = (token[at : at + _PART] for at in range(len(token) - _PART + 1))
    return HIDDEN if any(window in parts for window in windows) else token


def _told(found: re.Match[str]) -> str:
    """What is quoted, where it is a name or a single word."""
    said, mark = found["said"].strip(), found["mark"]
    if _NAME.fullmatch(said) or all(word.casefold() in _common() for word in _WORD.findall(said)):
        return found[0]
    return f"{mark}{GONE}{found[0][-1]}"


def _shown(word: str, prompt: str) -> str:
    """The word, unless it was sent: as a part of a word too, where it is more than three letters
    (quotes are cut off anywhere)."""
    folded = word.casefold()
    parts = [part for part in folded.split("_") if part]
    if all(part in _common() for part in parts) or folded not in prompt:
        return word
    if len(folded) < _SHORT and not re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", prompt):
        return word
    return GONE


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip() + GONE


@cache
def _common() -> frozenset[str]:
    """The words with which services speak, which tell nothing of a record."""
    text = files("clinqa.models.remote").joinpath("service_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())
