"""Which of many notes need a look for blocks at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from clinqa.build.reports.blocks import CUES, FLAT, MONTHS, RESULTS, WORDS

__all__ = ["may_be_divided"]


def may_be_divided(
    texts: pa.ChunkedArray | pa.Array, starts: Sequence[str], stops: Sequence[str]
) -> pa.ChunkedArray | pa.Array:
    """False where `find_blocks` surely gives the whole text as one block; a boolean column.

    Reading 80,000 reports one by one to learn that none needs dividing costs seconds; this asks
    a looser question of the whole column at once.
    """
    title, header = _loose(tuple(starts), tuple(stops))
    lines = pc.count_substring(texts, "\n")
    size = pc.utf8_length(texts)
    flat = pc.and_(pc.greater(size, FLAT), pc.less(pc.multiply(lines, FLAT), size))
    several = pc.greater(pc.count_substring_regex(texts, header), 1)
    titled = pc.match_substring_regex(texts, title)
    blank = pc.invert(pc.match_substring_regex(texts, r"\S"))
    return pc.or_(pc.or_(flat, blank), pc.or_(several, titled))


@lru_cache(maxsize=16)
def _loose(starts: tuple[str, ...], stops: tuple[str, ...]) -> tuple[str, str]:
    """RE2 expressions that match wherever the exact ones do, and somewhat more."""
    begin, stop, cue, label = (
        "(?:"
        + ("|".join(r"[ \t]+".join(map(re.escape, p.split())) for p in some) or "[^\\s\\S]")
        + ")"
        for some in (starts, stops, sorted(CUES), RESULTS)
    )
    lead = rf"(?:[^a-z\n]|\[\*\*[^\]\n]*\]|\([^()\n]*\)|am\b|pm\b|(?:{MONTHS})\b)*"
    fill = (
        rf"(?:[^a-z\n]|\[\*\*[^\]\n]*\]|\([^()\n]*\)|(?:{MONTHS}|{WORDS}|st|nd|rd|th)\b|{begin})*"
    )
    title = rf"(?im)^(?:[ \t*#=_-]*{cue}|{lead}{stop})"
    header = rf"(?im)^(?:[ \t*#=-]*{label}[ \t]*:)?{fill}{begin}{fill}(?:[:\r–—-]|$)"
    return title, header
