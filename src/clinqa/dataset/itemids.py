"""Item ids in bulk: as numbers, to compare millions of them, and made again, to check them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinqa.core.arrays import UInt64s
from clinqa.core.errors import CheckFailed
from clinqa.core.ids import SEPARATOR

__all__ = ["id_numbers", "ids_of", "remade_ids"]

_NO_DIGIT = 255
_DIGITS = np.full(256, _NO_DIGIT, dtype=np.uint8)
_DIGITS[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16, dtype=np.uint8)


_HEXADECIMAL = np.frombuffer("".join(f"{octet:02x}" for octet in range(256)).encode(), np.uint16)


def ids_of(digests: Sequence[bytes]) -> pa.Array:
    """The first 16 hexadecimal digits of each sha256, as `core.ids.item_id` gives them.

    >>> ids_of([hashlib.sha256(b"a").digest()])[0].as_py() == hashlib.sha256(b"a").hexdigest()[:16]
    True
    """
    octets = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, hashlib.sha256().digest_size)
    digits = _HEXADECIMAL[octets[:, :8]]
    offsets = np.arange(0, 16 * len(digests) + 1, 16, dtype=np.int32)
    return pa.StringArray.from_buffers(len(digests), pa.py_buffer(offsets), pa.py_buffer(digits))


def id_numbers(ids: pa.ChunkedArray) -> UInt64s:
    """The ids (16 hexadecimal digits) as numbers; CheckFailed if one is anything else."""
    parts = []
    for chunk in ids.chunks:
        if not len(chunk):
            continue
        if chunk.null_count or not pc.all(pc.equal(pc.binary_length(chunk), 16)).as_py():
            raise CheckFailed("an item id is not 16 hexadecimal digits")
        _, offsets, data = chunk.buffers()
        first = int(np.frombuffer(offsets, np.int32)[chunk.offset])
        # Every string is 16 bytes long, so their bytes are a plain matrix.
        digits = _DIGITS[np.frombuffer(data, np.uint8)[first : first + 16 * len(chunk)]]
        if (digits == _NO_DIGIT).any():
            raise CheckFailed("an item id is not 16 hexadecimal digits")
        digits = digits.reshape(-1, 16)
        octets = np.ascontiguousarray((digits[:, 0::2] << 4) | digits[:, 1::2])
        parts.append(octets.view(">u8").ravel().astype(np.uint64))
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def remade_ids(items: pa.Table) -> list[str]:
    """The id of every item, made again from its columns as `core.ids.item_id` does.

    Part and page are those of the item's first span; an item without spans has neither.
    """
    first = pc.list_element(_padded(items["spans"]), 0)
    part = pc.fill_null(pc.struct_field(first, "part"), "")
    page = pc.fill_null(pc.cast(pc.struct_field(first, "page"), pa.string()), "")
    fields = [_plain(items[name]) for name in ("kind", "source_id")]
    fields += [part, page, _plain(items["question"]), _plain(items["answer"])]
    joined = pc.binary_join_element_wise(*fields, SEPARATOR)
    sha256 = hashlib.sha256
    return [
        sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for text in joined.to_pylist()
    ]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def _padded(spans: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first span of each list, as a list of one; null where the list is empty."""
    has = pc.greater(pc.fill_null(pc.list_value_length(spans), 0), 0)
    return pc.if_else(has, spans, pa.scalar([None], spans.type))
