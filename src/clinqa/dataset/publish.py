"""The last step of a build: card and Croissant beside the data."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from clinqa.core.manifest import FileRecord, Manifest
from clinqa.core.records import SPLITS
from clinqa.core.stage import Workplace
from clinqa.dataset.card import Card, render_card
from clinqa.dataset.croissant import render_croissant
from clinqa.kinds.facets.columns import Columns

__all__ = ["write_card"]


def write_card(
    place: Workplace,
    card: Card,
    columns: Columns,
    manifest: Manifest,
    rows: Mapping[str, int],
    tables: Mapping[str, pa.Schema] | None = None,
) -> None:
    """Write `README.md` and `croissant.json` of what lies in `place`.

    `rows` are those of each file, `tables` the Parquet files described beside the items: those of
    the kind unless others are named. The manifest is told as it will be, but for its outputs.
    """
    described = {name: (f"data/{name}-*.parquet", columns.items) for name in SPLITS}
    for name, schema in (columns.tables if tables is None else tables).items():
        described[name.removesuffix(".parquet")] = (name, schema)
    files = [
        FileRecord.of(place.partial / name, name, n)
        for name, n in sorted(rows.items())
        if name.endswith(".parquet")
    ]
    croissant = render_croissant(card, manifest, files, described, columns.meanings)
    place.write("README.md", render_card(card, manifest))
    place.write("croissant.json", croissant)
