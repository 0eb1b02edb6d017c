"""Which of many notes need a look for blocks at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bools, Ints
from clinqa.reading.blocks import CUES, FLAT, MONTHS, RESULTS, WORDS

__all__ = ["may_be_divided"]

_NEWLINE = 10


def may_be_divided(
    texts: pa.ChunkedArray | pa.Array, starts: Sequence[str], stops: Sequence[str]
) -> Bools:
    """False where `find_blocks` surely gives the whole text as one block.

    Reading 80,000 reports one by one to learn that none needs dividing costs seconds; this asks
    a looser question of the whole column at once, and all of it of few texts only.
    """
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    title, header = _loose(tuple(starts), tuple(stops))
    size = pc.binary_length(texts).fill_null(0).to_numpy()
    found: Bools = (size > FLAT) & (_newlines(texts, size) * FLAT < size)
    found |= ~_bools(pc.match_substring_regex(texts, r"\S"))
    either = np.flatnonzero(_bools(pc.match_substring_regex(texts, f"{title}|{header}")))
    if len(either):
        some = texts.take(pa.array(either))
        several = pc.greater(pc.count_substring_regex(some, header), 1)
        found[either] |= _bools(pc.or_(several, pc.match_substring_regex(some, title)))
    return found


def _newlines(texts: pa.Array, size: Ints) -> Ints:
    """How many line ends each text holds."""
    if not size.any():
        return np.zeros(len(texts), np.int64)
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(bounds[0]), int(bounds[-1])
    ends = np.flatnonzero(np.frombuffer(data, np.uint8)[first:last] == _NEWLINE)
    return np.diff(np.searchsorted(ends, bounds - first))


def _bools(column: pa.Array) -> Bools:
    flags: Bools = column.fill_null(False).to_numpy(zero_copy_only=False)
    return flags


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
