"""Texts as integer codes: each distinct text is cut once, each distinct word tokenised once.

Every tokenisation here works word by word: what it makes of a text is what it makes of the
pieces between white space, one after the other. So a text is first cut into words, and a rule
(13a, ROUGE's, SQuAD's) is only ever asked about each distinct word; the rest is looking up.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clinqa.core.arrays import Ints
from clinqa.kinds.long_form.text.porter import stem

__all__ = [
    "CutTexts",
    "Ragged",
    "Rule",
    "WordCodes",
    "prepare_13a",
    "rouge",
    "rouge_stemmed",
    "split",
    "squad",
    "tokens_13a",
]

Rule = Callable[[str], Sequence[str]]


class WordCodes(dict[str, int]):
    """Codes of words, given out in the order in which the words come."""

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of different lengths: row i is `flat[starts[i]:starts[i + 1]]`."""

    flat: Ints
    starts: Ints

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @property
    def rows(self) -> Ints:
        """The row in which each element stands."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def take(self, chosen: Ints) -> Ragged:
        """The chosen rows, in that order; a row may come more than once."""
        lengths = self.lengths[chosen]
        starts = _starts(lengths)
        shift = np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Ragged(self.flat[np.arange(starts[-1]) + shift], starts)

    def each(self, table: Ragged) -> Ragged:
        """Every element replaced by its row of `table`."""
        return Ragged(table.take(self.flat).flat, _starts(table.lengths[self.flat])[self.starts])


def _starts(lengths: Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _ragged(rows: Iterable[Iterable[str]], codes: WordCodes) -> Ragged:
    flat: list[int] = []
    ends = [0]
    for row in rows:
        flat.extend(map(codes.__getitem__, row))
        ends.append(len(flat))
    return Ragged(np.array(flat, dtype=np.int64), np.array(ends, dtype=np.int64))


class CutTexts:
    """Texts cut at white space; row i of what `tokens` gives belongs to text i."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words = WordCodes()
        self._rows = _ragged(map(str.split, texts), self._words)

    def tokens(self, rule: Rule) -> tuple[Ragged, list[str]]:
        """The coded tokens of every text by a rule, and the token of each code."""
        codes = WordCodes()
        table = _ragged(map(rule, self._words), codes)
        return self._rows.each(table), list(codes)


# --- The rules. Each is asked about one word without white space. ---------------------------------

_NOT_ROUGE = re.compile(r"[^a-z0-9]+")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
# What mteval-v13a sets apart wherever it stands: ASCII punctuation but ' , - and .
_SYMBOL = re.compile(r"""([!-&(-+/:-@\[-`{-~])""")
_MARK_AFTER_OTHER = re.compile(r"([^0-9])([.,])")
_MARK_BEFORE_OTHER = re.compile(r"([.,])([^0-9])")
_DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def prepare_13a(text: str) -> str:
    """The part of mteval-v13a's tokenisation that looks across words; most texts stay as is."""
    if "<skipped>" in text or "-\n" in text:
        return text.rstrip().replace("<skipped>", "").replace("-\n", "")
    return text


def tokens_13a(word: str) -> list[str]:
    """mteval-v13a's tokens, as sacrebleu's default `13a`; the case is kept.

    >>> tokens_13a("severe."), tokens_13a("1.5-2"), tokens_13a("(LV)")
    (['severe', '.'], ['1.5', '-', '2'], ['(', 'LV', ')'])
    """
    if word.isalnum() and word.isascii():
        return [word]
    if "&" in word:
        for entity, character in _ENTITIES:
            word = word.replace(entity, character)
    word = _SYMBOL.sub(r" \1 ", f" {word} ")
    word = _MARK_AFTER_OTHER.sub(r"\1 \2 ", word)
    word = _MARK_BEFORE_OTHER.sub(r" \1 \2", word)
    return _DASH_AFTER_DIGIT.sub(r"\1 \2 ", word).split()


def split(word: str) -> tuple[str]:
    """The word itself: tokens are what stands between white space."""
    return (word,)


def rouge(word: str) -> list[str]:
    """rouge-score's tokens without stemming: runs of a-z and 0-9 in lower case.

    >>> rouge("Mild-to-moderate")
    ['mild', 'to', 'moderate']
    """
    return _NOT_ROUGE.sub(" ", word.lower()).split()


def rouge_stemmed(word: str) -> list[str]:
    """rouge-score's tokens with `use_stemmer=True`: those over three letters are stemmed."""
    return [stem(token) if len(token) > 3 else token for token in rouge(word)]


def squad(word: str) -> list[str]:
    """SQuAD's normalisation: lower case, ASCII punctuation taken out, a, an and the dropped.

    >>> squad("The"), squad("Mild-to-moderate,")
    ([], ['mildtomoderate'])
    """
    return _ARTICLE.sub(" ", word.lower().translate(_NO_PUNCTUATION)).split()
