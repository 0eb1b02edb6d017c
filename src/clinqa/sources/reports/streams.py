"""Bytes of a file as a stream: gzip seen by its first bytes, whatever the file is called.

A gzip file that ends early gives all that can be decompressed, then says it is broken.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from clinqa.core.closing import Closing
from clinqa.sources.reports.records import BrokenFile

__all__ = ["BOM", "CHUNK", "MAX_RECORD_BYTES", "ByteStream", "lines"]

BOM = b"\xef\xbb\xbf"
CHUNK = 4 << 20
# a record may be this large; beyond it, it is taken for an unclosed quote or no text at all
MAX_RECORD_BYTES = 128 << 20

_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")


class ByteStream(Closing):
    """Reads a plain or gzip file in pieces; a byte order mark at the start is dropped.

    `broken` is set when the file ends early or cannot be decompressed further; what could be
    read before that has then been given.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.broken = ""
        self._pending = b""
        self._raw = b""
        self._eof = False
        try:
            if not path.is_file():
                raise BrokenFile("not a file" if path.exists() else "does not exist")
            self._file: BinaryIO = path.open("rb")
            head = self._file.read(2)
            self._file.seek(0)
        except OSError as error:
            raise BrokenFile(f"cannot be opened ({error.strerror or type(error).__name__})") from (
                error
            )
        self._gzip = zlib.decompressobj(31) if head == _GZIP else None
        self._members = 0
        start = self.read(4)
        wide = "UTF-32" if start in _UTF32 else "UTF-16" if start[:2] in _UTF16 else ""
        if wide:
            self.close()
            raise BrokenFile(f"is {wide}; save it as UTF-8")
        self._pending = start.removeprefix(BOM)
        self.empty = not self._pending

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    @property
    def share(self) -> float:
        """How much of the file has been read, compressed or not."""
        size = os.fstat(self._file.fileno()).st_size
        return self._file.tell() / size if size else 1.0

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, fewer only at the end of the file."""
        parts = []
        if self._pending:
            piece, self._pending = self._pending[:size], self._pending[size:]
            parts.append(piece)
            size -= len(piece)
        while size > 0 and not self._eof:
            piece = self._next(size)
            parts.append(piece)
            size -= len(piece)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _next(self, size: int) -> bytes:
        try:
            if self._gzip is None:
                piece = self._file.read(size)
                self._eof = len(piece) < size
                return piece
            return self._inflate(size)
        except OSError as error:
            self._stop(f"cannot be read further ({error.strerror or type(error).__name__})")
        except zlib.error:
            self._stop("gzip data is damaged")
        return b""

    def _inflate(self, size: int) -> bytes:
        assert self._gzip is not None
        if not self._raw:
            self._raw = self._file.read(1 << 18)
        if not self._raw:
            if self._members and not self._gzip.unused_data and self._fresh:
                self._eof = True
            else:
                self._stop("gzip file ends early")
            return b""
        if self._members and self._fresh and not self._raw.startswith(_GZIP[:1]):
            # zeros after the last member are padding; anything else may have been a member
            if self._raw.strip(b"\0"):
                self._stop("what follows the gzip data is no gzip data")
            self._eof = True
            return b""
        self._fresh = False
        piece = self._gzip.decompress(self._raw, size)
        self._raw = self._gzip.unconsumed_tail
        if self._gzip.eof:
            self._raw = self._gzip.unused_data
            self._gzip = zlib.decompressobj(31)
            self._members += 1
            self._fresh = True
        return piece

    _fresh = True

    def _stop(self, why: str) -> None:
        self.broken = why
        self._eof = True


def lines(stream: ByteStream) -> Iterator[bytes | None]:
    """The lines of a stream without their ends; None for one longer than MAX_RECORD_BYTES.

    In a stream that broke, the last line was cut somewhere and is left out.
    """
    rest = b""
    skipping = False
    while chunk := stream.read(CHUNK):
        head, newline, tail = chunk.rpartition(b"\n")
        if not newline:
            if not skipping:
                rest += tail
            if len(rest) > MAX_RECORD_BYTES:
                rest, skipping = b"", True
            continue
        found = (rest + head).split(b"\n")
        if skipping:
            found[0:1] = []
            yield None
            skipping = False
        yield from found
        rest = tail
    if stream.broken:
        return
    if skipping:
        yield None
    elif rest:
        yield rest
