"""Manifests edited by somebody who makes the seal anew: what only such an edit can show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clinqa.core.manifest import FileRecord, seal_of

__all__ = ["edit_manifest", "list_again"]


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Change the JSON of a folder's manifest in place, and seal it."""
    path = folder / "manifest.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    edit(body)
    path.write_text(json.dumps({**body, "seal": seal_of(body)}), encoding="utf-8")


def list_again(folder: Path, *names: str) -> None:
    """Enter files as they are now (all that are listed, unless named), new ones too."""

    def edit(body: dict[str, Any]) -> None:
        records = {one["name"]: one for one in body["outputs"]}
        for name in names or list(records):
            made = FileRecord.of(folder / name, name)
            rows = records.get(name, {}).get("rows")
            records[name] = {"name": name, "sha256": made.sha256, "bytes": made.bytes, "rows": rows}
        body["outputs"] = list(records.values())

    edit_manifest(folder, edit)
