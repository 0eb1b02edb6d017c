"""`segment` over the bytes of an Arrow column, compiled: rule for rule the same, without objects.

All that `scan_texts` calls stands in this one long file, because numba's cache watches no file but
that of the function it is asked for. What is data (characters, widths, headers) comes in through
`Tables`. A text is decoded into a buffer first, so that all positions are code points.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clinqa.core.arrays import AnyArray, Bytes, Int32s, Ints, UInt64s
from clinqa.reading.scan_numba import compiled, njit
from clinqa.reading.scan_tables import (
    ALPHA,
    BLANKED,
    BULLET,
    CASED_LOW,
    DASH_ROOM,
    DIGIT,
    ENDER,
    FIELD_MAX,
    GAP,
    HEAD_STOP,
    HEAD_TAIL,
    HEADER_MAX,
    KEY,
    KEY_MAX,
    MIN_WIDTH,
    ODD_SPACE,
    RULE,
    SPACE,
    SPARE,
    SPARE_CAPITAL,
    UPPER,
    Tables,
)

__all__ = ["ScanRows", "scan_texts"]


class ScanRows(NamedTuple):
    """One row per statement, in text order. `at`, `size`: its bytes; `hashes`: 128 bits."""

    study: Int32s
    start: Ints
    end: Ints
    head: Ints
    section: Int32s
    structure: Int32s
    role: Bytes
    phase: Bytes
    at: Ints
    size: Ints
    hashes: UInt64s


# The state of one report: positions in an array of integers.
STRUCTURE, ROLE, PHASE, SECTION, HEAD = 0, 1, 2, 3, 4
HELD, HELD_STRUCTURE, HELD_ROLE, HELD_PHASE = 5, 6, 7, 8  # to go back to at the next bullet
INLINE_IGNORE, BODY, COLUMNS, OPEN, LAST, TRIED, BARS = 9, 10, 11, 12, 13, 14, 15
COUNT, STUDY, AFTER, STATE = 16, 17, 18, 19  # the first two outlive a report
_FINDINGS, _CONCLUSION, _ADDENDUM, _IGNORE = 0, 1, 2, 3  # as in sections.Role

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_PRIME = np.uint64(0x100000001B3)
_PRIME_1 = np.uint64(0x9E3779B185EBCA87)
_PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
_START_2 = np.uint64(0x27D4EB2F165667C5)
_MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
_U0, _U1, _U8, _U21 = np.uint64(0), np.uint64(1), np.uint64(8), np.uint64(21)
_U29, _U33, _U43 = np.uint64(29), np.uint64(33), np.uint64(43)


@compiled
def _skip(text: AnyArray, i: int, b: int, flags: AnyArray) -> int:
    while i < b and flags[text[i]] & SPACE:
        i += 1
    return i


@compiled
def _read_lines(text: AnyArray, start: int, stop: int, t: Tables, lines: Ints) -> tuple[int, int]:
    """The lines (left, right without trailing blanks, bars) and the width of the wrapped text."""
    flags = t.flags
    width = t.limits[MIN_WIDTH]
    count = 0
    at = start
    while at <= stop:
        end = at
        blank = False
        bars = 0
        while end < stop:
            c = text[end]
            if c == 10:
                break
            bars += c == 124
            if c == 91 and end + 2 < stop and text[end + 1] == 42 and text[end + 2] == 42:
                blank = True
            end += 1
        right = end
        while right > at and flags[text[right - 1]] & SPACE:
            right -= 1
        lines[count, 0] = at
        lines[count, 1] = right
        lines[count, 2] = bars
        count += 1
        if not blank and right - at > width:
            width = right - at
        at = end + 1
    return count, width


@compiled
def _is_rule(text: AnyArray, first: int, b: int, flags: AnyArray) -> bool:
    i = first
    while i < b and flags[text[i]] & RULE:
        i += 1
    return i >= b


@compiled
def _after_bullet(text: AnyArray, first: int, b: int, flags: AnyArray) -> int:
    i = first
    while i < b and flags[text[i]] & BULLET:
        i += 1
        while i < b and (text[i] == 32 or text[i] == 9):
            i += 1
    if i > first:
        c = text[i - 1]
        if c == 32 or c == 9 or text[first] == 42 or text[first] == 35:
            return i
        return first
    if text[i] == 40:
        i += 1
    digits = i
    while i < b and 48 <= text[i] <= 57:
        i += 1
    if i == digits:
        while i < b and i - digits < 4:
            c = text[i]
            if not (c == 73 or c == 86 or c == 88 or c == 105 or c == 118 or c == 120):
                break
            i += 1
        if i == digits and i + 1 < b:
            c = text[i]
            if (97 <= c <= 104 or 65 <= c <= 72) and (text[i + 1] == 46 or text[i + 1] == 41):
                i += 1
    if digits < i <= digits + 4 and i + 1 < b:
        if (text[i] == 46 or text[i] == 41) and (text[i + 1] == 32 or text[i + 1] == 9):
            return _skip(text, i + 1, b, flags)
    return first


@compiled
def _find_key(text: AnyArray, i: int, j: int, inline: bool, t: Tables, key: AnyArray) -> int:
    """The row of `meaning` for the header that text[i:j] is, or -1."""
    length = 0
    depth = 0
    value = _HASH_START
    for k in range(i, j):
        c = text[k]
        if c == 40 or c == 91:
            depth += 1
        elif c == 41 or c == 93:
            depth = max(depth - 1, 0)
        elif depth == 0 and t.flags[c] & KEY:
            if length == t.limits[KEY_MAX]:
                return -1
            low = c | 32 if 65 <= c <= 90 else c
            key[length] = low
            length += 1
            value = (value ^ np.uint64(low)) * _HASH_PRIME
    if length == 0:
        return -1
    mask = len(t.slots) - 1
    slot = np.int64(value & np.uint64(mask))
    while t.slots[slot] >= 0:
        number = t.slots[slot]
        begin = t.ends[number]
        if t.ends[number + 1] - begin == length:
            k = 0
            while k < length and t.keys[begin + k] == key[k]:
                k += 1
            if k == length:
                return int(t.choice[number, 0 if inline else 1])
        slot = (slot + 1) & mask
    return -1


@compiled
def _is_upper(text: AnyArray, i: int, j: int, flags: AnyArray) -> bool:
    found = False
    for k in range(i, j):
        flag = flags[text[k]]
        if flag & CASED_LOW:
            return False
        if flag & UPPER:
            found = True
    return found


@compiled
def _header(text: AnyArray, i: int, b: int, line: bool, t: Tables, key: AnyArray, s: Ints) -> int:
    """The row of `meaning` for the header at `i`, or -1; s[AFTER]: where what it heads begins."""
    n = len(text)
    limit = min(b, i + t.limits[HEADER_MAX])
    j = i
    following = t.flags[text[j]]
    while j < limit:
        flag, following = following, t.flags[text[j + 1]]
        if (flag & HEAD_STOP) | (flag & following & GAP):
            c = text[j]
            if c == 58 or c == 124 or c == 9:
                break
            if c == 46:
                if j + 2 < n and text[j + 1] == 46 and text[j + 2] == 46:
                    break
                if j + 1 < b and (text[j + 1] == 32 or text[j + 1] == 9) and j - i > 6:
                    return -1
            elif j + 2 < n and c == 32 and text[j + 2] == 32:
                if text[j + 1] == 32 or text[j + 1] == 45:
                    break
        j += 1
    whole = j >= limit
    if whole and limit != b:
        return -1
    if not line and (whole or text[j] != 58):
        return -1
    if whole and not (i < b and (t.flags[text[i]] & UPPER or text[i] == 42 or text[i] == 95)):
        return -1
    if whole and s[OPEN] >= 0 and text[b - 1] == 46:
        return -1
    after = j
    while after < b and t.flags[text[after]] & HEAD_TAIL:
        if text[after] == 95 and after + 1 < n and text[after + 1] == 95:
            break
        after += 1
    row = _find_key(text, i, j, after < b, t, key)
    if row < 0:
        return -1
    if t.meaning[row, 0] == t.limits[BLANKED]:
        k = i
        while k < j and text[k] != 95:
            k += 1
        if k == j:
            return -1
    if not line and not _is_upper(text, i, j, t.flags):
        if t.meaning[row, 3] or t.meaning[row, 1] == _IGNORE:
            return -1
        if t.meaning[row, 0] == 0 and t.meaning[row, 1] < 0:
            return -1
    s[AFTER] = after
    return row


@compiled
def _apply(row: int, head: int, bullet: bool, inline: bool, t: Tables, s: Ints) -> None:
    structure, role, phase = t.meaning[row, 0], t.meaning[row, 1], t.meaning[row, 2]
    structural, sticky = t.meaning[row, 3], t.meaning[row, 4]
    old = s[ROLE]
    new = old
    if role >= 0:
        new = role
    elif sticky and inline and old == _IGNORE:
        new = old
    elif structural or structure == 0:
        if old == _IGNORE or (old == _ADDENDUM and not s[BODY] and structural):
            new = _FINDINGS
    if phase >= 0 and role < 0 and old == _IGNORE:
        new = _FINDINGS
    if structural or 0 <= role <= _CONCLUSION:
        s[BODY] = 1
    s[HELD] = 0
    if bullet and inline:
        s[HELD] = 1
        s[HELD_STRUCTURE] = s[STRUCTURE]
        s[HELD_ROLE] = old
        s[HELD_PHASE] = s[PHASE]
    s[INLINE_IGNORE] = 1 if role == _IGNORE and inline else 0
    if structure >= 0:
        s[STRUCTURE] = structure
    s[ROLE] = new
    if phase >= 0:
        s[PHASE] = phase
    s[SECTION] += 1
    s[HEAD] = head


@compiled
def _ends_line(
    text: AnyArray, previous: int, first: int, b: int, width: int, t: Tables, s: Ints
) -> bool:
    if s[BARS]:
        return bool(s[BARS] > 1 or text[first] != 124)
    word = first
    while word < b and not t.flags[text[word]] & SPACE:
        word += 1
    c = text[s[LAST] - 1]
    if c == 44 or c == 40 or c == 47 or c == 45 or c == 58:
        return False
    spare = width - previous - 1 - (word - first)
    if (spare >= 0 or s[COLUMNS]) and _field(text, first, b, t):
        return True
    capital = t.flags[text[first]] & (UPPER | DIGIT)
    return bool(spare >= (t.limits[SPARE_CAPITAL] if capital else t.limits[SPARE]))


@compiled
def _column(text: AnyArray, j: int, b: int, t: Tables) -> bool:
    if not (j + 2 < len(text) and text[j + 1] == 32 and text[j + 2] == 32):
        return False
    return _field(text, _skip(text, j, b, t.flags), b, t)


@compiled
def _field(text: AnyArray, i: int, b: int, t: Tables) -> bool:
    if i >= b or not t.flags[text[i]] & UPPER:
        return False
    end = min(b, i + t.limits[FIELD_MAX])
    j = i
    while j < end:
        c = text[j]
        if not (t.flags[c] & ALPHA or c == 32 or c == 47 or c == 45):
            break
        if c == 32 and j + 2 < len(text) and text[j + 1] == 32 and text[j + 2] == 32:
            return False
        j += 1
    return bool(j < b and text[j] == 58)


@compiled
def _list_number(text: AnyArray, j: int, b: int, flags: AnyArray) -> bool:
    k = j
    while k < b and 48 <= text[k] <= 57:
        k += 1
    if not (j < k <= j + 2 and k + 2 < b and text[k] == 41 and text[k + 1] == 32):
        return False
    return bool(flags[text[k + 2]] & UPPER)


@compiled
def _mark(text: AnyArray, i: int, b: int, flags: AnyArray) -> int:
    j = i
    while j < b and 48 <= text[j] <= 57:
        j += 1
    if i < j <= i + 2 and j + 1 < b:
        if (text[j] == 46 or text[j] == 41) and (text[j + 1] == 32 or text[j + 1] == 9):
            return _skip(text, j + 1, b, flags)
    return i


@compiled
def _is_abbreviation(text: AnyArray, k: int, j: int, known: AnyArray) -> bool:
    if j - k > 8:
        return False
    word = _U0
    for i in range(k, j):
        c = text[i]
        if not (65 <= c <= 90 or 97 <= c <= 122):
            return False
        word = (word << _U8) | np.uint64(c | 32)
    i = 0
    while i < len(known) and known[i] != word:
        i += 1
    return i < len(known)


@compiled
def _ends_sentence(text: AnyArray, j: int, b: int, t: Tables, s: Ints) -> bool:
    flags = t.flags
    nxt = text[j + 1] if j + 1 < b else 10
    if text[j] != 46:
        return bool(flags[nxt] & SPACE)
    if (j > 0 and text[j - 1] == 46) or (j + 1 < len(text) and text[j + 1] == 46):
        return False
    begin = s[OPEN]
    k = j
    while k > begin and flags[text[k - 1]] & ALPHA:
        k -= 1
    letters = j - k
    space = flags[nxt] & SPACE
    comma = nxt == 44
    bracket = nxt == 41 or nxt == 93 or nxt == 34 or nxt == 39
    if space or comma or bracket:
        if comma and not (j + 2 < b and flags[text[j + 2]] & (DIGIT | UPPER | SPACE)):
            return False
        if bracket and not (j + 2 >= b or flags[text[j + 2]] & SPACE):
            return False
        if letters == 1 and (k == begin or text[k - 1] == 46):
            return False
        if letters > 1 and _is_abbreviation(text, k, j, t.abbreviations):
            return bool(letters == 2) and _is_upper(text, k, j, flags)
        if letters == 0 and k > begin and flags[text[k - 1]] & DIGIT:
            digits = k
            while digits > begin and flags[text[digits - 1]] & DIGIT:
                digits -= 1
            return bool(digits > begin)
        return True
    if not flags[nxt] & UPPER:
        return False
    if letters == 0 and j > begin:
        c = text[j - 1]
        return bool(c == 41 or c == 93 or c == 37)
    return bool(letters >= 2)


@compiled
def _close(text: AnyArray, t: Tables, s: Ints, out: ScanRows) -> None:
    """End the open statement: keep it if it holds a letter and its section counts."""
    start, end = s[OPEN], s[LAST]
    if start < 0:
        return
    s[OPEN] = -1
    flags = t.flags
    while end > start and flags[text[end - 1]] & SPACE:
        end -= 1
    k = start
    while k < end and not flags[text[k]] & ALPHA:
        k += 1
    if k >= end:
        return
    if s[HEAD] < 0:
        s[HEAD] = start
    if s[ROLE] == _IGNORE:
        return
    row = s[COUNT]
    s[COUNT] = row + 1
    out.study[row] = s[STUDY]
    out.start[row] = start
    out.end[row] = end
    out.head[row] = s[HEAD]
    out.section[row] = s[SECTION]
    out.structure[row] = s[STRUCTURE]
    out.role[row] = s[ROLE]
    out.phase[row] = s[PHASE]
    first, second = _hash(text, start, end, s[STRUCTURE], flags)
    out.hashes[row, 0] = first
    out.hashes[row, 1] = second


@compiled
def _hash(text: AnyArray, start: int, end: int, structure: int, flags: AnyArray) -> Any:
    """Two 64-bit hashes of structure and unwrapped text.

    Among ten million distinct statements the chance that any two agree in all 128 bits is about
    10^14 / 2^129, or 10^-25.
    """
    one = _finish(_HASH_START ^ np.uint64(structure))  # mixed, lest a first letter undo it
    two = _finish(_START_2 ^ np.uint64(structure))
    i = start
    following = flags[text[i]]
    while i < end:
        flag, following = following, flags[text[i + 1]]
        if (flag & ODD_SPACE) | (flag & following & SPACE):  # a statement ends in no space
            first = i
            line = False
            tab = False
            while flags[text[i]] & SPACE:
                line = line or text[i] == 10
                tab = tab or text[i] == 9
                i += 1
            c = np.uint64(9 if not line and (tab or i - first >= 3) else 32)
            following = flags[text[i]]
        else:
            c = np.uint64(text[i])
            i += 1
        one = (one ^ c) * _PRIME_1
        two = (two + c) * _PRIME_2
        two ^= two >> _U29
    return _finish(one), _finish(two)


@compiled
def _finish(value: Any) -> Any:
    value ^= value >> _U33
    value *= _MIX_1
    value ^= value >> _U33
    value *= _MIX_2
    return value ^ (value >> _U33)


@compiled
def _sentences(
    text: AnyArray, i: int, b: int, t: Tables, key: AnyArray, s: Ints, out: ScanRows
) -> None:
    flags = t.flags
    while True:
        i = _skip(text, i, b, flags)
        if i >= b:
            return
        if s[OPEN] < 0:
            while i < b and (text[i] == 44 or text[i] == 59):
                i = _skip(text, i + 1, b, flags)
            i = _mark(text, i, b, flags)
            row = -1 if i == s[TRIED] else _header(text, i, b, False, t, key, s)
            if row >= 0:
                _apply(row, i, False, True, t, s)
                i = s[AFTER]
                continue
            if i >= b:
                return
            s[OPEN] = i
        j = i
        ended = False
        following = flags[text[j]]
        while j < b:
            # an end's sign, or white space before a digit or more: one test, seldom true
            flag, following = following, flags[text[j + 1]]
            if not (flag & ENDER) | ((flag << 3) & following & DIGIT) | (flag & following & SPACE):
                j += 1
                continue
            if not flag & ENDER:
                if text[j] == 32:
                    ended = _list_number(text, j + 1, b, flags)
                    if not ended and _column(text, j, b, t):
                        ended = True
                        s[COLUMNS] = 1
                    if ended:
                        break
            elif _ends_sentence(text, j, b, t, s):
                ended = True
                j += 1
                while j < b:
                    c = text[j]
                    if not (c == 41 or c == 93 or c == 34 or c == 39):
                        break
                    j += 1
                break
            j += 1
        s[LAST] = j
        if not ended:
            return
        _close(text, t, s, out)
        while j < b and (text[j] == 44 or text[j] == 59):
            j += 1
        i = j


@compiled
def _scan_one(
    text: AnyArray,
    start: int,
    stop: int,
    t: Tables,
    lines: Ints,
    key: AnyArray,
    s: Ints,
    out: ScanRows,
) -> None:
    flags = t.flags
    s[:COUNT] = 0
    s[HEAD] = -1
    s[OPEN] = -1
    s[LAST] = -1
    count, width = _read_lines(text, start, stop, t, lines)
    previous = 0
    for number in range(count):
        a, b = lines[number, 0], lines[number, 1]
        s[BARS] = lines[number, 2]
        first = _skip(text, a, b, flags)
        if first >= b or _is_rule(text, first, b, flags):
            _close(text, t, s, out)
            if s[INLINE_IGNORE] and not s[BODY]:
                s[STRUCTURE] = 0
                s[ROLE] = _FINDINGS
                s[PHASE] = 0
                s[SECTION] += 1
                s[HEAD] = -1
                s[INLINE_IGNORE] = 0
            continue
        content = _after_bullet(text, first, b, flags)
        if content > first and text[first] == 45 and s[OPEN] >= 0:
            if previous + t.limits[DASH_ROOM] > width:
                content = first
        bullet = content > first
        if bullet or (s[OPEN] >= 0 and _ends_line(text, previous, first, b, width, t, s)):
            _close(text, t, s, out)
        if bullet and s[HELD]:
            s[STRUCTURE] = s[HELD_STRUCTURE]
            s[ROLE] = s[HELD_ROLE]
            s[PHASE] = s[HELD_PHASE]
            s[SECTION] += 1
            s[HEAD] = -1
            s[HELD] = 0
            s[INLINE_IGNORE] = 0
        row = _header(text, content, b, True, t, key, s)
        s[TRIED] = content if row < 0 else -1
        if row >= 0:
            _close(text, t, s, out)
            after = _skip(text, s[AFTER], b, flags)
            _apply(row, content, bullet, after < b, t, s)
            content = after
        s[COLUMNS] = 0
        _sentences(text, content, b, t, key, s, out)
        previous = b - a
    _close(text, t, s, out)


@compiled
def _decode(data: AnyArray, begin: int, end: int, codes: AnyArray, places: AnyArray) -> int:
    """UTF-8 to code points; `places`: the byte each begins at, counted from `begin`."""
    sign = np.uint8(0)
    part = data[begin:end]
    for k in range(len(part)):
        sign |= part[k]
    if sign < 128:
        for k in range(len(part)):
            codes[k] = part[k]
        codes[len(part)] = 10
        return end - begin  # all ASCII: `places` is not needed
    count = 0
    i = begin
    while i < end:
        c = np.int32(data[i])
        more = 0 if c < 0x80 else 1 if c < 0xE0 else 2 if c < 0xF0 else 3
        if i + more >= end:
            more = 0  # cut short: Arrow does not hold such text
        code = c if more == 0 else c & (0x3F >> more)
        for k in range(1, more + 1):
            code = (code << 6) | (np.int32(data[i + k]) & 0x3F)
        codes[count] = code
        places[count] = i - begin
        count += 1
        i += more + 1
    codes[count] = 10
    places[count] = end - begin
    return count


@njit
def scan_texts(
    data: AnyArray, offsets: Ints, starts: Ints, stops: Ints, first: int, t: Tables, out: ScanRows
) -> tuple[int, int]:
    """Scan texts from `first` on; where it stopped for want of room, and how many rows it made.

    `starts`, `stops`: code points of each text to read (empty arrays: all of it).
    """
    room = len(out.study)
    longest = 0
    for i in range(first, len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    lines = np.empty((longest + 2, 3), np.int64)
    codes = np.empty(longest + 1, np.uint32)
    places = np.empty(longest + 1, np.int64)
    key = np.empty(t.limits[KEY_MAX] + 1, np.uint8)
    s = np.zeros(STATE, np.int64)
    for i in range(first, len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        if s[COUNT] + (end - begin) // 2 + 1 > room:
            return i, s[COUNT]
        made = s[COUNT]
        s[STUDY] = i
        length = _decode(data, begin, end, codes, places)
        start, stop = 0, length
        if len(starts):
            start = min(max(starts[i], 0), length)
            stop = min(max(stops[i], 0), length)
        _scan_one(codes[: length + 1], start, stop, t, lines, key, s, out)
        for row in range(made, s[COUNT]):
            left, right = out.start[row], out.end[row]
            if length < end - begin:
                left, right = places[left], places[right]
            out.at[row] = begin + left
            out.size[row] = right - left
    return len(offsets) - 1, s[COUNT]
