"""What the compiled scanner looks up: characters, headers and abbreviations as arrays.

Everything that is data in `segment` and `sections` comes from there, so that a change of a set or
of a width there changes both engines. What letters, capitals and digits are, Python says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clinqa.core.arrays import Bytes, Ints, UInt16s, UInt64s
from clinqa.core.records import Phase
from clinqa.reading import segment as rules
from clinqa.reading.sections import Header, SectionTable

__all__ = [
    "ALPHA",
    "BLANKED",
    "BULLET",
    "CASED_LOW",
    "DASH_ROOM",
    "DIGIT",
    "ENDER",
    "FIELD_MAX",
    "GAP",
    "HEADER_MAX",
    "HEAD_STOP",
    "HEAD_TAIL",
    "KEY",
    "KEY_MAX",
    "MIN_WIDTH",
    "ODD_SPACE",
    "PHASES",
    "RULE",
    "SPACE",
    "SPARE",
    "SPARE_CAPITAL",
    "UPPER",
    "Tables",
    "hash_bytes",
    "make_tables",
    "structures_of",
]

PHASES = tuple(Phase)  # `Pieces.phase` is a position here

# What a character is, as bits of `Tables.flags`.
SPACE, ALPHA, UPPER, DIGIT, CASED_LOW = 1, 2, 4, 8, 16
BULLET, RULE, ENDER, KEY, HEAD_STOP, HEAD_TAIL = 32, 64, 128, 256, 512, 1024
GAP, ODD_SPACE = 2048, 4096

# Positions in `Tables.limits`.
HEADER_MAX, MIN_WIDTH, DASH_ROOM, SPARE_CAPITAL, SPARE, FIELD_MAX, KEY_MAX, BLANKED = range(8)

_CODE_POINTS = 0x110000
_LETTERS_END = 0x40000  # nothing from here on is a letter or a digit; a test says so

HASH_START = 0xCBF29CE484222325
HASH_PRIME = 0x100000001B3


class Tables(NamedTuple):
    """The look-ups of one pack."""

    flags: UInt16s  # by code point
    limits: Ints  # by the names above
    abbreviations: UInt64s  # up to eight ASCII letters in one word
    slots: Ints  # open addressing: number of a header key, or -1
    keys: Bytes  # the header keys end to end
    ends: Ints  # key i is keys[ends[i]:ends[i + 1]]
    choice: Ints  # key i: row of `meaning` (words follow, none follow), or -1
    meaning: Ints  # structure, role, phase (-1: as it was), structural, sticky


def hash_bytes(key: bytes) -> int:
    """FNV-1a, 64 bits: the hash by which headers are looked up."""
    value = HASH_START
    for byte in key:
        value = ((value ^ byte) * HASH_PRIME) & 0xFFFFFFFFFFFFFFFF
    return value


def structures_of(table: SectionTable) -> list[str]:
    """Every structure that a section can have; `*`, that of no section, is the first."""
    found = {
        header.structure
        for headers in (table.headers, table.blocks)
        for header in headers.values()
        if header.structure is not None
    }
    return ["*", *sorted(found - {"*"})]


def make_tables(table: SectionTable) -> Tables:
    """The rules of `segment` and the headers of `table`, as arrays."""
    keys = sorted(table.headers.keys() | table.blocks.keys())
    slots = np.full(1 << max(4, (4 * len(keys)).bit_length()), -1, np.int64)
    meaning: list[tuple[int, int, int, int, int]] = []
    choice = np.full((max(len(keys), 1), 2), -1, np.int64)
    structures = structures_of(table)
    for number, key in enumerate(keys):
        slot = hash_bytes(key.encode()) & (len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = number
        for column, header in enumerate(
            (table.headers.get(key), table.blocks.get(key, table.headers.get(key)))
        ):
            if header is not None:
                choice[number, column] = len(meaning)
                meaning.append(_meaning(header, structures))
    return Tables(
        flags=_flags(),
        limits=_limits(keys, structures),
        abbreviations=np.array(
            sorted(int.from_bytes(word.encode("ascii"), "big") for word in rules._ABBREVIATIONS),
            np.uint64,
        ),
        slots=slots,
        keys=np.frombuffer("".join(keys).encode() or b"\0", np.uint8).copy(),
        ends=np.cumsum([0] + [len(key) for key in keys], dtype=np.int64),
        choice=choice,
        meaning=np.array(meaning or [(-1, -1, -1, 0, 0)], np.int64),
    )


def _limits(keys: list[str], structures: list[str]) -> Ints:
    limits = {
        HEADER_MAX: rules.HEADER_MAX,
        MIN_WIDTH: rules.MIN_WIDTH,
        DASH_ROOM: rules.DASH_ROOM,
        SPARE_CAPITAL: rules.SPARE_CAPITAL,
        SPARE: rules.SPARE,
        FIELD_MAX: rules.FIELD_MAX,
        KEY_MAX: max(map(len, keys), default=0),
        BLANKED: structures.index(rules.BLANKED) if rules.BLANKED in structures else -2,
    }
    return np.array([limits[place] for place in range(8)], np.int64)


def _meaning(header: Header, structures: list[str]) -> tuple[int, int, int, int, int]:
    return (
        -1 if header.structure is None else structures.index(header.structure),
        -1 if header.role is None else int(header.role),
        -1 if header.phase is None else PHASES.index(header.phase),
        int(header.structural),
        int(header.sticky),
    )


def _flags() -> UInt16s:
    flags = np.zeros(_CODE_POINTS, np.uint16)
    letters = np.arange(_LETTERS_END, dtype=np.uint32).view("U1")
    upper = np.strings.isupper(letters)
    low = np.strings.islower(letters) | (np.strings.istitle(letters) & ~upper)
    flags[:_LETTERS_END] = (
        np.strings.isalpha(letters) * ALPHA
        + upper * UPPER
        + np.strings.isdigit(letters) * DIGIT
        + low * CASED_LOW
    )
    sets = (
        (SPACE, rules._SPACE),
        (BULLET, rules._BULLETS),
        (RULE, rules._RULE),
        (ENDER, ".!?"),
        (HEAD_STOP, ":|\t."),
        (HEAD_TAIL, ":|.*_\t -"),
        (GAP, " -"),
        (ODD_SPACE, rules._SPACE - {" "}),
    )
    for bit, characters in sets:
        for character in characters:
            flags[ord(character)] |= bit
    for code in range(128):
        if chr(code).isalnum():
            flags[code] |= KEY
    return flags
