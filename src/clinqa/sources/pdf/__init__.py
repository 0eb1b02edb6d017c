"""PDF documents: found, named by their bytes, read page by page in a child process with limits."""

from __future__ import annotations

from clinqa.sources.pdf.reader import PdfReader
from clinqa.sources.pdf.records import (
    Engine,
    Mode,
    Outcome,
    PageImage,
    PageStore,
    PdfDocument,
    PdfLimits,
    PdfOptions,
    PdfPage,
    Why,
)

__all__ = [
    "Engine",
    "Mode",
    "Outcome",
    "PageImage",
    "PageStore",
    "PdfDocument",
    "PdfLimits",
    "PdfOptions",
    "PdfPage",
    "PdfReader",
    "Why",
]
