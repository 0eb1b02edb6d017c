"""Records of a CSV text whose quoting is wrong somewhere: the good ones kept, the bad ones found.

A quoted field that never closes swallows the rows after it until some quote ends it, and a lenient
parser then gives one long wrong row. Here a record is good only if every quoted field is followed
by a delimiter or a line end; a bad one is given up and reading goes on at the next line that
parses strictly, has the right number of fields and ids without blanks in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Dialect", "Repaired", "repair"]

# a bad record that no later line ends within this many bytes is given up whole
_RESYNC_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CSV file is written: its delimiter, number of fields, and which fields are ids."""

    delimiter: bytes
    fields: int
    ids: tuple[int, ...] = ()

    def patterns(self) -> tuple[re.Pattern[bytes], re.Pattern[bytes], re.Pattern[bytes]]:
        """A strict record of the right width, one of any width, and one cut off in a quote."""
        d = re.escape(self.delimiter)
        quoted = rb'"(?:[^"]++|"")*+"'
        one = rb"(?:" + quoted + rb'|[^"' + d + rb"\r\n][^" + d + rb"\r\n]*+|)"
        end = rb"(?:\r\n|\n|\r|\Z)"
        right = one + rb"(?:" + d + one + rb"){%d}" % (self.fields - 1) + end
        any_width = one + rb"(?:" + d + one + rb")*+" + end
        cut = rb"(?:" + one + d + rb')*+"(?:[^"]++|"")*+\Z'
        return re.compile(right), re.compile(any_width), re.compile(cut)


@dataclass(slots=True)
class Repaired:
    """Byte ranges of good records with their row numbers; bad rows with the reason; how far.

    Numbers count from 0 at the start of the text given. `bytes_used` is where the next piece of
    the file must be joined on.
    """

    good: list[tuple[int, int, int]] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    bytes_used: int = 0
    rows: int = 0
    # a record was given up and its end not found: the next piece begins inside it
    inside: bool = False


def repair(text: bytes, dialect: Dialect, *, final: bool, inside: bool = False) -> Repaired:
    """Split `text` into strict records; without `final`, what the end leaves open is not used.

    `inside`: the text begins within a record given up before, which is no row of this text.
    """
    right, any_width, cut = dialect.patterns()
    out = Repaired()
    place, size = 0, len(text)
    adjacent = False  # does the last good record end where this one begins?

    def complete(match: re.Match[bytes]) -> bool:
        return final or (match.end() > match.start() and text[match.end() - 1] in b"\r\n")

    def resume(start: int) -> int | None:
        """The first later line that is a record; `size` if there is none, None to read on."""
        while True:
            newline = text.find(b"\n", start)
            if newline < 0 or newline + 1 >= size:
                if final or size - place <= _RESYNC_BYTES:
                    return size if final else None
                out.inside = True
                return _open_tail(text, cut)
            start = newline + 1
            match = right.match(text, start)
            if match and match.end() > start and _ids_whole(match[0], dialect):
                return start if complete(match) else None

    if inside:
        first = right.match(text)
        if not (first and first.end() and _ids_whole(first[0], dialect) and complete(first)):
            waits = not final and size < _RESYNC_BYTES * 8 and cut.match(text)
            again = None if waits else resume(0)
            out.inside = out.inside or again is None
            place = again or 0
    while place < size and not out.inside:
        if text[place] in b"\r\n":
            place += 1
            continue
        match = right.match(text, place)
        if match:
            if not complete(match):
                break
            out.good.append((place, match.end(), out.rows))
            out.rows += 1
            place, adjacent = match.end(), True
            continue
        match = any_width.match(text, place)
        if not match and not final and size < _RESYNC_BYTES * 8 and cut.match(text, place):
            break
        if match and not complete(match):
            break
        if adjacent and (not match or b'"' in match[0]):
            # the row before may have swallowed this one's head: its unclosed quote ended here
            before, _, row = out.good[-1]
            if b"\n" in text[before:place].rstrip(b"\r\n"):
                again = resume(before)
                if again is not None and again < place:
                    out.good.pop()
                    out.bad.append((row, "unclosed or stray quote"))
                    place, adjacent = again, False
                    continue
                out.inside = False
        if match:
            out.bad.append((out.rows, "wrong number of fields"))
            out.rows += 1
            place, adjacent = match.end(), False
            continue
        again = resume(place)
        if again is None:
            break
        out.bad.append((out.rows, "unclosed or stray quote"))
        out.rows += 1
        place, adjacent = again, False
    out.bytes_used = place
    return out


def _open_tail(text: bytes, cut: re.Pattern[bytes]) -> int:
    """Where in the end of a text a record may begin that the next piece completes; else its size:
    at a line whose quote stays open, or at the last line if that has no end."""
    start = max(0, len(text) - _RESYNC_BYTES // 2)
    while (newline := text.find(b"\n", start)) >= 0:
        start = newline + 1
        if cut.match(text, start) or text.find(b"\n", start) < 0:
            return start
    return len(text)


def _ids_whole(record: bytes, dialect: Dialect) -> bool:
    """Do the id fields look like ids? Keeps prose with commas from passing for a record."""
    fields = _split(record.rstrip(b"\r\n"), dialect.delimiter)
    ids = [fields[place].strip(b'"') for place in dialect.ids]
    return all(value and not re.search(rb"\s", value) for value in ids)


def _split(record: bytes, delimiter: bytes) -> Sequence[bytes]:
    if b'"' not in record:
        return record.split(delimiter)
    d = re.escape(delimiter)
    return re.findall(rb"(?:\A|" + d + rb')("(?:[^"]++|"")*+"|[^' + d + rb"]*+)", record)
