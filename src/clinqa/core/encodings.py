"""Which encoding a text file is in: told from its bytes, and the same for every reader.

A byte order mark says it. Without one, what is UTF-8 throughout is UTF-8. What is not was saved by
a program of one byte a letter, and is read as Windows-1252, which has what Latin-1 has; unless
it holds as many letters that are UTF-8: then it is damaged.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

__all__ = ["Encoding", "encoding_of", "open_text"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAMES = {"utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-32": "UTF-32", "cp1252": "Windows-1252"}
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Encoding:
    """What Python calls it, and the first line that is not in it (0: all are). `guessed` where no
    byte says so."""

    name: str
    broken: int = 0
    guessed: bool = False

    @property
    def title(self) -> str:
        """What people call it."""
        return _NAMES[self.name]


def encoding_of(file: BinaryIO) -> Encoding:
    """The encoding of a file that can be read from its beginning; it is read through once.

    >>> from io import BytesIO
    >>> encoding_of(BytesIO("Köln".encode("cp1252"))).title, encoding_of(BytesIO(b"x")).title
    ('Windows-1252', 'UTF-8')
    >>> encoding_of(BytesIO("Köln\\n".encode() + "Köln".encode("cp1252"))).broken
    2
    """
    file.seek(0)
    head = file.read(4)
    file.seek(0)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name)
    lines = broken = whole = torn = 0
    writable = True
    while block := file.read(_CHUNK):
        block += file.readline()  # never cut inside a letter
        if block.isascii():
            lines += block.count(b"\n")
            continue
        for line in _lines(block):
            lines += 1
            if line.isascii():
                continue
            text = line.decode("utf-8", "replace")
            faults = text.count("\ufffd")
            whole += sum(ord(letter) > 127 for letter in text) - faults
            torn += faults
            if faults:
                broken = broken or lines
                writable = writable and _writable(line)
    if not broken:
        return Encoding("utf-8-sig")
    # a capital before a quotation mark may look like one letter of UTF-8, but seldom
    if torn > whole and writable:
        return Encoding("cp1252", guessed=True)
    return Encoding("utf-8-sig", broken)


@contextmanager
def open_text(path: Path, newline: str | None = None) -> Iterator[tuple[TextIO, Encoding]]:
    """A text file of whatever size in its own encoding; what cannot be read is U+FFFD."""
    with path.open("rb") as file:
        encoding = encoding_of(file)
    with path.open(encoding=encoding.name, errors="replace", newline=newline) as text:
        yield text, encoding


def _lines(block: bytes) -> list[bytes]:
    return block.split(b"\n") if not block.endswith(b"\n") else block[:-1].split(b"\n")


def _writable(line: bytes) -> bool:
    try:
        line.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
