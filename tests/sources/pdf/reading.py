"""Pages of a made PDF, read in this process: the text without the processes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from clinqa.sources.pdf.finish import finished_pages
from clinqa.sources.pdf.parse import open_document
from clinqa.sources.pdf.records import PdfPage

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def pages_of(data: bytes, folder: Path) -> tuple[PdfPage, ...]:
    """The pages as the reader would give them."""
    path = folder / "made.pdf"
    path.write_bytes(data)
    md5 = hashlib.md5(data).hexdigest()
    document, outcome, detail = open_document(path, md5, ())
    assert document is not None, (outcome, detail)
    raw = [document.page(number) for number in range(1, len(document) + 1)]
    pages = finished_pages(md5, raw, lambda number: document.ink(number, 40_000_000))
    document.close()
    return pages
