"""A folder that a verb made, as it is kept."""

from __future__ import annotations

import csv
import hashlib
import json
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from golden.page import NUMBER, lines_of_page
from golden.plain import NOT_KEPT, Plain, canonical
from golden.tables import digest, kept_rows, kept_table

__all__ = ["kept_file", "kept_folder"]

_LONG = 40_000
"""Characters of a text that is kept line by line."""
_PICTURES = frozenset({".svg", ".pdf", ".png"})
_SAY_WHICH = (
    "run", "a", "b", "ensemble", "metric", "measure", "dimension", "reader", "kind", "order",
    "subset", "group", "shots", "name",
)  # fmt: skip
_RECORDS = frozenset({"figures", "tests", "gaps", "spreads"})


def kept_folder(folder: Path, plain: Plain, *, whole: bool = False) -> dict[str, Any]:
    """Names of all files, and what is in each."""
    if not folder.is_dir():
        return {"files": "no folder"}
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    prompts = _prompts(folder / "prompts.jsonl")
    kept: dict[str, Any] = {
        "files": sorted(plain.text(path.relative_to(folder).as_posix()) for path in paths),
        "for the owner alone": all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in paths),
    }
    for path in paths:
        name = plain.text(path.relative_to(folder).as_posix())
        found = kept_file(path, plain, prompts, whole=whole)
        if found is not None:
            kept[name] = found
    return kept


def kept_file(
    path: Path, plain: Plain, prompts: dict[str, str] | None = None, *, whole: bool = False
) -> Any:
    """What is in a file, by its kind; None of a picture."""
    try:
        if path.suffix in _PICTURES:
            return None
        if path.stem == "costs":  # of a page's figures: times, and what is counted elsewhere
            return NUMBER.sub("#", path.read_text(encoding="utf-8")).split("\n")
        if path.suffix == ".parquet":
            return kept_table(path, plain, prompts, whole=whole)
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            return _json(path.name, json.loads(text), plain)
        if path.suffix == ".jsonl":
            return _jsonl(path.name, text, plain, whole=whole)
        if path.suffix in {".csv", ".tsv"}:
            return _cells(path, plain, whole=whole)
        lines = lines_of_page(text) if path.suffix == ".html" else text.rstrip("\n").split("\n")
        lines = [plain.text(line) for line in lines]
        if whole or sum(map(len, lines)) <= _LONG:
            return lines
        return {"lines": len(lines), "digest": digest(lines)}
    except Exception as error:  # noqa: BLE001 (a file that cannot be read is a result too)
        return {"cannot be read": type(error).__name__}


def _json(name: str, found: Any, plain: Plain) -> Any:
    if name == "croissant.json" and isinstance(found, dict):
        return _digested(plain.value(found), "recordSet")
    if not isinstance(found, dict):
        return plain.value(found)
    return {
        key: _keyed(value, plain) if _are_records(key, value) else plain.value(value)
        for key, value in found.items()
        if key not in NOT_KEPT
    }


def _are_records(key: str, value: Any) -> bool:
    return (
        key in _RECORDS and isinstance(value, list) and all(isinstance(one, dict) for one in value)
    )


def _digested(kept: dict[str, Any], name: str) -> dict[str, Any]:
    """The record sets of a Croissant file by name: their fields, and a digest of the rest."""
    sets = kept.get(name)
    if isinstance(sets, list):
        kept[name] = {
            str(one.get("@id")): {
                "fields": [field.get("@id") for field in one.get("field", [])],
                "digest": digest(one),
            }
            for one in sets
        }
    return kept


def _keyed(records: Iterable[dict[str, Any]], plain: Plain) -> dict[str, Any]:
    """Records by what they are about, so that a difference names the figure."""
    made: dict[str, Any] = {}
    for record in sorted((plain.value(one) for one in records), key=canonical):
        told = [
            canonical(record[key]) if isinstance(record[key], dict | list) else str(record[key])
            for key in _SAY_WHICH
            if key in record
        ]
        name = " | ".join(told)
        while name in made:
            name += " (again)"
        made[name] = {k: v for k, v in record.items() if k not in _SAY_WHICH}
    return made


def _jsonl(name: str, text: str, plain: Plain, *, whole: bool) -> Any:
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if name == "prompts.jsonl":
        asked = sorted(_messages(rows).values())
        return {"prompts": len(asked), "digest": digest(asked), "first": asked[:1]}
    if name == "egress.jsonl":
        return {"requests": len(rows)}
    return kept_rows([row if isinstance(row, dict) else {"": row} for row in rows], plain,
                     whole=whole)  # fmt: skip


def _prompts(path: Path) -> dict[str, str] | None:
    if not path.is_file():
        return None
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        name: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for name, text in _messages(rows).items()
    }


def _messages(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The text of each prompt by its hash; what several share stands once, before them."""
    shared = {row["prefix"]: row["messages"] for row in rows if "prompt_sha256" not in row}
    return {
        row["prompt_sha256"]: canonical([*shared.get(row.get("prefix"), []), *row["messages"]])
        for row in rows
        if "prompt_sha256" in row
    }


def _cells(path: Path, plain: Plain, *, whole: bool) -> Any:
    with path.open(newline="", encoding="utf-8") as file:
        kind = csv.excel_tab if path.suffix == ".tsv" else csv.excel
        rows = [[plain.cell(cell) for cell in row] for row in csv.reader(file, kind)]
    if whole or sum(len(cell) for row in rows for cell in row) <= _LONG:
        return [" | ".join(row) for row in rows]
    named = [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]
    return {"head": rows[0], **kept_rows(named, plain)}
