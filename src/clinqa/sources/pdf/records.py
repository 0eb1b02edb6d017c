"""What passes between the PDF readers and whoever uses them.

    options = PdfOptions(passwords=passwords(file), workers=2, out=real_path_of_out)
    kept = PageJournal(partial / "pages.jsonl", private=False)     # optional
    with kept, PdfReader(options, kept) as reader:
        for document in reader.read(inputs, progress):              # PdfDocument, by md5
            if document.outcome is not Outcome.READ: ...            # its own outcome; counted
            for page in document.pages:                             # PdfPage, 1, 2, 3 ... no gap
                if page.mode in (Mode.BOTH, Mode.VISION):
                    picture = reader.image(document, page.page)     # PageImage, or a Reject

What holds of it:

- A document is named by the MD5 of its raw bytes from here on. Its file's name stands in `names`
  alone (a side table, `documents.parquet`): whatever generates must not see it. The same bytes
  under two names are one document with two names.
- `PdfPage.text` is the page's text in reading order, cleaned (NFC, ligatures and soft hyphens
  mended, words broken at a line's end joined, running headers and footers out, one line a line of
  the page, an empty line between blocks). It is the text that offsets refer to (part `page`), the
  same on every run; `pages.parquet` and the page's XML hold it. It has no characters that XML
  forbids. It may be empty.
- `chars` is `len(text.strip())`, white space inside counted; the mode follows from it (at least 400
  text, 100 to 399 both, fewer vision) after the quality gate. `reason` says in one word why.
- A page of mode NONE goes nowhere: blank, or it failed (`reject` says how; text empty).
- Every page of every document that was opened is there, failed ones too, so that
  `pages = text + both + vision + none` always.
- Nothing here raises for a bad file or page; ConfigError and SourceError are for what the user
  must change (no input at all, a wrong password file).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from clinqa.core.records import Reject

__all__ = [
    "METHOD",
    "STAGE",
    "FileOutcome",
    "Mode",
    "PageImage",
    "PdfDocument",
    "PdfLimits",
    "PdfOptions",
    "PdfPage",
    "TextEngine",
    "Why",
]

STAGE = "pages"
METHOD = "pages-2"  # changes with whatever changes a page's raw record


class Mode(StrEnum):
    """What a page is read with."""

    TEXT = "text"
    BOTH = "both"
    VISION = "vision"
    NONE = "none"


class FileOutcome(StrEnum):
    """What became of one file."""

    READ = "read"
    NO_PAGES = "no_pages"  # a sound PDF of no pages: nothing to do, worth a warning
    EMPTY_FILE = "empty_file"
    NOT_PDF = "not_pdf"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"  # the file system refuses it
    TOO_COSTLY = "too_costly"  # opening it took more time or memory than allowed


class TextEngine(StrEnum):
    """What gave the characters of a page's text."""

    PDFIUM = "pdfium"
    PDFPLUMBER = "pdfplumber"
    NONE = "none"


class Why(StrEnum):
    """Why a page has its mode."""

    ENOUGH_TEXT = "enough_text"  # text: 400 characters or more
    SOME_TEXT = "some_text"  # both: 100 to 399
    LITTLE_TEXT = "little_text"  # vision: fewer than 100
    UNMAPPED_GLYPHS = "unmapped_glyphs"  # vision: the font does not say what its glyphs mean
    BROKEN_WORDS = "broken_words"  # vision: the characters make no words
    SIDEWAYS = "sideways"  # vision: most of the text runs up or down the page
    REVERSED = "reversed"  # vision: words are spelt backwards
    BLANK = "blank"  # none: nothing is drawn on it
    FAILED = "failed"  # none: see the reject
    SKIPPED = "skipped"  # none: left out by request, its text is not kept


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """What one page may cost; beyond it the page is a reject and the run goes on."""

    memory: int = 2 << 30  # bytes of address space of the child process
    seconds: float = 60.0
    pixels: int = 40_000_000


@dataclass(frozen=True, slots=True)
class PdfOptions:
    """How PDFs are read. Passwords never stand in a command, a manifest or a message."""

    passwords: tuple[str, ...] = field(default=(), repr=False)
    limits: PdfLimits = PdfLimits()
    dpi: int = 150
    workers: int = 1
    # read no more than this many pages, in the order of documents (for --limit)
    limit: int | None = None
    # the real path of the output folder: inside an input folder it is no input
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page; `page` is 1-based."""

    md5: str
    page: int
    text: str
    chars: int
    mode: Mode
    reason: Why
    engine: TextEngine
    # characters that stood on the page before cleaning, running headers counted
    raw_chars: int = 0
    width: float = 0.0  # points, as the page is shown
    height: float = 0.0
    rotation: int = 0  # the page's /Rotate
    turned: int = 0  # how its text runs in the page's own space; pictures are turned upright by it
    reject: Reject | None = None


@dataclass(frozen=True, slots=True)
class PdfDocument:
    """One document: a file that was read, or its outcome. `detail` holds no text of it."""

    md5: str
    names: tuple[str, ...]
    outcome: FileOutcome
    pages: tuple[PdfPage, ...] = ()
    bytes: int = 0
    path: Path | None = field(default=None, repr=False)
    detail: str = ""
    reject: Reject | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageImage:
    """One page as a picture for a vision model: grey, PNG."""

    png: bytes = field(repr=False)
    width: int
    height: int
    dpi: float
