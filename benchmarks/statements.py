"""Statements of a report as a careful Python programmer finds them with `re` and string methods.

Written for the comparison: lines, headers by a dictionary, wrapped lines joined, sentence ends by
one expression with exceptions. It covers what reports of this layout hold; clinqa also reads
matrices, columns, several reports in a note and other layouts, which is no part of what is timed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Statement = tuple[int, int, str, str, bool, int, int, int]
"""start, end, words, structure, addendum, phase, number and head of the section."""

HEADER_MAX, FIELD_MAX, MIN_WIDTH, DASH_ROOM = 60, 40, 60, 10
SPARE_CAPITAL, SPARE = 12, 25
_BLANKS = " \t\r\n\x0b\x0c\u00a0"
_RULE = "-=_*#~.+| \t\r"
_AFTER_KEY = re.compile(r"(?:[:|.*\t -]|_(?!_))*")
_BULLET = re.compile(
    r"[-*\u2022\u00b7\u25aa>#+][-*\u2022\u00b7\u25aa>#+ \t]*(?<=[ \t*#])"
    r"|\(?(?:[0-9]{1,4}|[IVXivx]{1,4}|[a-hA-H])[.)][ \t]+"
)
_FIELD = re.compile(r"(?=[A-Z])[^\W\d_](?:[^\W\d_]|[ /-](?!  ))*:")
_STOP = re.compile(r"[.!?](?=[\s)\]\"',A-Z]|\Z)")
_MARK = re.compile(r"[0-9]{1,2}[.)][ \t]+")
_ABBREVIATIONS = frozenset(
    "dr mr mrs ms vs eg ie approx st pt fig cf inc jr sr prof est max min avg resp press syst"  # noqa: SIM905
    " diast vel grad".split()
)
_WORD = re.compile(r"[^\W\d_]*\Z")
_LETTER = re.compile(r"[^\W\d_]")
_RUN = re.compile(r"[ \t\r\n\x0b\x0c\u00a0]+")


def _fold(match: re.Match[str]) -> str:
    run = match.group()
    return "\t" if "\n" not in run and (len(run) >= 3 or "\t" in run) else " "


class Headers:
    """Known headers by what stands before the colon; each spelling is looked up once."""

    def __init__(self, find: Callable[..., tuple[object, ...] | None]) -> None:
        self._find = find
        self.memo: dict[tuple[str, bool], tuple[object, ...] | None] = {}

    def get(self, text: str, inline: bool) -> tuple[object, ...] | None:
        key = (text, inline)
        if key not in self.memo:
            self.memo[key] = self._find(text, inline)
        return self.memo[key]


FINDINGS, CONCLUSION, ADDENDUM, IGNORE = range(4)


def statements(text: str, headers: Headers) -> list[Statement]:
    """The statements of a report that can label, in text order."""
    found: list[Statement] = []
    lines = text.split("\n")
    width = MIN_WIDTH
    for line in lines:
        if len(line) > width and "[**" not in line:
            width = max(width, len(line.rstrip()))
    structure, role, phase, section, head = "*", FINDINGS, 0, 0, -1
    before: tuple[str, int, int] | None = None
    inline_ignore = body = False
    start = end = -1  # of the paragraph that is being gathered
    size = at = 0  # of the line before; offset of this one
    get = headers.get

    def flush() -> None:
        nonlocal start, structure, role, phase, section, head, before, body, inline_ignore
        i, stop, start = start, end, -1
        while i < stop:
            while text[i] in " \t\n\r,;":
                i += 1
                if i >= stop:
                    return
            if text[i].isdigit() and (mark := _MARK.match(text, i, stop)):
                i = mark.end()
            colon = text.find(":", i, min(i + HEADER_MAX, stop))
            if colon > 0:
                key = text[i:colon]
                header = get(key, True)
                if header is not None and key.find(". ") < 0 and "\n" not in key:
                    h_structure, h_role, _, _, structural = header
                    plain = h_structure == "*" and h_role is None
                    if key.isupper() or not (structural or plain or h_role == IGNORE):
                        structure, role, phase, body = _applied(
                            header, structure, role, phase, body
                        )
                        section, head = section + 1, i
                        before, inline_ignore = None, False
                        i = _AFTER_KEY.match(text, colon, stop).end()
                        continue
            j = stop
            for halt in _STOP.finditer(text, i, stop):
                k = halt.start()
                follows = text[k + 1 : k + 2]
                if text[k] == ".":
                    ahead = text[k - 1]
                    if ahead == "." or follows == ".":
                        continue
                    letters = _WORD.search(text[max(i, k - 12) : k]).group()
                    if follows.isupper():
                        if not (len(letters) >= 2 or (not letters and ahead in ")]%")):
                            continue
                    elif letters:
                        if len(letters) == 1 and (k - 1 == i or text[k - 2] == "."):
                            continue
                        if letters.lower() in _ABBREVIATIONS and len(letters) > 1:
                            if not (len(letters) == 2 and letters.isupper()):
                                continue
                    elif ahead.isdigit() and text[i:k].isdigit():
                        continue
                elif follows.isupper() or (follows and follows in ")]\"',"):
                    continue
                if follows == ",":
                    if not (text[k + 2 : k + 3].isdigit() or text[k + 2 : k + 3].isupper()):
                        if text[k + 2 : k + 3] not in _BLANKS:
                            continue
                elif follows and follows in ")]\"'" and not text[k + 2 : k + 3].isspace():
                    continue
                j = k + 1
                while j < stop and text[j] in ")]\"'":
                    j += 1
                break
            words = text[i:j].rstrip(_BLANKS)
            if role != IGNORE and _LETTER.search(words):
                if head < 0:
                    head = i
                if "\n" in words or "  " in words or "\t" in words or "\u00a0" in words:
                    e = i + len(words)
                    words = _RUN.sub(_fold, words)
                else:
                    e = i + len(words)
                found.append((i, e, words, structure, role == ADDENDUM, phase, section, head))
            i = j

    for line in lines:
        a = at
        at += len(line) + 1
        line = line.rstrip(_BLANKS)
        content = line.lstrip(_BLANKS)
        if not content or not content.strip(_RULE):
            if start >= 0:
                flush()
            if inline_ignore and not body:
                structure, role, phase, section, head = "*", FINDINGS, 0, section + 1, -1
                inline_ignore = False
            continue
        b = a + len(line)
        i = b - len(content)
        bullet = _BULLET.match(content)
        if bullet is not None:
            wrapped = content[0] == "-" and start >= 0 and text[end - 1] not in ".!?"
            if not (wrapped and size + DASH_ROOM > width):
                i += bullet.end()
                content = content[bullet.end() :]
            else:
                bullet = None
        if start >= 0:
            if bullet is not None:
                flush()
            else:
                spare = width - size - 1 - len(content.split(None, 1)[0])
                if spare >= 0 and text[end - 1] not in ",(/-:":
                    lead = content[0]
                    enough = SPARE_CAPITAL if lead.isupper() or lead.isdigit() else SPARE
                    if spare >= enough or _FIELD.match(content, 0, FIELD_MAX + 1):
                        flush()
        if bullet is not None and before is not None:
            structure, role, phase = before
            section, head, before, inline_ignore = section + 1, -1, None, False
        header = None
        colon = content.find(":", 0, HEADER_MAX)
        if colon > 0:
            after = _AFTER_KEY.match(text, i + colon, b).end()
            key = content[:colon]
            header = get(key, after < b)
            if header is not None and key.find(". ", 7) > 0:
                header = None
        elif len(content) < HEADER_MAX and content[0].isupper():
            if content[-1] != ".":
                header = get(content, False)
            after = b
        if header is not None:
            if start >= 0:
                flush()
            inline = after < b
            was = (structure, role, phase)
            structure, role, phase, body = _applied(header, structure, role, phase, body, inline)
            section, head = section + 1, i
            before = was if bullet is not None and inline else None
            inline_ignore = header[1] == IGNORE and inline
            i = after
        if start < 0 and i < b:
            start = i
        end = b
        size = b - a
    if start >= 0:
        flush()
    return found


def _applied(
    header: tuple[object, ...],
    structure: str,
    role: int,
    phase: int,
    body: bool,
    inline: bool = True,
) -> tuple[str, int, int, bool]:
    """The state under a header."""
    h_structure, h_role, h_phase, sticky, structural = header
    new_structure, new_role, new_phase = h_structure or structure, role, phase
    if h_role is not None:
        new_role = h_role
    elif sticky and inline and role == IGNORE:
        pass
    elif structural or h_structure == "*":
        if role == IGNORE or (role == ADDENDUM and not body and structural):
            new_role = FINDINGS
    if h_phase is not None:
        new_phase = h_phase
        if h_role is None and role == IGNORE:
            new_role = FINDINGS
    return (
        new_structure,
        new_role,
        new_phase,
        body or structural or h_role in (FINDINGS, CONCLUSION),
    )
