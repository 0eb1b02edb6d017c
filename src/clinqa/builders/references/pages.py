"""What stands beside the items of documents: their pages, names, transcripts, and a page's XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from clinqa.core.durable import make_folder, write_durably
from clinqa.dataset.parquet import write_table
from clinqa.sources.pdf import (
    DOCUMENTS,
    PAGES,
    PdfDocument,
    documents_table,
    page_xml,
    pages_table,
    xml_name,
)

__all__ = ["write_pages"]

# what a model read off pages; offsets of the part `transcript` refer to it
_TRANSCRIPTS = pa.schema([PAGES.field(name) for name in ("md5", "page", "text")])


def write_pages(
    partial: Path,
    documents: Sequence[PdfDocument],
    topics: Mapping[tuple[str, int], str],
    transcripts: Sequence[tuple[str, int, str]] = (),
    *,
    private: bool,
) -> dict[str, int]:
    """Write pages, documents, transcripts and the XML of each page; gives the tables' rows."""
    tables = [
        ("pages.parquet", pages_table(documents), PAGES),
        ("documents.parquet", documents_table(documents), DOCUMENTS),
    ]
    if transcripts:
        told = [dict(zip(_TRANSCRIPTS.names, one, strict=True)) for one in sorted(transcripts)]
        table = pa.Table.from_pylist(told, schema=_TRANSCRIPTS)
        tables.append(("transcripts.parquet", table, _TRANSCRIPTS))
    for name, table, schema in tables:
        write_table(partial / name, table, schema, private=private)
    if any(document.pages for document in documents):
        make_folder(partial / "xml", private=private)
    for document in documents:
        for page in document.pages:
            body = page_xml(page, topics.get((page.md5, page.page), ""))
            write_durably(partial / "xml" / xml_name(page), body, private=private)
    return {name: table.num_rows for name, table, _ in tables}
