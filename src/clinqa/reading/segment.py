"""From a report's text to its statements, with the section each stands in.

This is the readable twin of `scan`, which does the same over bytes for large inputs; a property
test holds them equal. Offsets are code points of the text as given.

A statement ends at a full stop before white space ("1.3" and "R.V." do not end one), at a full
stop glued to a capital ("No AS.Trace AR"), before a header, a bullet or an empty line, and at a
line end where the next word would still have fitted on the line (LABELLING, known faults).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clinqa.core.records import Phase
from clinqa.packs.loader import BLANKED
from clinqa.reading.sections import Header, Role, SectionTable

__all__ = ["BLANKED", "Piece", "segment", "unwrap"]

HEADER_MAX = 60
FIELD_MAX = 40
MIN_WIDTH = 60
DASH_ROOM = 10
SPARE_CAPITAL, SPARE = 12, 25  # columns left over that make a line end a statement's end
_ABBREVIATIONS = frozenset(
    {"dr", "mr", "mrs", "ms", "vs", "eg", "ie", "approx", "st", "pt", "fig", "cf", "inc", "jr",
     "sr", "prof", "est", "max", "min", "avg", "resp", "press", "syst", "diast", "vel", "grad"}
)  # fmt: skip
_BULLETS = "-*\u2022\u00b7\u25aa>#+"
_RULE = "-=_*#~.+| \t\r"
_BLANKS = " \t\r\n\x0b\x0c\u00a0"
_SPACE = frozenset(_BLANKS)
_RUN = re.compile(f"[{_BLANKS}]{{2,}}|[{_BLANKS[1:]}]")  # any but a single space
_HEADER_SIGN = re.compile("[:|\t. \u00a0]")
_HALT = re.compile(r"[.!?]| (?=[0-9]{1,2}\) .)| (?=  )")  # where a sentence may end


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement: where it stands and under which heading."""

    start: int
    end: int
    structure: str
    role: Role
    phase: Phase
    section: int  # number of the section in the report, for what holds within one section
    head: int  # where the section's header begins (the statement itself if it has none)


@dataclass(slots=True)
class _State:
    structure: str = "*"
    role: Role = Role.FINDINGS
    phase: Phase = Phase.BASELINE
    section: int = 0
    head: int = -1


def unwrap(text: str) -> str:
    """White space folded to single spaces; a run inside a line that makes a column is a tab.

    >>> unwrap("Left\\n   atrium     mild")
    'Left atrium\\tmild'
    """
    return _RUN.sub(_fold, text.strip(_BLANKS))


def _fold(match: re.Match[str]) -> str:
    run = match.group()
    return "\t" if "\n" not in run and (len(run) >= 3 or "\t" in run) else " "


def segment(text: str, table: SectionTable, start: int = 0, end: int | None = None) -> list[Piece]:
    """The statements of `text[start:end]` in order, those of ignored sections too."""
    stop = len(text) if end is None else end
    return list(_Segmenter(text, table, start, stop).run())


