"""Make the ECG primer's PDF from its text: python scripts/make_primer.py [OUT.pdf]

The PDF is written by hand, of the fonts that every reader has, uncompressed and without a date, so
that the same text gives the same bytes everywhere. Marks in the text, each on a line of its own:
`# chapter`, `## section`, an empty line between paragraphs, and

    @title, @under  the head of the first page
    @columns        from here on two columns          @single  one column again, on a new page
    @figure         a page with a drawn ECG           @sparse  a page with one short paragraph
    @blank          a page with nothing but its number
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "src/clinqa/packs/ecg/primer"
WIDE, HIGH, MARGIN = 595.0, 842.0, 64.0
HEAD, FOOT = HIGH - 40.0, 34.0
TOP, BOTTOM = HIGH - 78.0, 66.0
BODY, LEAD = 10.5, 14.2
RUNNING = "An ECG primer"
NOTICE = (
    "Written for the clinqa project and under its licence (Apache-2.0). A text for tests and"
    " demonstrations: the values are those of common textbooks, and no treatment hangs on them."
)
# widths of the characters from space to tilde, in thousandths of the size (Adobe's metrics)
PLAIN = """
278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556
556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667
778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222
222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584
"""
BOLD = """
278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556
556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778
722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278
556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584
"""
WIDTHS = {"F1": [int(width) for width in PLAIN.split()], "F2": [int(w) for w in BOLD.split()]}


def width(text: str, font: str, size: float) -> float:
    """How wide a text is, in points."""
    return sum(WIDTHS[font][ord(letter) - 32] for letter in text) * size / 1000


def show(text: str, x: float, y: float, font: str, size: float) -> str:
    """The drawing of one line of text."""
    safe = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size:g} Tf {x:.2f} {y:.2f} Td ({safe}) Tj ET"


def wrapped(text: str, font: str, size: float, room: float) -> Iterator[str]:
    """A paragraph's lines."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and width(longer, font, size) > room:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line


class Book:
    """Pages being filled from top to bottom, column after column."""

    def __init__(self) -> None:
        self.pages: list[list[str]] = []
        self.columns = 1
        self.chapter = ""
        self.new_page()

    def new_page(self) -> None:
        """Begin a page with its running header and its number."""
        self.pages.append([])
        self.column, self.y = 0, TOP
        number = str(len(self.pages))
        if len(self.pages) > 1:
            self.draw(show(RUNNING, MARGIN, HEAD, "F1", 8.5))
        self.draw(show(number, WIDE / 2 - width(number, "F1", 8.5) / 2, FOOT, "F1", 8.5))

    def draw(self, what: str) -> None:
        """Add a drawing to the page."""
        self.pages[-1].append(what)

    @property
    def room(self) -> float:
        """The width of a column."""
        gutter = 24.0
        return (WIDE - 2 * MARGIN - gutter * (self.columns - 1)) / self.columns

    def down(self, by: float, keep: float = 0.0) -> None:
        """Go down; to the next column or page where there is no room for `keep` more."""
        self.y -= by
        if self.y - keep < BOTTOM:
            self.column += 1
            if self.column >= self.columns:
                self.new_page()
            self.y = TOP

    def text(self, text: str, font: str = "F1", size: float = BODY, lead: float = LEAD) -> None:
        """Set a paragraph."""
        for line in wrapped(text, font, size, self.room):
            self.down(lead)
            x = MARGIN + self.column * (self.room + 24.0)
            self.draw(show(line, x, self.y, font, size))

    def heading(self, text: str, size: float, before: float) -> None:
        """Set a heading that is not left alone at the foot of a column."""
        self.down(before if self.y < TOP else 0.0, keep=4 * LEAD)
        self.text(text, "F2", size, size * 1.35)
        self.down(2.0)


