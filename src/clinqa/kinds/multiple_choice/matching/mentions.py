"""Where an output names which option: a token a word, with mentions in place of their words.

A mention is an option's letter, standing by itself, or its text, word by word; a text that is not
there in full may be there in part. What a mention stands between is what the classifier sees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clinqa.kinds.multiple_choice.choices import LETTERS
from clinqa.kinds.outputs import after_reasoning

__all__ = ["Mention", "Read", "read_mentions"]

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\w\s]|\n|_")
_LONGEST = 4000  # tokens of the end of an output that are looked at
_PART = 0.5  # of an option's telling words


@dataclass(frozen=True, slots=True)
class Mention:
    """An option named at a token. `kind` is letter, text or part."""

    option: int
    at: int
    kind: str


@dataclass(frozen=True, slots=True)
class Read:
    """The tokens of an output, those of a mention as one, and the mentions in their order."""

    tokens: Sequence[str]
    mentions: Sequence[Mention]


def read_mentions(output: str, options: Sequence[str]) -> Read:
    """Tokens and mentions.

    >>> read = read_mentions("Not mumps: (B) it is.", ["Mumps", "Measles"])
    >>> [(m.option, m.kind) for m in read.mentions], list(read.tokens)
    ([(0, 'text'), (1, 'letter')], ['not', '<text>', ':', '(', '<letter>', ')', 'it', 'is', '.'])
    """
    text = after_reasoning(output)
    raw = _TOKEN.findall("" if text is None else text)[-_LONGEST:]
    folded = [token.casefold() for token in raw]
    names = _names(options)
    by_first: dict[str, list[tuple[int, list[str]]]] = {}
    for option, words in sorted(names.items(), key=lambda named: -len(named[1])):
        by_first.setdefault(words[0], []).append((option, words))
    tokens: list[str] = []
    mentions: list[Mention] = []
    at = 0
    while at < len(raw):
        found = next(
            (
                (option, words)
                for option, words in by_first.get(folded[at], ())
                if _match(folded, at, words)
            ),
            None,
        )
        if found is not None:
            option, words = found
            mentions.append(Mention(option, len(tokens), "text"))
            tokens.append("<text>")
            at = _match(folded, at, words)
            continue
        option = _letter(raw, at, len(options))
        if option >= 0:
            mentions.append(Mention(option, len(tokens), "letter"))
            tokens.append("<letter>")
        else:
            tokens.append(folded[at])
        at += 1
    if not any(mention.kind == "text" for mention in mentions):
        mentions += _parts(tokens, names)
    return Read(tokens, mentions)


def _names(options: Sequence[str]) -> dict[int, list[str]]:
    """The words of each option; of options with the same words none is named by them."""
    words = [
        [w for w in map(str.casefold, _TOKEN.findall(option)) if w[0].isalnum()]
        for option in options
    ]
    return {at: own for at, own in enumerate(words) if own and words.count(own) == 1}


def _match(folded: Sequence[str], at: int, words: Sequence[str]) -> int:
    """The token after the words, which stand from `at` on with any marks between; 0 if not."""
    place = at
    for number, word in enumerate(words):
        while number and place < len(folded) and not folded[place][0].isalnum():
            place += 1
        if place >= len(folded) or folded[place] != word:
            return 0
        place += 1
    return place


def _letter(raw: Sequence[str], at: int, count: int) -> int:
    """Which option's letter stands here by itself; -1 for none. "A" before a word is an article."""
    word = raw[at]
    if len(word) != 1 or word not in LETTERS[:count].lower() + LETTERS[:count]:
        return -1
    before = raw[at - 1] if at else "\n"
    after = raw[at + 1] if at + 1 < len(raw) else "\n"
    closed = after in ")]}.:,;*\"'`\n"
    if word.islower():
        return LETTERS.index(word.upper()) if closed and before in "([{\"'*\n" else -1
    if word in "AI" and not closed and after[0].islower():
        told = before.casefold() in ("option", "choice", "answer", "letter", "is", ":")
        return LETTERS.index(word) if told and after in ("because", "since", "as") else -1
    return LETTERS.index(word)


def _parts(tokens: Sequence[str], names: dict[int, list[str]]) -> list[Mention]:
    """Options of which some telling words stand there: those that no other option has."""
    found = []
    place = {token: at for at, token in reversed(list(enumerate(tokens)))}
    for option, words in names.items():
        others = {w for other, own in names.items() if other != option for w in own}
        telling = [w for w in words if w not in others and len(w) > 2]
        there = [place[w] for w in telling if w in place]
        if telling and len(there) >= _PART * len(telling) and there:
            found.append(Mention(option, min(there), "part"))
    return sorted(found, key=lambda mention: (mention.at, mention.option))
