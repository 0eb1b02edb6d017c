"""PDF documents: found, named by their bytes, read page by page in a child process with limits.

    passwords(file)                            from CLINQA_PDF_PASSWORD and a file
    PageJournal(path, private=...)             pages parsed survive a kill
    PdfReader(options, store).read(inputs)     documents with their pages, by MD5
    pages_table, documents_table, page_xml     what is written of them

What holds of the records is told in `records`.
"""

from __future__ import annotations

from clinqa.sources.pdf.files import Identity
from clinqa.sources.pdf.kept import PageJournal
from clinqa.sources.pdf.page_tables import (
    DOCUMENTS,
    PAGES,
    documents_table,
    page_xml,
    pages_table,
    xml_name,
)
from clinqa.sources.pdf.passwords import passwords
from clinqa.sources.pdf.reader import PdfReader
from clinqa.sources.pdf.records import (
    FileOutcome,
    Mode,
    PageImage,
    PdfDocument,
    PdfLimits,
    PdfOptions,
    PdfPage,
    TextEngine,
    Why,
)

__all__ = [
    "DOCUMENTS",
    "PAGES",
    "FileOutcome",
    "Identity",
    "Mode",
    "PageImage",
    "PageJournal",
    "PdfDocument",
    "PdfLimits",
    "PdfOptions",
    "PdfPage",
    "PdfReader",
    "TextEngine",
    "Why",
    "documents_table",
    "page_xml",
    "pages_table",
    "passwords",
    "xml_name",
]
