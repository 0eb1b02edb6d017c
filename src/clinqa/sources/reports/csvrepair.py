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
    return _Repairing(text, dialect, final).run(inside)


class _Repairing:
    """A text while its records are told apart; `place` is where reading stands."""

    def __init__(self, text: bytes, dialect: Dialect, final: bool) -> None:
        self.text, self.size = text, len(text)
        self.dialect, self.final = dialect, final
        self.right, self.any_width, self.cut = dialect.patterns()
        self.out = Repaired()
        self.place = 0
        self.adjacent = False  # does the last good record end where this one begins?

    def run(self, inside: bool) -> Repaired:
        if inside:
            self._leave_given_up()
        while self.place < self.size and not self.out.inside:
            self._take_good()
            if self.place >= self.size or not self._take_bad():
                break
        self.out.bytes_used = self.place
        return self.out

    def _leave_given_up(self) -> None:
        """Go to the first record after the one that was given up before this text."""
        first = self.right.match(self.text)
        good = first and first.end() and _ids_whole(first[0], self.dialect)
        if first and good and self._complete(first):
            return
        again = None if self._waits(0) else self._resume(0)
        self.out.inside = self.out.inside or again is None
        self.place = again or 0

    def _take_good(self) -> None:
        """Take good records, and empty lines between them, as far as they go."""
        text, out, place = self.text, self.out, self.place
        while place < self.size:
            if text[place] in b"\r\n":
                place += 1
                continue
            match = self.right.match(text, place)
            if not match or not self._complete(match):
                break
            out.good.append((place, match.end(), out.rows))
            out.rows += 1
            place, self.adjacent = match.end(), True
        self.place = place

    def _take_bad(self) -> bool:
        """Give up what stands here; False where the text must be read on."""
        if self.right.match(self.text, self.place):
            return False
        match = self.any_width.match(self.text, self.place)
        if not self._complete(match) if match else self._waits(self.place):
            return False
        if self.adjacent and (not match or b'"' in match[0]) and self._take_back():
            return True
        again = match.end() if match else self._resume(self.place)
        if again is None:
            return False
        why = "wrong number of fields" if match else "unclosed or stray quote"
        self.out.bad.append((self.out.rows, why))
        self.out.rows += 1
        self.place, self.adjacent = again, False
        return True

    def _take_back(self) -> bool:
        """Give up the row before, if it may have swallowed this one's head: its unclosed quote
        ended here."""
        before, _, row = self.out.good[-1]
        if b"\n" not in self.text[before : self.place].rstrip(b"\r\n"):
            return False
        again = self._resume(before)
        if again is None or again >= self.place:
            self.out.inside = False
            return False
        self.out.good.pop()
        self.out.bad.append((row, "unclosed or stray quote"))
        self.place, self.adjacent = again, False
        return True

    def _complete(self, match: re.Match[bytes]) -> bool:
        return self.final or (match.end() > match.start() and self.text[match.end() - 1] in b"\r\n")

    def _waits(self, place: int) -> bool:
        """May what is open here be closed by the next piece of the file?"""
        few = not self.final and self.size < _RESYNC_BYTES * 8
        return few and self.cut.match(self.text, place) is not None

    def _resume(self, start: int) -> int | None:
        """The first later line that is a record; the size if there is none, None to read on."""
        text = self.text
        while True:
            newline = text.find(b"\n", start)
            if newline < 0 or newline + 1 >= self.size:
                if self.final or self.size - self.place <= _RESYNC_BYTES:
                    return self.size if self.final else None
                self.out.inside = True
                return _open_tail(text, self.cut)
            start = newline + 1
            match = self.right.match(text, start)
            if match and match.end() > start and _ids_whole(match[0], self.dialect):
                return start if self._complete(match) else None


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
