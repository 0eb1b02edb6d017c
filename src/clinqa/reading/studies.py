"""From a batch of notes to studies: most notes are one study, some hold several, a few none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import Ints
from clinqa.packs.schema import BlockSpec
from clinqa.reading.block_filter import may_be_divided
from clinqa.reading.blocks import find_blocks

__all__ = ["Studies", "studies_of"]


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
