"""Pages and documents as tables, and each page as one XML file, as ECGQuest keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from clinqa.sources.pdf.records import PdfDocument, PdfPage

__all__ = ["DOCUMENTS", "PAGES", "documents_table", "page_xml", "pages_table", "xml_name"]

# one row a page of every PDF that was opened; `text` is what offsets of the part `page` refer to
PAGES = pa.schema(
    [
        ("md5", pa.string()),
        ("page", pa.int32()),
        ("mode", pa.string()),
        ("reason", pa.string()),
        ("engine", pa.string()),
        ("chars", pa.int32()),
        ("raw_chars", pa.int32()),
        ("width", pa.float32()),
        ("height", pa.float32()),
        ("rotation", pa.int32()),
        ("text", pa.string()),
    ]
)

# one row a file; the only place where a document's name stands
DOCUMENTS = pa.schema(
    [
        ("md5", pa.string()),
        ("name", pa.string()),
        ("outcome", pa.string()),
        ("pages", pa.int32()),
        ("bytes", pa.int64()),
        ("detail", pa.string()),
    ]
)


def pages_table(documents: Iterable[PdfDocument]) -> pa.Table:
    """One row a page, by MD5 and page: `pages.parquet`."""
    pages = sorted(
        (page for document in documents for page in document.pages),
        key=lambda page: (page.md5, page.page),
    )
    rows = [{name: getattr(page, name) for name in PAGES.names} for page in pages]
    return pa.Table.from_pylist(rows, PAGES)


def documents_table(documents: Iterable[PdfDocument]) -> pa.Table:
    """One row a file: `documents.parquet`, the side table that alone holds names."""
    rows = [
        {
            "md5": document.md5,
            "name": name,
            "outcome": document.outcome.value,
            "pages": len(document.pages),
            "bytes": document.bytes,
            "detail": document.detail,
        }
        for document in documents
        for name in document.names
    ]
    rows.sort(key=lambda row: (row["md5"], row["name"]))
    return pa.Table.from_pylist(rows, DOCUMENTS)


def xml_name(page: PdfPage) -> str:
    """The name of a page's file, made of its MD5 and number alone."""
    return f"{page.md5}-{page.page:05d}.xml"


def page_xml(page: PdfPage, category: str = "") -> bytes:
    """One page as XML: MD5, category, page number, character count, text.

    `category` is the page's topic, which this room does not know. A reader gets the text back to
    the character: it has no carriage return and nothing that XML forbids.
    """
    fields = {
        "md5": page.md5,
        "category": category,
        "page": page.page,
        "chars": page.chars,
        "mode": page.mode.value,
        "reason": page.reason.value,
        "engine": page.engine.value,
    }
    marks = " ".join(f"{name}={quoteattr(str(value))}" for name, value in fields.items())
    body = f'<text xml:space="preserve">{escape(page.text)}</text>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<page {marks}>{body}</page>\n'.encode()
