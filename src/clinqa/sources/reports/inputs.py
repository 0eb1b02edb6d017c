"""Inputs as records of a manifest: a name, a hash, a size; no path."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from clinqa.core.manifest import FileRecord
from clinqa.core.pathnames import told_name
from clinqa.core.stage import Progress, silent
from clinqa.sources.reports.folder import format_of, list_folder, text_id

__all__ = ["UNREADABLE", "input_records"]

UNREADABLE = "unreadable"


def input_records(
    inputs: Sequence[Path],
    size: int = 0,
    progress: Progress = silent,
    out: Path | None = None,
) -> list[FileRecord]:
    """Every file by its hash. The .txt files of a folder are one record: a hash over their ids
    and hashes. What cannot be read is named so; the reader makes a reject of it.

    `size` is how many bytes they have, for the progress; `out` in an input folder is passed over.
    """
    records: list[FileRecord] = []
    done, total = 0, max(size, 1)
    for path in inputs:
        for record in _records(path, out):
            records.append(record)
            done += record.bytes
            progress("hashing the input", len(records), fraction=min(1.0, done / total))
    return records


def _records(path: Path, out: Path | None) -> Iterator[FileRecord]:
    if not path.is_dir():
        if format_of(path) == "txt":
            yield _folder_record(path.parent, [path], path.name)
        else:
            yield _record(path)
        return
    found = list_folder(path, out)
    yield from (_record(table) for table in found.tables)
    if found.texts:
        yield _folder_record(path, found.texts, path.name)


def _record(path: Path) -> FileRecord:
    try:
        if path.is_file():  # a pipe would be waited for
            return FileRecord.of(path)
    except OSError:
        pass
    return FileRecord(told_name(path.name), UNREADABLE, 0)


def _folder_record(root: Path, texts: Sequence[Path], name: str) -> FileRecord:
    """The study of a .txt file is its name, so names are hashed too."""
    each = sorted(
        ((text_id(path, root), _record(path)) for path in texts),
        key=lambda pair: (pair[0], pair[1].sha256),
    )
    together = hashlib.sha256()
    for study, record in each:
        together.update(f"{study}\0{record.sha256}\n".encode())
    return FileRecord(
        name, together.hexdigest(), sum(record.bytes for _, record in each), len(each)
    )
