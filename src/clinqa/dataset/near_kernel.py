"""The loops of the near-duplicate join: over bytes, over words, over sets.

Written for numba; without it the same functions run as plain Python, for small inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar, cast

import numpy as np

from clinqa.core.arrays import Bytes, Int32s, Ints, UInt64s

__all__ = ["COMPILED", "join_sets", "number_distinct", "rank_words", "word_hashes"]

COMPILED = find_spec("numba") is not None
_F = TypeVar("_F", bound=Callable[..., Any])


_SEED = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_TOP = np.uint64(58)
_ONE, _TWO, _FOUR, _HIGH = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _SUM = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


def _compiled(function: _F) -> _F:
    if not COMPILED:
        return function
    import numba

    decorate: Any = numba.njit
    try:
        return cast(_F, decorate(cache=True, nogil=True)(function))
    except RuntimeError:  # nowhere to keep the cache: compile in every process
        return cast(_F, decorate(nogil=True)(function))


def word_hashes(data: Bytes, ends: Ints) -> tuple[UInt64s, Ints]:
    """The distinct words of each text as hashes, and where each text's words start."""
    with np.errstate(over="ignore"):
        hashes, starts = _scan(data, ends)
    return hashes, starts


def rank_words(hashes: UInt64s, starts: Ints) -> Int32s:
    """The words of each text as ranks, the rarest first; equally rare ones by their hash."""
    with np.errstate(over="ignore"):
        numbers, distinct, count = _number(hashes)
    order = np.lexsort((distinct, count))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    words = rank[numbers] if len(numbers) else np.empty(0, np.int32)
    _sort_each(words, starts)
    return words


def number_distinct(keys: UInt64s) -> tuple[Ints, Ints]:
    """A number for each distinct key as they first occur, and where each occurs first."""
    with np.errstate(over="ignore"):
        numbers, distinct, _ = _number(keys)
    first = np.full(len(distinct), -1, dtype=np.int64)
    places = np.arange(len(keys), dtype=np.int64)[::-1]
    first[numbers[::-1]] = places  # the last one assigned stays, and that is the first
    return numbers.astype(np.int64), first


def join_sets(
    words: Int32s, starts: Ints, first: Ints, over: int, under: int
) -> tuple[Ints, Ints, Ints]:
    """Pairs of sets with shared / all >= over / under, and how many words they share."""
    sizes = starts[first + 1] - starts[first]
    order = np.argsort(sizes, kind="stable").astype(np.int64)
    vocabulary = int(words.max()) + 1 if len(words) else 0
    with np.errstate(over="ignore"):
        return _join(words, starts, first, sizes, order, vocabulary, over, under)


@_compiled
def _scan(data: Bytes, ends: Ints) -> tuple[UInt64s, Ints]:
    texts = len(ends) - 1
    total = 0
    for text in range(texts):
        inside = False
        for place in range(ends[text], ends[text + 1]):
            byte = data[place]
            letter = byte >= 128 or 48 <= byte <= 57 or 97 <= byte <= 122 or 65 <= byte <= 90
            if letter and not inside:
                total += 1
            inside = letter
    hashes = np.empty(total, dtype=np.uint64)
    starts = np.zeros(texts + 1, dtype=np.int64)
    used = 0
    for text in range(texts):
        begin = used
        inside = False
        value = _SEED
        for place in range(ends[text], ends[text + 1] + 1):
            byte = data[place] if place < ends[text + 1] else np.uint8(32)
            if 65 <= byte <= 90:
                byte = np.uint8(byte + 32)
            if byte >= 128 or 48 <= byte <= 57 or 97 <= byte <= 122:
                value = (value ^ np.uint64(byte)) * _PRIME
                inside = True
            elif inside:
                value = (value ^ (value >> _SHIFT)) * _MIX
                known = False
                for other in range(begin, used):
                    if hashes[other] == value:
                        known = True
                        break
                if not known:
                    hashes[used] = value
                    used += 1
                value = _SEED
                inside = False
        starts[text + 1] = used
    return hashes[:used].copy(), starts


