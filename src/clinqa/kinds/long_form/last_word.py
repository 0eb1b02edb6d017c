"""The last word of an answer: what follows a self-correction, and what concludes.

"Moderate, no wait, severe." is severe; "the leaflets are sclerotic …, so the report is silent" says
that the report does not say. Parts come back last word first; the first that says anything counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinqa.kinds.long_form.answer_words import answer_words
from clinqa.kinds.long_form.sentences import any_of

__all__ = ["LastWord"]

_EDGES = " \t\n,;:.!?-–—…()"


class LastWord:
    """Finds the parts of answers that override what stands before them."""

    def __init__(self) -> None:
        words = answer_words()
        free, apart = any_of(words.takes_back), any_of(words.takes_back_apart)
        self._back = re.compile(
            rf"(?<!\w)(?:{free})(?!\w)"
            rf"|(?:^|(?<=[(,.;:!?–—…-]))\s*(?:{apart})(?=\s*[,.;:!?–—…-])"
            r"|(?<=[,–—…-])\s*no(?=,\s)",
            re.I,
        )
        concludes = any_of(words.concludes)
        self._end = re.compile(
            rf"(?:(?<=[.;:!?,\n–—-])\s*|^\s*)(?:and\s+)?(?:{concludes})\b(?!\s+far)[\s,:]*", re.I
        )

    def corrections(self, text: str) -> Iterator[str]:
        """What follows each self-correction, the last first."""
        for found in reversed(list(self._back.finditer(text))):
            yield text[found.end() :].strip(_EDGES)

    def conclusions(self, text: str) -> Iterator[str]:
        """What follows each word that concludes, the last first; not where one opens the text."""
        for found in reversed(list(self._end.finditer(text))):
            if text[: found.start()].strip(_EDGES):
                yield text[found.end() :].strip(_EDGES)
