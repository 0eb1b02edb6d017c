"""From a batch of notes to studies: most notes are one study, some hold several, a few none.

Which of many notes need a look for blocks at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Bools, Ints
from clinqa.packs.schema import BlockSpec
from clinqa.reading.blocks import CUES, FLAT, MONTHS, RESULTS, WORDS, find_blocks

__all__ = ["Studies", "may_be_divided", "studies_of"]

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


@dataclass(frozen=True, slots=True)
class Studies:
    """The studies of a batch, a row each.

    `bounds` is where in its note each study stands (code points, one row a study); None where
    every study is its whole note. Offsets of everything found are those of the note.
    """

    ids: pa.Array
    groups: pa.Array
    texts: pa.Array
    rows: pa.Array
    parts: pa.Array
    bounds: Ints | None
    without_block: int

    def __len__(self) -> int:
        return len(self.ids)

    def table(self) -> pa.Table:
        """The columns that the dataset's writer keeps books with."""
        return pa.table(
            {
                "study_id": self.ids,
                "group": self.groups,
                "digest": pa.array(_digests(self.texts), pa.binary(16)),
                "row": self.rows,
                "part": self.parts,
            }
        )


def studies_of(batch: pa.Table, blocks: BlockSpec | None) -> Studies:
    """The studies in a table of notes (`sources.reports.STUDIES`).

    Several reports in one note are several studies, `id#1`, `id#2` in text order; one keeps the
    id. A study whose patient nobody names is its own group, and all studies of one note share it.
    """
    texts = _one(batch["text"])
    ids, parts, rows = (_one(batch[name]) for name in ("study_id", "part", "row"))
    groups = pc.coalesce(_one(batch["group"]), ids)
    bounds: Ints | None = None
    left_out = 0
    divided = _divided(texts, blocks)
    if divided:
        take: list[int] = []
        places: list[tuple[int, int]] = []
        names: list[str] = []
        given = ids.to_pylist()
        for note, name in enumerate(given):
            found = divided.get(note, [(0, _END)])
            left_out += not found
            for number, place in enumerate(found, start=1):
                take.append(note)
                places.append(place)
                names.append(f"{name}#{number}" if len(found) > 1 else name)
        chosen = pa.array(take, pa.int64())
        texts, parts, rows = texts.take(chosen), parts.take(chosen), rows.take(chosen)
        groups = groups.take(chosen)
        ids = pa.array(names, pa.string())
        bounds = np.array(places, np.int64).reshape(-1, 2)
        whole = bounds[:, 1] == _END
        bounds[whole, 1] = pc.utf8_length(texts).to_numpy()[whole]
    return Studies(ids, groups, texts, rows, parts, bounds, left_out)


_END = -1


def _divided(texts: pa.Array, blocks: BlockSpec | None) -> dict[int, list[tuple[int, int]]]:
    """The notes that are not one report as a whole, with where their reports stand."""
    if blocks is None or not len(texts):
        return {}
    maybe = may_be_divided(texts, blocks.starts, blocks.stops)
    found = {}
    for note in np.flatnonzero(maybe).tolist():
        text = texts[note].as_py()
        places = find_blocks(text, blocks.starts, blocks.stops)
        if places != [(0, len(text))]:
            found[note] = places
    return found


def _digests(texts: pa.Array) -> list[bytes]:
    _, offsets, data = texts.buffers()
    if data is None:
        return [hashlib.blake2b(b"", digest_size=16).digest()] * len(texts)
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    places = bounds.tolist()
    view = memoryview(data)
    blake2b = hashlib.blake2b
    return [blake2b(view[start:end], digest_size=16).digest() for start, end in pairwise(places)]


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