def figure() -> list[str]:
    """A drawn lead: grid, three beats, a few words."""
    left, low, square = MARGIN, 330.0, 5.6
    across, up = 80, 40
    out = ["0.86 0.7 0.7 RG"]
    for number in range(across + 1):
        out.append(f"{0.8 if number % 5 == 0 else 0.25} w")
        x = left + number * square
        out.append(f"{x:.2f} {low:.2f} m {x:.2f} {low + up * square:.2f} l S")
    for number in range(up + 1):
        out.append(f"{0.8 if number % 5 == 0 else 0.25} w")
        y = low + number * square
        out.append(f"{left:.2f} {y:.2f} m {left + across * square:.2f} {y:.2f} l S")
    out.append("0 0 0 RG 1.1 w 1 j")
    waves = (
        (-4.2, 1.6, 0.9),
        (-0.7, -1.2, 0.28),
        (0.0, 12.0, 0.36),
        (0.8, -2.8, 0.3),
        (7.0, 3.0, 1.7),
    )
    points = []
    for step in range(across * 8 + 1):
        at = step / 8
        beats = (at - 14, at - 39, at - 64)
        height = sum(
            size * math.exp(-(((beat - centre) / spread) ** 2))
            for beat in beats
            for centre, size, spread in waves
        )
        points.append(f"{left + at * square:.2f} {low + (14 + height) * square:.2f}")
    out.append(f"{points[0]} m " + " ".join(f"{point} l" for point in points[1:]) + " S")
    for word, at, height in (("P", 34.2, 17.5), ("R", 38.5, 27.5), ("T", 45.4, 19.0)):
        out.append(show(word, left + at * square, low + height * square, "F2", 11))
    out.append(show("Lead II, 25 mm/s, 10 mm/mV", left, low - 18, "F1", 9.5))
    return out


def laid_out(text: str) -> list[list[str]]:
    """The pages' drawings."""
    book = Book()
    for part in text.split("\n\n"):
        for line in part.strip().split("\n"):
            mark, _, rest = line.partition(" ")
            if mark == "@title":
                book.text(rest, "F2", 24, 34)
            elif mark == "@under":
                book.text(rest, "F1", 13, 22)
                book.down(10)
                book.text(NOTICE, "F1", 9, 12)
                book.down(14)
            elif mark == "@figure":
                book.new_page()
                for what in figure():
                    book.draw(what)
                book.new_page()
            elif mark == "@sparse":
                book.new_page()
                book.text(rest, "F1", 12, 18)
                book.new_page()
            elif mark == "@columns":
                book.columns, book.column = 2, 0
            elif mark == "@single":
                book.columns = 1
                book.new_page()
            elif mark == "@blank":
                book.new_page()
            elif mark == "#":
                book.heading(rest, 16, 26)
            elif mark == "##":
                book.heading(rest, 12, 12)
            elif line:
                book.text(line)
                book.down(5)
    return book.pages


def pdf_of(text: str) -> bytes:
    """The file's bytes."""
    pages = laid_out(text)
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    fonts = "/Font << /F1 3 0 R /F2 4 0 R >>"
    box = f"/MediaBox [0 0 {WIDE:g} {HIGH:g}]"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            for name in ("Helvetica", "Helvetica-Bold")
        ),
    ]
    for number, drawings in enumerate(pages):
        stream = "\n".join(drawings)
        content = f"/Resources << {fonts} >> /Contents {6 + 2 * number} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} {content} >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({RUNNING}) >>")
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, thing in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{thing}\nendobj\n".encode("ascii")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode("ascii")
    for place in places:
        out += f"{place:010d} 00000 n \n".encode("ascii")
    mark = hashlib.md5(bytes(out), usedforsecurity=False).hexdigest()
    root = f"/Root 1 0 R /Info {len(objects)} 0 R /ID [<{mark}> <{mark}>]"
    out += f"trailer\n<< /Size {len(objects) + 1} {root} >>\n".encode("ascii")
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode("ascii"))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HOME / "primer.pdf"
    target.write_bytes(pdf_of((HOME / "primer.txt").read_text(encoding="utf-8")))
