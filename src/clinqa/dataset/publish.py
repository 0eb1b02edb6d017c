"""The last step of a build: card and Croissant beside the data, then everything into place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from clinqa.core.manifest import FileRecord, Manifest, sha256_file
from clinqa.core.outfolder import OutFolder, write_durably, writing
from clinqa.dataset.card import CardFacts, render_card
from clinqa.dataset.croissant import CroissantFacts, render_croissant
from clinqa.dataset.splits import SPLITS
from clinqa.dataset.writer import WriteResult
from clinqa.kinds.long_form.columns import LABELS, LONG_FORM

__all__ = ["publish"]


def publish(out: OutFolder, result: WriteResult, card: CardFacts, manifest: Manifest) -> Manifest:
    """Write `README.md` and `croissant.json` and commit; gives the manifest as written.

    `manifest` needs no outputs and no counts of studies and items: they are taken from `result`.
    Counts of other stages stay.
    """
    with writing(out.path):
        files = [_record(out.partial, name, rows) for name, rows in sorted(result.rows.items())]
        facts = CroissantFacts(
            name=card.title,
            description=card.summary,
            licence=card.licence,
            cite_as=f"Cite the source of the text. Made with clinqa {card.clinqa}, "
            f"fingerprint {card.fingerprint}.",
            version="1.0.0",
            published=manifest.finished[:10],
            keywords=card.tags,
        )
        described = render_croissant(facts, files, _tables())
        for name, text in (("README.md", render_card(card)), ("croissant.json", described)):
            write_durably(out.partial / name, text.encode("utf-8"), private=out.private)
    return out.commit(manifest.with_counts(result.counts), result.rows)


def _tables() -> Mapping[str, tuple[str, pa.Schema]]:
    tables = {name: (f"data/{name}-*.parquet", LONG_FORM) for name in SPLITS}
    return {**tables, "labels": ("labels.parquet", LABELS)}


def _record(folder: Path, name: str, rows: int) -> FileRecord:
    file = folder / name
    return FileRecord(name, sha256_file(file), file.stat().st_size, rows)