class _Segmenter:
    def __init__(self, text: str, table: SectionTable, start: int, stop: int) -> None:
        self.text, self.table = text, table
        self.start, self.stop = start, stop
        self.state = _State()
        self.before_bullet: _State | None = None  # to go back to at the next bullet
        self.inline_ignore = False
        self.body = False  # has a heading of the report's own findings been seen?
        self.columns = False  # did the line before hold several fields side by side?
        self.open = -1
        self.last = -1

    def run(self) -> Iterator[Piece]:
        text = self.text
        lines = self._lines()
        width = MIN_WIDTH
        for a, b in lines:
            if text.find("[**", a, b) < 0:
                width = max(width, b - a)
        previous = (0, 0)
        for a, b in lines:
            first = self._skip(a, b)
            if first >= b or not text[first:b].strip(_RULE):
                yield from self._close()
                if self.inline_ignore and not self.body:
                    self._set(_State("*", Role.FINDINGS, Phase.BASELINE))
                    self.inline_ignore = False
                continue
            content = self._after_bullet(first, b)
            if (
                content > first
                and text[first] == "-"
                and self.open >= 0
                and previous[1] - previous[0] + DASH_ROOM > width
            ):
                content = first  # a dash that a wrap brought to the line's start
            bullet = content > first
            if bullet or (self.open >= 0 and self._ends_line(previous, first, b, width)):
                yield from self._close()
            if bullet and self.before_bullet is not None:
                self._set(self.before_bullet)
                self.before_bullet = None
                self.inline_ignore = False
            header, after = self._header(content, b, line=True)
            if header is not None:
                yield from self._close()
                self._apply(header, content, bullet, inline=self._skip(after, b) < b)
                content = self._skip(after, b)
            self.columns = False
            yield from self._sentences(content, b)
            previous = (a, b)
        yield from self._close()

    def _lines(self) -> list[tuple[int, int]]:
        lines = []
        at = self.start
        while at <= self.stop:
            end = self.text.find("\n", at, self.stop)
            end = self.stop if end < 0 else end
            right = end
            while right > at and self.text[right - 1] in _SPACE:
                right -= 1
            lines.append((at, right))
            at = end + 1
        return lines

    def _skip(self, i: int, b: int) -> int:
        while i < b and self.text[i] in _SPACE:
            i += 1
        return i

    def _after_bullet(self, first: int, b: int) -> int:
        """Past a bullet or list number at the start of a line, or `first`."""
        text, i = self.text, first
        while i < b and text[i] in _BULLETS:
            i += 1
            while i < b and text[i] in " \t":
                i += 1
        if i > first:
            return min(i, b) if text[i - 1] in " \t" or text[first] in "*#" else first
        start = first + (text[first] == "(")
        i = self._after_number(start, b)
        if start < i <= start + 4 and i + 1 < b and text[i] in ".)" and text[i + 1] in " \t":
            return self._skip(i + 1, b)
        return first

    def _after_number(self, start: int, b: int) -> int:
        """Past the digits, the Roman digits or the one letter of a list at `start`."""
        text, i = self.text, self._after_digits(start, b)
        if i > start:
            return i
        while i < b and i - start < 4 and text[i] in "IVXivx":
            i += 1
        if i == start and i + 1 < b and text[i] in "abcdefghABCDEFGH" and text[i + 1] in ".)":
            i += 1
        return i

    def _after_digits(self, i: int, b: int) -> int:
        while i < b and self.text[i].isascii() and self.text[i].isdigit():
            i += 1
        return i

    def _header(self, i: int, b: int, *, line: bool) -> tuple[Header | None, int]:
        """The header at `i`, and where what it heads begins."""
        text = self.text
        if not line and text.find(":", i, min(b, i + HEADER_MAX)) < 0:
            return None, i
        j, whole = self._header_end(i, b)
        if j < 0 or (not line and (whole or text[j] != ":")):
            return None, i
        after = j
        while after < b and text[after] in ":|.*_\t -":
            if text[after : after + 2] == "__":
                break
            after += 1
        header = self.table.find(text[i:j], inline=after < b)
        if header is None or not _heads(header, text[i:j], whole, line):
            return None, i
        return header, after

    def _header_end(self, i: int, b: int) -> tuple[int, bool]:
        """Where a header that begins at `i` would end, -1 for none; and is it the whole line?"""
        text = self.text
        limit = min(b, i + HEADER_MAX)
        for sign in _HEADER_SIGN.finditer(text, i, limit):
            j = sign.start()
            char = text[j]
            if char in ":|\t" or text[j : j + 3] in ("...", "   ", " - "):
                return j, False
            if char == "." and j + 1 < b and text[j + 1] in " \t" and j - i > 6:
                return -1, False
        if limit < b or (self.open >= 0 and text[b - 1] == "."):
            return -1, False  # the last word of a sentence that was wrapped ("in the\nLA.")
        return limit, True

    def _apply(self, header: Header, head: int, bullet: bool, inline: bool) -> None:
        state = self.state
        new = _State(header.structure or state.structure, state.role, state.phase)
        if header.role is not None:
            new.role = header.role
        elif header.sticky and inline and state.role is Role.IGNORE:
            pass
        elif header.structural or header.structure == "*":
            if state.role is Role.IGNORE or (
                state.role is Role.ADDENDUM and not self.body and header.structural
            ):
                new.role = Role.FINDINGS
        if header.phase is not None:
            new.phase = header.phase
            if header.role is None and state.role is Role.IGNORE:
                new.role = Role.FINDINGS
        self.before_bullet = None
        if bullet and inline:
            self.before_bullet = state
        own = header.role in (Role.FINDINGS, Role.CONCLUSION)
        self.body = self.body or header.structural or own
        self.inline_ignore = header.role is Role.IGNORE and inline
        self._set(new, head)

    def _set(self, state: _State, head: int = -1) -> None:
        number = self.state.section + 1
        self.state = _State(state.structure, state.role, state.phase, number, head)

    def _ends_line(self, previous: tuple[int, int], first: int, b: int, width: int) -> bool:
        """Did the line before end although the next word would have fitted?"""
        text = self.text
        word = first
        while word < b and text[word] not in _SPACE:
            word += 1
        if text.find("|", first, b) >= 0:
            # a row of a table, or one more line of its cell
            return text[first] != "|" or text.count("|", first, b) != 1
        spare = width - (previous[1] - previous[0]) - 1 - (word - first)
        if text[self.last - 1] in ",(/-:":
            return False
        if (spare >= 0 or self.columns) and self._field(first, b):
            return True
        capital = text[first].isupper() or text[first].isdigit()
        return spare >= (SPARE_CAPITAL if capital else SPARE)

    def _sentences(self, i: int, b: int) -> Iterator[Piece]:
        text = self.text
        while True:
            i = self._skip(i, b)
            if i >= b:
                return
            if self.open < 0:
                while i < b and text[i] in ",;":
                    i = self._skip(i + 1, b)
                i = self._mark(i, b)
                header, after = self._header(i, b, line=False)
                if header is not None:
                    self._apply(header, i, False, inline=True)
                    i = after
                    continue
                if i >= b:
                    return
                self.open = i
            ended = False
            for halt in _HALT.finditer(text, i, b):
                j = halt.start()
                if text[j] == " ":
                    ended = self._list_number(j + 1, b)
                    if not ended and self._column(j, b):
                        ended = self.columns = True
                elif self._ends_sentence(j, b):
                    ended = True
                    j += 1
                    while j < b and text[j] in ")]\"'":
                        j += 1
                if ended:
                    break
            else:
                j = b
            self.last = j
            if not ended:
                return
            yield from self._close()
            while j < b and text[j] in ",;":
                j += 1
            i = j

    def _column(self, j: int, b: int) -> bool:
        """Does a gap of three spaces stand here, and a field ("RA SIZE:") after it?"""
        if self.text[j : j + 3] != "   ":
            return False
        return self._field(self._skip(j, b), b)

    def _field(self, i: int, b: int) -> bool:
        """Do a capital, a few words and a colon stand at `i`?"""
        text = self.text
        if i >= b or not text[i].isupper():
            return False
        j = i
        while j < b and j - i < FIELD_MAX and (text[j].isalpha() or text[j] in " /-"):
            if text[j : j + 3] == "   ":
                return False
            j += 1
        return j < b and text[j] == ":"

    def _list_number(self, j: int, b: int) -> bool:
        """Does "2) " before a capital stand here, the next item of a list within a line?"""
        text, k = self.text, self._after_digits(j, b)
        return j < k <= j + 2 and k + 2 < b and text[k : k + 2] == ") " and text[k + 2].isupper()

    def _mark(self, i: int, b: int) -> int:
        """Past a list number within a line ("1.  Left atrium")."""
        text, j = self.text, self._after_digits(i, b)
        if i < j <= i + 2 and j + 1 < b and text[j] in ".)" and text[j + 1] in " \t":
            return self._skip(j + 1, b)
        return i

    def _ends_sentence(self, j: int, b: int) -> bool:
        text = self.text
        if text[j] == "." and (text[j - 1 : j] == "." or text[j + 1 : j + 2] == "."):
            return False  # a dotted leader
        if text[j] in "!?":
            return j + 1 >= b or text[j + 1] in _SPACE
        k = j
        while k > self.open and text[k - 1].isalpha():
            k -= 1
        nxt = text[j + 1] if j + 1 < b else "\n"
        if nxt in _SPACE:
            return self._word_ends(k, j)
        if nxt in ")]\"',":
            return self._sign_ends(nxt, j + 2, b) and self._word_ends(k, j)
        glued = j - k >= 2 or (j == k and j > self.open and text[j - 1] in ")]%")
        return glued and nxt.isupper()

    def _sign_ends(self, sign: str, i: int, b: int) -> bool:
        """Does a sentence end before a comma, bracket or quote that `i` follows?"""
        if sign != ",":
            return i >= b or self.text[i] in _SPACE
        char = self.text[i : i + 1] if i < b else ""
        return char.isdigit() or char.isupper() or char in _SPACE

    def _word_ends(self, k: int, j: int) -> bool:
        """Does a full stop at `j` after the letters from `k` end a sentence?"""
        text, letters = self.text, j - k
        if letters == 1:  # "R.V. is" goes on, "in the R.V." at a line's end does not
            return k > self.open and text[k - 1] != "."
        if letters:
            word = text[k:j]  # "Severe MR." is no title
            return word.lower() not in _ABBREVIATIONS or (word.isupper() and letters == 2)
        digits = k  # a list number at the very start is no sentence
        while digits > self.open and text[digits - 1].isdigit():
            digits -= 1
        return digits == k or digits > self.open

    def _close(self) -> Iterator[Piece]:
        if self.open >= 0:
            start, end = self.open, self.last
            while end > start and self.text[end - 1] in _SPACE:
                end -= 1
            if any(char.isalpha() for char in self.text[start:end]):
                state = self.state
                if state.head < 0:
                    state.head = start
                yield Piece(
                    start, end, state.structure, state.role, state.phase, state.section, state.head
                )
        self.open = -1


def _heads(header: Header, name: str, whole: bool, line: bool) -> bool:
    """Does a name that the table knows head something here, written as it is?"""
    if header.structure == BLANKED and "_" not in name:
        return False
    if line:
        return not whole or name[0].isupper() or name[0] in "*_"
    no_words = header.structure == "*" and header.role is None
    return name.isupper() or not (header.structural or header.role is Role.IGNORE or no_words)
