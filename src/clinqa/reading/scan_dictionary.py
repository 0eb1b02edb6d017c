"""The dictionary of statements, compiled: open addressing over 128-bit hashes."""

from __future__ import annotations

import numpy as np

from clinqa.core.arrays import AnyArray, Ints
from clinqa.reading.scan_numba import compiled
from clinqa.reading.scan_tables import SPACE

__all__ = ["fill_slots", "look_up", "unwrap_new"]


_ONE = np.uint64(1)


@compiled
def fill_slots(slots: AnyArray, hashes: AnyArray, count: int) -> None:
    """Enter statements 0 to `count` into an empty table."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        slot = hashes[number, 0] & mask
        while slots[slot] >= 0:
            slot = (slot + _ONE) & mask
        slots[slot] = number


@compiled
def look_up(
    wanted: AnyArray,
    first: int,
    slots: AnyArray,
    hashes: AnyArray,
    count: int,
    ids: AnyArray,
    new: AnyArray,
) -> tuple[int, int]:
    """Number the statements from row `first` on; the row where the table was full, and the count.

    `new[number - count at the call]` is the row where a new statement was first seen.
    """
    mask = np.uint64(len(slots) - 1)
    known = count
    for row in range(first, len(wanted)):
        if 2 * (count + 1) > len(slots) or count >= len(hashes):
            return row, count
        one, two = wanted[row, 0], wanted[row, 1]
        slot = one & mask
        number = slots[slot]
        while number >= 0 and (hashes[number, 0] != one or hashes[number, 1] != two):
            slot = (slot + _ONE) & mask
            number = slots[slot]
        if number < 0:
            number = count
            slots[slot] = number
            hashes[number, 0] = one
            hashes[number, 1] = two
            new[count - known] = row
            count += 1
        ids[row] = number
    return len(wanted), count


@compiled
def _blank(data: AnyArray, i: int, end: int, flags: AnyArray) -> int:
    """The bytes of the white space at `i`; 0 where there is none."""
    if i >= end:
        return 0
    if data[i] < 128:
        return 1 if flags[data[i]] & SPACE else 0
    return 2 if data[i] == 0xC2 and i + 1 < end and data[i + 1] == 0xA0 else 0


@compiled
def unwrap_new(
    data: AnyArray, rows: AnyArray, at: Ints, size: Ints, flags: AnyArray, out: AnyArray, ends: Ints
) -> None:
    """The statements of `rows`, white space folded as `segment.unwrap` does, end to end."""
    to = 0
    for number in range(len(rows)):
        i = at[rows[number]]
        end = i + size[rows[number]]
        while i < end:
            width = _blank(data, i, end, flags)
            if width == 0:
                out[to] = data[i]
                to += 1
                i += 1
                continue
            run = 0
            line = False
            tab = False
            while width:
                line = line or data[i] == 10
                tab = tab or data[i] == 9
                run += 1
                i += width
                width = _blank(data, i, end, flags)
            out[to] = 9 if not line and (tab or run >= 3) else 32
            to += 1
        ends[number + 1] = to
