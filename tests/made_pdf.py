"""PDFs made for tests: a page is its content stream, written as the specification has it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

LETTER = (0, 0, 612, 792)


@dataclass(frozen=True)
class MadePage:
    """One page; `more` goes into its dictionary, `resources` into its resources."""

    content: bytes
    box: tuple[int, int, int, int] = LETTER
    more: str = ""
    resources: str = ""
    filtered: bool = False  # is `content` compressed already?


def made_pdf(pages: Sequence[MadePage | str], extra: Sequence[bytes] = ()) -> bytes:
    """A PDF of these pages (a string is its lines, set plainly); `extra` are further objects, the
    first of which has number 5."""
    made = [page if isinstance(page, MadePage) else plain(page) for page in pages]
    first = 5 + len(extra)
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(made)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(made)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Italic /Encoding /WinAnsiEncoding >>",
        *extra,
    ]
    for number, page in enumerate(made):
        resources = f"<< /Font << /F1 3 0 R /F2 4 0 R >> {page.resources} >>"
        box = " ".join(map(str, page.box))
        head = f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Resources {resources} {page.more}"
        objects.append(f"{head} /Contents {first + 2 * number + 1} 0 R >>".encode())
        objects.append(stream(page.content, "/Filter /FlateDecode" if page.filtered else ""))
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, thing in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, thing)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        out += b"%010d 00000 n \n" % place
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def stream(content: bytes, marks: str = "") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), marks.encode(), content)


def shown(text: str, x: float, y: float, size: float = 10, matrix: str = "1 0 0 1") -> str:
    """The drawing of one piece of text; `matrix` turns it."""
    safe = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {size:g} Tf {matrix} {x:g} {y:g} Tm ({safe}) Tj ET"


def drawn(*drawings: str, box: tuple[int, int, int, int] = LETTER, more: str = "") -> MadePage:
    """A page of drawings."""
    return MadePage("\n".join(drawings).encode("cp1252"), box, more)


def plain(text: str, more: str = "") -> MadePage:
    """A page of lines, one under the other."""
    lines = text.split("\n")
    return drawn(
        *(shown(line, 72, 720 - 14 * number) for number, line in enumerate(lines)), more=more
    )


def bomb(operators: bytes, times: int) -> MadePage:
    """A page whose content is small in the file and endless when it is read."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(operators * 1000) for _ in range(times // 1000))
    return MadePage(packed + packer.flush(), filtered=True)
