"""Lines to the text of a page: what typesetting did to the words is undone, and nothing else.

NFC, never NFKC: `m²` stays apart from `m2` and `½` from `1⁄2`. A character whose meaning the file
does not give stays in the text as U+FFFD, so that no sentence can lose a sign unseen.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from clinqa.sources.pdf.order import PageLine

__all__ = ["LOST", "clean_line", "page_text", "vocabulary"]

LOST = "\ufffd"
SOFT = "\u00ad"

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_BULLETS = dict.fromkeys("\uf0b7\uf0a7", "•")  # Symbol's and Wingdings' bullets
_HYPHENS = dict.fromkeys("\u2010\u2011", "-")
_NOTHING = dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e")
_TABLE = str.maketrans({**_LIGATURES, **_BULLETS, **_HYPHENS, **_NOTHING})
_MEANINGLESS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufffd-\uffff\ud800-\udfff]+"
)
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BEFORE = re.compile(r"([^\W\d_]+)(?:-|\xad)$")
_AFTER = re.compile(r"[^\W\d_]+")
_BROKEN = re.compile(r"\w(?:-|\xad)$")

# first parts that English sets off by a hyphen
_FIRST_PARTS = """
all beat cross early false first five follow four full half heart high large late left life
long low mid multi near non one post pre real right second self semi short single six small state
ten third three time top true two upper lower wave well wide year
"""
_SET_OFF = frozenset(_FIRST_PARTS.split())


def clean_line(text: str) -> str:
    """One line without ligatures, odd spaces and marks that print nothing.

    >>> clean_line("ﬁbrillation\u00a0at  300 ms")
    'fibrillation at 300 ms'
    """
    if text.isascii() and _MEANINGLESS.search(text) is None:
        return _SPACES.sub(" ", text).strip()
    text = unicodedata.normalize("NFC", text.translate(_TABLE))
    text = _MEANINGLESS.sub(LOST, text)
    text = _SPACES.sub(" ", text).strip()
    inner, end = text.rstrip(SOFT), SOFT if text.endswith(SOFT) else ""
    return inner.replace(SOFT, "") + end


def vocabulary(lines: Iterable[str]) -> Counter[str]:
    """How often each word stands within a line of the document, broken words left out."""
    counts: Counter[str] = Counter()
    for line in lines:
        words = _WORD.findall(line.lower())
        if words and _BROKEN.search(line):
            words.pop()
        counts.update(words)
    return counts


def page_text(lines: Sequence[PageLine], known: Counter[str]) -> str:
    """The text of a page: one line a line, an empty line between blocks, broken words whole.

    `known` is the document's vocabulary: it tells `de-lay` from `large-scale`.
    """
    out: list[str] = []
    size = 0.0
    for line in lines:
        text = line.text
        if not text:
            continue
        alike = max(size, line.size) <= 1.25 * max(min(size, line.size), 0.1)
        goes_on = bool(out) and alike and text[:1].islower() and out[-1][-1:] not in ".:;?!"
        if out and _BROKEN.search(out[-1]) and (goes_on or not line.begins):
            out[-1], text = _mended(out[-1], text, known)
            if not text:
                continue
        elif out and line.begins and not goes_on:
            out.append("")
        out.append(text)
        size = line.size
    return "\n".join(out).replace(SOFT, "").strip()


def _mended(before: str, after: str, known: Counter[str]) -> tuple[str, str]:
    """The first line with the whole of its last word, and what is left of the next one."""
    word, _, rest = after.partition(" ")
    return before[:-1] + _between(before, word, known) + word, rest


def _between(before: str, word: str, known: Counter[str]) -> str:
    """What stands between the halves of a word that was broken at a line's end: "-" or nothing."""
    if before.endswith(SOFT):
        return ""
    left, right = _BEFORE.search(before), _AFTER.match(word)
    if left is None or right is None:
        return "-"  # numbers: 120-200
    first, second = left[1], right[0]
    if not second[0].islower() or first.isupper():
        return "-"  # Karhunen-Loève, T-wave
    # more of the compound before or after it: end-to-end
    compound = before[: left.start()].endswith("-") or word[right.end() :].startswith("-")
    first, second = first.lower(), second.lower()
    whole, apart = known[first + second], known[f"{first}-{second}"]
    if whole or apart:
        return "" if whole >= apart else "-"
    if compound or first in _SET_OFF:
        return "-"
    return "-" if known[first] and known[second] and min(len(first), len(second)) > 3 else ""