@_compiled
def _number(hashes: UInt64s) -> tuple[Int32s, UInt64s, Ints]:
    """A number for each distinct hash, and how often it occurs."""
    size = 1 << 16
    slots = np.full(size, -1, dtype=np.int32)
    distinct = np.empty(size // 2, dtype=np.uint64)
    count = np.zeros(size // 2, dtype=np.int64)
    numbers = np.empty(len(hashes), dtype=np.int32)
    used = 0
    for index in range(len(hashes)):
        value = hashes[index]
        slot = np.int64(value & np.uint64(size - 1))
        while slots[slot] >= 0 and distinct[slots[slot]] != value:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            if used == size // 2:
                size *= 2
                slots = np.full(size, -1, dtype=np.int32)
                more = np.empty(size // 2, dtype=np.uint64)
                more[:used] = distinct
                distinct = more
                longer = np.zeros(size // 2, dtype=np.int64)
                longer[:used] = count
                count = longer
                for known in range(used):
                    place = np.int64(distinct[known] & np.uint64(size - 1))
                    while slots[place] >= 0:
                        place = (place + 1) & (size - 1)
                    slots[place] = known
                slot = np.int64(value & np.uint64(size - 1))
                while slots[slot] >= 0:
                    slot = (slot + 1) & (size - 1)
            slots[slot] = used
            distinct[used] = value
            used += 1
        numbers[index] = slots[slot]
        count[slots[slot]] += 1
    return numbers, distinct[:used].copy(), count[:used].copy()


@_compiled
def _sort_each(words: Int32s, starts: Ints) -> None:
    for text in range(len(starts) - 1):
        low, high = starts[text], starts[text + 1]
        if high - low > 64:
            words[low:high] = np.sort(words[low:high])
            continue
        for place in range(low + 1, high):
            value = words[place]
            at = place
            while at > low and words[at - 1] > value:
                words[at] = words[at - 1]
                at -= 1
            words[at] = value


@_compiled
def _join(
    words: Int32s,
    starts: Ints,
    first: Ints,
    sizes: Ints,
    order: Ints,
    vocabulary: int,
    over: int,
    under: int,
) -> tuple[Ints, Ints, Ints]:
    sets = len(first)
    largest = 0
    for one in range(sets):
        largest = max(largest, sizes[one])
    # How many words of a set must be looked at: one of them is shared with any set that alike.
    # Sets come by size, so a set that is looked up later is no smaller: fewer words are posted.
    heads = np.empty(sets, dtype=np.int64)
    posts = np.empty(sets, dtype=np.int64)
    begin = np.zeros(vocabulary + 1, dtype=np.int64)
    both_ways = over + under
    for one in range(sets):
        heads[one] = sizes[one] - (sizes[one] * over + under - 1) // under + 1
        posts[one] = sizes[one] - (2 * sizes[one] * over + both_ways - 1) // both_ways + 1
        low = starts[first[one]]
        for place in range(low, low + posts[one]):
            begin[words[place] + 1] += 1
    for word in range(vocabulary):
        begin[word + 1] += begin[word]
    fill = begin[:-1].copy()
    start = begin[:-1].copy()
    posted = np.empty(begin[vocabulary], dtype=np.int32)
    spot = np.empty(begin[vocabulary], dtype=np.int32)
    size_of = np.empty(begin[vocabulary], dtype=np.int32)
    # A bit for each word, 64 kinds: each differing word changes one bit at most, so many
    # different bits are many different words, and the words themselves need not be looked at.
    bits_of = np.empty(begin[vocabulary], dtype=np.uint64)
    # of two sets with so many words, how many must be shared: shared / (both - shared) >= t
    needed = np.empty(2 * largest + 1, dtype=np.int32)
    for both in range(2 * largest + 1):
        needed[both] = (over * both + both_ways - 1) // both_ways
    met = np.full(sets, -1, dtype=np.int32)
    room = 1024
    left = np.empty(room, dtype=np.int64)
    right = np.empty(room, dtype=np.int64)
    common = np.empty(room, dtype=np.int64)
    used = 0
    for turn in range(sets):
        one = order[turn]
        size = sizes[one]
        low = starts[first[one]]
        least = (size * over + under - 1) // under
        own = np.uint64(0)
        for place in range(low, low + size):
            own |= _ONE << ((np.uint64(words[place]) * _MIX) >> _TOP)
        for offset in range(heads[one]):
            word = words[low + offset]
            at = start[word]
            stop = fill[word]
            while at < stop and size_of[at] < least:
                at += 1
            start[word] = at
            for entry in range(at, stop):
                other_size = size_of[entry]
                both = size + other_size
                need = needed[both]
                if size - offset < need or other_size - spot[entry] < need:
                    continue  # a word shared earlier would have led here already
                odd = own ^ bits_of[entry]
                odd = odd - ((odd >> _ONE) & _M1)
                odd = (odd & _M2) + ((odd >> _TWO) & _M2)
                odd = (odd + (odd >> _FOUR)) & _M4
                if np.int64((odd * _SUM) >> _HIGH) > both - 2 * need:
                    continue
                other = posted[entry]
                if met[other] == one:
                    continue
                met[other] = one
                a, a_end = low + offset, low + size
                b = starts[first[other]] + spot[entry]
                b_end = starts[first[other]] + other_size
                shared = 0
                while a < a_end and b < b_end:
                    if words[a] == words[b]:
                        shared += 1
                        a += 1
                        b += 1
                    elif words[a] < words[b]:
                        a += 1
                        if shared + a_end - a < need:
                            break
                    else:
                        b += 1
                        if shared + b_end - b < need:
                            break
                if shared * under >= over * (both - shared):
                    if used == room:
                        room *= 2
                        wider = np.empty(room, dtype=np.int64)
                        wider[:used] = left
                        left = wider
                        wider = np.empty(room, dtype=np.int64)
                        wider[:used] = right
                        right = wider
                        wider = np.empty(room, dtype=np.int64)
                        wider[:used] = common
                        common = wider
                    left[used] = one
                    right[used] = other
                    common[used] = shared
                    used += 1
        for offset in range(posts[one]):
            word = words[low + offset]
            posted[fill[word]] = one
            spot[fill[word]] = offset
            size_of[fill[word]] = size
            bits_of[fill[word]] = own
            fill[word] += 1
    return left[:used].copy(), right[:used].copy(), common[:used].copy()
