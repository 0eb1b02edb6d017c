"""Folders spoilt in the ways that `verify` and every reader must notice."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["change_a_row", "cut", "edit_manifest", "seal"]


def cut(path: Path) -> None:
    """Keep the first half of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def change_a_row(path: Path, column: str, value: Any) -> None:
    """Write another value into the first row of a Parquet file; a function is given the old."""
    table = pq.ParquetFile(path).read()
    values = table[column].to_pylist()
    values[0] = value(values[0]) if callable(value) else value
    at = table.schema.get_field_index(column)
    changed = pa.array(values, type=table.schema.field(column).type)
    pq.write_table(table.set_column(at, table.schema.field(column), changed), path)


def edit_manifest(folder: Path, **values: Any) -> None:
    """Set keys of a manifest."""
    path = folder / "manifest.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**found, **values}, indent=2) + "\n", encoding="utf-8")


def seal(folder: Path) -> None:
    """Write the hashes of a folder's files as they now are into its manifest."""
    found = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    outputs = found["outputs"]
    for record in outputs:
        data = (folder / record["name"]).read_bytes()
        record |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    said = {**found, "outputs": outputs}
    del said["seal"]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    edit_manifest(folder, outputs=outputs, seal=hashlib.sha256(text.encode()).hexdigest())
