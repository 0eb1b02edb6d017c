"""The last step of a build of pairs: pages, documents, XML, card and Croissant, then into place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from clinqa.core.manifest import FileRecord, Manifest, sha256_file
from clinqa.core.outfolder import OutFolder, make_folder, write_durably, writing
from clinqa.dataset.croissant import CroissantFacts, render_croissant
from clinqa.dataset.pair_card import PairCardFacts, render_pair_card
from clinqa.dataset.pairs import PairsWritten
from clinqa.dataset.parquet import write_table
from clinqa.dataset.splits import SPLITS
from clinqa.kinds.true_false.columns import TRUE_FALSE
from clinqa.sources.pdf import (
    DOCUMENTS,
    PAGES,
    PdfDocument,
    documents_table,
    page_xml,
    pages_table,
    xml_name,
)

__all__ = ["publish_pairs"]


# what a model read off pages; offsets of the part `transcript` refer to it
_TRANSCRIPTS = pa.schema([PAGES.field(name) for name in ("md5", "page", "text")])


def publish_pairs(
    out: OutFolder,
    written: PairsWritten,
    card: PairCardFacts,
    manifest: Manifest,
    documents: Sequence[PdfDocument],
    topics: Mapping[tuple[str, int], str],
    transcripts: Sequence[tuple[str, int, str]] = (),
) -> Manifest:
    """Write what stands beside the items and commit; gives the manifest as written."""
    partial, private = out.partial, out.private
    rows = dict(written.rows)
    with writing(out.path):
        for name, table, schema in (
            ("pages.parquet", pages_table(documents), PAGES),
            ("documents.parquet", documents_table(documents), DOCUMENTS),
        ):
            write_table(partial / name, table, schema, private=private)
            rows[name] = table.num_rows
        if transcripts:
            told = [dict(zip(_TRANSCRIPTS.names, one, strict=True)) for one in sorted(transcripts)]
            table = pa.Table.from_pylist(told, schema=_TRANSCRIPTS)
            write_table(partial / "transcripts.parquet", table, _TRANSCRIPTS, private=private)
            rows["transcripts.parquet"] = table.num_rows
        if any(document.pages for document in documents):
            make_folder(partial / "xml", private=private)
        for document in documents:
            for page in document.pages:
                body = page_xml(page, topics.get((page.md5, page.page), ""))
                write_durably(partial / "xml" / xml_name(page), body, private=private)
        files = [
            FileRecord(
                name, sha256_file(partial / name), (partial / name).stat().st_size, rows[name]
            )
            for name in sorted(rows)
        ]
        facts = CroissantFacts(
            name=card.title,
            description=card.summary,
            licence=card.licence,
            cite_as=f"Cite the documents. Made with clinqa {card.clinqa}, fingerprint "
            f"{card.fingerprint}.",
            version="1.0.0",
            published=manifest.finished[:10],
            keywords=card.tags,
        )
        described = render_croissant(facts, files, _tables())
        for name, text in (("README.md", render_pair_card(card)), ("croissant.json", described)):
            write_durably(partial / name, text.encode("utf-8"), private=private)
    return out.commit(manifest.with_counts(written.counts), rows)


def _tables() -> Mapping[str, tuple[str, pa.Schema]]:
    tables = {name: (f"data/{name}-*.parquet", TRUE_FALSE) for name in SPLITS}
    return {**tables, "pages": ("pages.parquet", PAGES)}
